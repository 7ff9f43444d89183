"""Kinds of secrets that are known by their heads, as data: how each begins, and what follows.

A head stands where no word or Base64 goes on, but for those that nothing else has (`anywhere`).
Those that are known by what stands before them are in `secret_words.py`. Prefixes, alphabets and
lengths are facts of the providers, gathered by gitleaks (MIT, config/gitleaks.toml, 2026-07) and
detect-secrets 1.5.0 (Apache-2.0); neither is used as a library, since both look at whole lines of
files and know no partial match, which a stream needs.

Every repetition is bounded, or possessive after a bounded look ahead, so that scrubbing stays
linear. A kind without a bound says what it goes on with, for one that is too long to wait for.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class SecretKind(NamedTuple):
    """`rest` is a pattern after one of the `heads`, or after a match of `context`."""

    name: str
    heads: tuple[str, ...]
    rest: str
    anywhere: bool = False  # nothing else begins so: inside a word, too
    context: str = ""
    words: tuple[str, ...] = ()  # in small letters: only around them the context is looked for
    signs: tuple[str, ...] = ()  # one of which is in each context, if there are any
    on: str = ""  # what an endless one goes on with: characters, as in a class of a pattern
    end: str = ""  # a pattern that ends it all the same
    after: str = r"(?![A-Za-z0-9_+/-])"  # a key that goes on is none
    distinct: bool = False  # what Base64 has not, or too seldom: only a letter or digit goes on

    def end_behind(self, head: str) -> str:
        """What must not follow: behind a head of letters alone also what goes on in Base64."""
        free = self.distinct or not head.isalnum()
        return r"(?![A-Za-z0-9])" if self.after and free else self.after


_WORD: Final = r"[A-Za-z0-9_-]"
_DIGIT_AHEAD: Final = r"(?=[A-Za-z_-]{0,80}[0-9])"  # a run without any is a name with hyphens
_NO_WORDS: Final = r"(?!(?:[a-z]{2,20}[0-9]{0,2}[_-]){1,12}[a-z]{2,20}[0-9]{0,2}(?![A-Za-z0-9_-]))"
_BASE64: Final = r"[A-Za-z0-9+/]"
_BREAK: Final = r"(?:\s|\\+[nrt])"  # a line's end, escaped ones too
_KEY_END: Final = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_HALF_END: Final = r"(?:-{1,5}|-----EN?|-----END(?: [A-Z0-9 ]{0,60}-{0,4})?)\Z"
_BLOCK: Final = r"(?:[A-Za-z0-9+/=\s]|\\+[nrt])"
# its end, half of it where the text ends, or what cannot go on; half an escape can
_BLOCK_END: Final = rf"(?:{_KEY_END}|{_HALF_END}|(?![A-Za-z0-9+/=\s\\])|(?=\\+[^nrt\\])|\Z)"
# What stands between the lines of a key that is quoted: in a program, a diff, a numbered listing.
_JOINT: Final = (
    r"(?:\\+(?:[nrt]|u[0-9a-fA-F]{4})|<br ?/?>|&#1[03];|%0[AaDd]|\d{1,6}(?=[^A-Za-z0-9+/=])"
    r"|[bBrRuUfF](?=\\{0,15}[\"'])|-(?!-)|[^A-Za-z0-9=-]){0,60}+"
)
_LINE: Final = r"[A-Za-z0-9+/]{20,}+={0,2}+"
_SHORT: Final = r"[A-Za-z0-9+/]{1,76}+={0,2}+"

HEADED: Final = (
    # models
    SecretKind(
        "anthropic",
        ("sk-ant-api", "sk-ant-admin", "sk-ant-oat", "sk-ant-ort", "sk-ant-sid"),
        rf"\d\d-{_WORD}{{16,200}}",
        anywhere=True,
    ),
    SecretKind("anthropic", ("sk-ant-",), rf"{_WORD}{{16,200}}"),
    SecretKind("openrouter", ("sk-or-v1-",), r"[0-9a-f]{40,120}", anywhere=True),
    SecretKind("openrouter", ("sk-or-",), rf"{_WORD}{{16,120}}"),
    SecretKind("langfuse", ("sk-lf-", "pk-lf-"), r"[A-Za-z0-9-]{16,60}"),
    SecretKind(  # the mark in the middle is that of every new key
        "openai",
        ("sk-proj-", "sk-svcacct-", "sk-admin-"),
        # not lazily: `regex` calls that open until the text ends, whatever comes between
        rf"(?:(?!T3BlbkFJ){_WORD}){{16,120}}+T3BlbkFJ{_WORD}{{16,120}}",
        anywhere=True,
    ),
    SecretKind("openai", ("sk-",), rf"{_NO_WORDS}{_DIGIT_AHEAD}{_WORD}{{16,220}}"),
    SecretKind("openai-session", ("sess-",), r"[A-Za-z0-9]{32,60}"),
    SecretKind("google-api-key", ("AIza",), r"[A-Za-z0-9_-]{35}", anywhere=True, distinct=True),
    SecretKind("google-api-key", ("AQ.Ab",), r"[A-Za-z0-9_-]{40,80}"),
    SecretKind("google-oauth", ("ya29.",), r"[A-Za-z0-9._-]{20,2048}"),
    SecretKind("google-client-secret", ("GOCSPX-",), r"[A-Za-z0-9_-]{20,40}", anywhere=True),
    SecretKind("google-refresh", ("1//0",), r"[A-Za-z0-9_-]{30,200}"),
    SecretKind("groq", ("gsk_",), r"[A-Za-z0-9]{16,120}", anywhere=True),
    SecretKind("xai", ("xai-",), rf"{_DIGIT_AHEAD}[A-Za-z0-9_]{{16,120}}"),
    SecretKind("hugging-face", ("hf_", "api_org_"), r"[A-Za-z0-9]{16,120}"),
    SecretKind("replicate", ("r8_",), r"[A-Za-z0-9]{16,60}"),
    SecretKind("nvidia", ("nvapi-", "nvapi_"), rf"{_WORD}{{16,120}}"),
    SecretKind("perplexity", ("pplx-", "pplx_"), r"[A-Za-z0-9]{16,120}", anywhere=True),
    SecretKind("fireworks", ("fw_", "fw-"), rf"{_DIGIT_AHEAD}[A-Za-z0-9]{{16,60}}"),
    SecretKind(
        "langsmith",
        ("lsv2_pt_", "lsv2_sk_", "ls__"),
        r"[A-Za-z0-9_]{20,100}",
    ),
    SecretKind("tavily", ("tvly-",), rf"{_WORD}{{20,80}}", anywhere=True),
    SecretKind("pinecone", ("pcsk_",), r"[A-Za-z0-9_]{20,120}", anywhere=True),
    SecretKind("cerebras", ("csk-",), r"[A-Za-z0-9]{20,80}"),
    SecretKind("together", ("tgp_v1_",), rf"{_WORD}{{20,80}}", anywhere=True),
    SecretKind("jina", ("jina_",), rf"{_WORD}{{20,100}}"),
    SecretKind("voyage", ("pa-",), rf"{_DIGIT_AHEAD}{_WORD}{{40,60}}"),
    SecretKind("bedrock-api-key", ("ABSK", "bedrock-api-key-"), r"[A-Za-z0-9+/]{60,300}={0,2}"),
    # clouds
    SecretKind(
        "aws-access-key",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        r"[A-Z0-9]{16}",
        anywhere=True,
        distinct=True,
    ),
    SecretKind("alibaba", ("LTAI",), r"[A-Za-z0-9]{12,24}"),
    SecretKind("tencent", ("AKID",), r"[A-Za-z0-9]{32}"),
    SecretKind("digitalocean", ("dop_v1_", "doo_v1_", "dor_v1_"), r"[a-f0-9]{64}", anywhere=True),
    SecretKind("databricks", ("dapi",), r"[a-f0-9]{32}(?:-\d)?", distinct=True),
    SecretKind("heroku", ("HRKU-",), r"[A-Za-z0-9_-]{36,70}"),
    SecretKind("fly", ("fo1_", "fm1a_", "fm1r_", "fm2_"), r"[A-Za-z0-9+/_-]{40,4000}={0,3}"),
    SecretKind("cloudflare-origin", ("v1.0-",), r"[a-f0-9]{24}-[a-f0-9]{146}"),
    SecretKind("terraform", ("atlasv1.",), r"[A-Za-z0-9_=-]{50,80}"),
    SecretKind("vault", ("hvs.", "hvb.", "hvr."), r"[A-Za-z0-9_-]{24,300}"),
    SecretKind(
        "doppler",
        ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa."),
        r"[A-Za-z0-9.]{20,80}",
    ),
    SecretKind(
        "planetscale",
        ("pscale_tkn_", "pscale_oauth_", "pscale_pw_"),
        r"[\w=.-]{32,64}",
        anywhere=True,
    ),
    SecretKind("pulumi", ("pul-",), r"[a-f0-9]{40}"),
    SecretKind("scalingo", ("tk-us-",), r"[\w-]{48}"),
    SecretKind("openshift", ("sha256~",), r"[\w-]{43}"),
    SecretKind("1password", ("ops_eyJ",), r"[A-Za-z0-9+/]{100,2000}={0,3}"),
    SecretKind("age", ("AGE-SECRET-KEY-1",), r"[A-Z0-9]{58}", anywhere=True),
    SecretKind("supabase", ("sbp_", "sb_secret_"), r"[A-Za-z0-9_]{20,60}"),
    SecretKind("neon", ("napi_",), r"[a-z0-9]{40,80}"),
    SecretKind("cloudflare", ("cfk_", "cfut_", "cfat_"), r"[A-Za-z0-9]{40,60}"),
    SecretKind("yandex", ("AQVN",), r"[A-Za-z0-9_-]{35,38}"),
    SecretKind("clickhouse", ("4b1d",), r"[A-Za-z0-9]{38}"),
    SecretKind("hubspot", ("pat-na1-", "pat-eu1-", "pat-ap1-"), r"[a-f0-9-]{36}"),
    SecretKind(
        "1password",
        ("A3-",),
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{6}-[A-Z0-9]{5}|[A-Z0-9]{11})(?:-[A-Z0-9]{5}){3}",
    ),
    SecretKind("netlify", ("nfp_", "nfc_", "nfo_"), r"[A-Za-z0-9]{36,40}"),
    SecretKind("harness", ("pat.", "sat."), r"[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    SecretKind("mapbox", ("sk.eyJ", "pk.eyJ"), r"[A-Za-z0-9_-]{40,100}\.[A-Za-z0-9_-]{20,30}"),
    SecretKind("amazon-mws", ("amzn.mws.",), r"[0-9a-f-]{36}"),
    # code
    SecretKind(
        "github", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"[A-Za-z0-9]{16,255}", anywhere=True
    ),
    SecretKind("github-fine-grained", ("github_pat_",), r"[A-Za-z0-9_]{22,120}", anywhere=True),
    SecretKind(
        "gitlab",
        ("glpat-", "gldt-", "glrt-", "glptt-", "glsoat-", "glft-", "glagent-", "gloas-", "glcbt-"),
        r"[A-Za-z0-9_.-]{20,320}",
        anywhere=True,
    ),
    SecretKind(
        "gitlab",
        ("glpat_", "GR1348941", "glffct-", "glimt-"),
        r"[A-Za-z0-9_-]{16,120}",
        anywhere=True,
    ),
    SecretKind(
        "atlassian", ("ATATT3", "ATCTT3"), r"[A-Za-z0-9_=-]{60,220}", anywhere=True, distinct=True
    ),
    SecretKind("bitbucket", ("ATBB",), r"[A-Za-z0-9]{32,40}"),
    SecretKind("npm", ("npm_",), r"[A-Za-z0-9]{36}", anywhere=True),
    SecretKind("pypi", ("pypi-AgEI",), r"[A-Za-z0-9_-]{40,1000}", anywhere=True),
    SecretKind("rubygems", ("rubygems_",), r"[a-f0-9]{48}", anywhere=True),
    SecretKind("clojars", ("CLOJARS_",), r"[a-z0-9]{60}", anywhere=True),
    SecretKind("docker", ("dckr_pat_", "dckr_oat_"), r"[A-Za-z0-9_-]{20,60}", anywhere=True),
    SecretKind("sourcegraph", ("sgp_",), r"(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}"),
    SecretKind("postman", ("PMAK-",), r"[a-f0-9]{24}-[a-f0-9]{34}", anywhere=True),
    SecretKind(
        "circleci", ("CCIPAT_", "CCIPRJ_"), r"[A-Za-z0-9]{20,24}_[a-f0-9]{40}", anywhere=True
    ),
    SecretKind("nuget", ("oy2",), r"[a-z0-9]{43}"),
    SecretKind("artifactory", ("cmVmd",), r"[A-Za-z0-9]{59}"),
    SecretKind("artifactory", ("AKCp",), r"[A-Za-z0-9]{60,80}"),
    SecretKind("sonar", ("squ_", "sqp_", "sqa_"), r"[a-f0-9]{40}"),
    SecretKind("prefect", ("pnu_",), r"[A-Za-z0-9]{36}"),
    SecretKind("readme", ("rdme_",), r"[a-z0-9]{70}"),
    SecretKind("linear", ("lin_api_", "lin_oauth_"), r"[A-Za-z0-9]{32,64}"),
    SecretKind("octopus", ("API-",), r"[A-Z0-9]{26}"),
    # money, mail, talk
    SecretKind(
        "stripe",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_", "whsec_"),
        r"[A-Za-z0-9+/=]{10,100}",
    ),
    SecretKind("square", ("sq0atp-", "sq0csp-", "EAAA"), rf"{_DIGIT_AHEAD}[\w-]{{22,80}}"),
    SecretKind(
        "shopify", ("shpat_", "shpca_", "shppa_", "shpss_"), r"[a-fA-F0-9]{32}", anywhere=True
    ),
    SecretKind("shippo", ("shippo_live_", "shippo_test_"), r"[a-fA-F0-9]{40}", anywhere=True),
    SecretKind("easypost", ("EZAK", "EZTK"), r"[A-Za-z0-9]{54}"),
    SecretKind("duffel", ("duffel_test_", "duffel_live_"), r"[A-Za-z0-9_=-]{43}"),
    SecretKind("flutterwave", ("FLWSECK_TEST-", "FLWSECK-"), r"[A-Za-z0-9]{12,32}(?:-X)?"),
    SecretKind("braintree", ("access_token$production$",), r"[a-z0-9]{16}\$[0-9a-f]{32}"),
    SecretKind("typeform", ("tfp_",), r"[A-Za-z0-9_.=-]{40,70}"),
    SecretKind("settlemint", ("sm_aat_", "sm_pat_", "sm_sat_"), r"[A-Za-z0-9]{16}"),
    SecretKind("plaid", ("access-sandbox-", "access-production-"), r"[0-9a-f-]{36}"),
    SecretKind("sendgrid", ("SG.",), r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    SecretKind(
        "sendinblue", ("xkeysib-", "xsmtpsib-"), r"[a-f0-9]{64}-[A-Za-z0-9]{16}", anywhere=True
    ),
    SecretKind("mailgun", ("key-",), r"[a-f0-9]{32}"),
    SecretKind("twilio", ("SK",), r"[0-9a-fA-F]{32}"),
    SecretKind(
        "slack",
        ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxo-"),
        r"[A-Za-z0-9-]{10,120}",
        anywhere=True,
    ),
    SecretKind("slack-cookie", ("xoxd-",), r"[A-Za-z0-9%/+_-]{20,400}={0,2}"),
    SecretKind(
        "slack-app",
        ("xapp-", "xoxe-", "xoxe.xox"),
        r"[A-Za-z0-9.-]{20,200}",
    ),
    SecretKind("slack-webhook", ("hooks.slack.com/",), r"[a-z]{5,12}/[A-Za-z0-9+/]{30,60}"),
    SecretKind(
        "discord-webhook",
        ("discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
        r"\d{5,25}/[\w-]{30,100}",
    ),
    SecretKind(
        # a number in Base64 (the account's), then a time and a signature
        "discord",
        ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"),
        r"[AEIMQUYcgk][w-z0-5][A-Za-z0-9]{20,24}\.[\w-]{6}\.[\w-]{27,45}",
        distinct=True,
    ),
    SecretKind("telegram", ("bot",), r"\d{8,10}:[\w-]{35}", distinct=True),
    SecretKind("facebook", ("EAAC", "EAAM", "EAAG"), r"[A-Za-z0-9]{60,300}"),
    SecretKind("instagram", ("IGQV",), rf"{_WORD}{{60,300}}"),
    SecretKind("notion", ("ntn_", "secret_"), rf"{_DIGIT_AHEAD}[A-Za-z0-9]{{40,50}}"),
    SecretKind("airtable", ("pat",), r"[A-Za-z0-9]{14}\.[a-f0-9]{64}", distinct=True),
    SecretKind("figma", ("figd_",), r"[A-Za-z0-9_-]{30,60}"),
    SecretKind("dropbox", ("sl.",), r"[A-Za-z0-9_-]{60,1200}"),
    SecretKind("new-relic", ("NRAK-", "NRJS-", "NRII-"), r"[A-Za-z0-9]{19,32}", anywhere=True),
    SecretKind("grafana", ("glsa_",), r"[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}", anywhere=True),
    SecretKind("grafana-cloud", ("glc_", "eyJrIjoi"), r"[A-Za-z0-9+/]{32,400}={0,3}"),
    SecretKind("sentry", ("sntrys_", "sntryu_"), r"[A-Za-z0-9+/=_]{40,400}", anywhere=True),
    SecretKind("dynatrace", ("dt0c01.",), r"[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    SecretKind("adobe", ("p8e-",), r"[A-Za-z0-9]{32}"),
    SecretKind("frame-io", ("fio-u-",), r"[A-Za-z0-9_=-]{64}"),
    SecretKind("intercom", ("ico-",), r"[A-Za-z0-9]{32}"),
    # forms that many use
    SecretKind(
        "jwt",
        ("eyJ",),
        r"[A-Za-z0-9_-]{10,}+\.(?:\.[A-Za-z0-9_-]{4,}+)?+"
        r"[A-Za-z0-9_-]{4,}+(?:\.[A-Za-z0-9_-]{4,}+){1,3}+",
        on="A-Za-z0-9_.-",
        after="",
    ),
    SecretKind(
        "private-key",
        ("-----BEGIN ", "+-----BEGIN ", "------BEGIN "),  # of a diff's lines, too
        rf"[A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----(?:(?:{_JOINT}{_LINE})++(?:"
        # the last line and the end; or all that is here yet; or what Base64 goes on with
        rf"(?:{_JOINT}{_SHORT})?+{_JOINT}-?{_KEY_END}|{_JOINT}(?:{_SHORT}{_JOINT})?+(?:{_HALF_END}|\Z)"
        rf"|{_BLOCK}*+{_BLOCK_END})"
        rf"|{_JOINT}[A-Za-z0-9+/]{{0,19}}+\Z"
        rf"|{_BREAK}{{0,4}}+(?:[A-Z][A-Za-z-]{{2,20}}: [^\n\\\"]{{1,90}}+{_BREAK}{{1,4}}+){{0,4}}+"
        rf"{_BLOCK}++{_BLOCK_END})",
        on=r"A-Za-z0-9+/=\s\\'\"`,;:#|>()\[\]-",
        end=_KEY_END,
        after="",
    ),
    SecretKind(  # a JWT that was packed once more, as Kubernetes does
        "packed-jwt",
        ("ZXlK",),
        r"[A-Za-z0-9+/]{60,}+={0,2}",
        on="A-Za-z0-9+/=",
        after="",
    ),
    SecretKind("putty-key", ("Private-MAC: ",), r"[a-f0-9]{40,64}"),
)
