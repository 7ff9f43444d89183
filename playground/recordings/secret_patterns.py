"""Every pattern of a secret, in one table: its name, its kind in plain words, an example.

A secret is recognised by its head (`sk-`, `ghp_`) or by a word before it (`password: `).
`secret_search.py` searches a text for them; `secret_fragments.py` has the `<pieces>` of patterns.
Heads, alphabets and lengths are facts of the providers, gathered by gitleaks (MIT,
config/gitleaks.toml, 2026-07) and detect-secrets 1.5.0 (Apache-2.0). Every repetition is bounded,
or possessive after a bounded look ahead, so that scrubbing stays linear.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from playground.recordings.secret_fragments import expand

KEY, TOKEN, PASSWORD, PRIVATE = "API key", "access token", "password", "private key"
NAMED, COOKIE, WEBHOOK, HASH = "key or token", "cookie", "webhook address", "password hash"


class SecretPattern(NamedTuple):
    """A row of the table, with the patterns of one form of a secret.

    A secret has one of two forms: one of `heads` and then `value`; or only `value`, after `before`,
    one of `words`, and `lead`. Words are in small letters. A row without heads and words is tried
    after each name of a secret, such as `client_secret`. If the secret begins before the word, a
    group in `before` matches its beginning, and `value` its rest.
    In an example `{a20}` means twenty letters and digits.
    """

    name: str  # in recordings
    kind: str  # in plain words
    value: str
    example: str
    heads: tuple[str, ...] = ()
    anywhere: bool = False  # heads count inside a word too, as nothing else looks like them
    # Base64 hardly ever holds the heads, so the text is a secret unless a letter or digit follows
    distinct: bool = False
    words: tuple[str, ...] = ()
    sign: str = ""  # a character that any text with this secret contains
    before: str = ""
    lead: str = ""
    again: str = ""  # the pattern between one value and the next
    # for a secret of any length: `on` is the class of its further characters, and `end` a pattern
    # that ends the secret although such characters follow
    on: str = ""
    end: str = ""
    after: str = ""  # the pattern of what may come right after the value

    def pattern(self, head: str = "") -> str:
        """Return the pattern of the secret with this head.

        After a head that is `distinct` or has punctuation, only a letter or digit after the value
        shows that it is not a secret.
        """
        free = self.after and head and (self.distinct or not head.isalnum())
        after = expand("<no letter>") if free else self.after
        return f"{re.escape(head)}(?:{self.value}){after}"


def _split_words(words: str) -> tuple[str, ...]:
    """Split words at blanks; a blank within a word is written as `␣`, a tab as `→`."""
    return tuple(word.replace("␣", " ").replace("→", "\t") for word in words.split())


def _head(
    name: str, kind: str, heads: str, value: str, example: str, *, anywhere: bool = False,
    distinct: bool = False, on: str = "", end: str = "", after: str = "<no more>",
) -> SecretPattern:  # fmt: skip
    listed, end, after = _split_words(heads), expand(end), expand(after)
    return SecretPattern(
        name, kind, expand(value), example, listed, anywhere, distinct, on=on, end=end, after=after
    )


def _words(
    name: str, kind: str, words: str, lead: str, value: str, example: str, before: str = "", *,
    on: str = "", after: str = "", again: str = "", sign: str = "",
) -> SecretPattern:  # fmt: skip
    listed = _split_words(words)
    value, before, lead, again, on, after = map(expand, (value, before, lead, again, on, after))
    return SecretPattern(
        name, kind, value, example, words=listed, sign=sign, before=before, lead=lead, again=again,
        on=on, after=after,
    )  # fmt: skip


def _names(
    lead: str, value: str, example: str, before: str = "", name: str = "named"
) -> SecretPattern:
    return _words(name, NAMED, "", lead, value, example, before, on="<value>")


# fmt: off
HEADED: Final = (
    _head("anthropic", KEY, "sk-ant-api sk-ant-admin sk-ant-oat sk-ant-ort sk-ant-sid",
          r"\d\d-<w>{16,200}", "sk-ant-api03-{a93}AA", anywhere=True),
    _head("anthropic", KEY, "sk-ant-", "<w>{16,200}", "sk-ant-{a40}"),
    _head("openrouter", KEY, "sk-or-v1-", "<h>{40,120}", "sk-or-v1-{h40}", anywhere=True),
    _head("openrouter", KEY, "sk-or-", "<w>{16,120}", "sk-or-{a40}"),
    _head("langfuse", KEY, "sk-lf- pk-lf-", "[A-Za-z0-9-]{16,60}", "sk-lf-{a40}"),
    _head("openai", KEY, "sk-proj- sk-svcacct- sk-admin-",
          "(?:(?!T3BlbkFJ)<w>){16,120}+T3BlbkFJ<w>{16,120}", "sk-proj-{a60}T3BlbkFJ{a60}",
          anywhere=True),
    _head("openai", KEY, "sk-", "<no words><digit><w>{16,220}", "sk-{a48}"),
    _head("openai-session", TOKEN, "sess-", "<a>{32,60}", "sess-{a40}"),
    _head("google-api-key", KEY, "AIza", "<w>{35}", "AIza{a35}", anywhere=True, distinct=True),
    _head("google-api-key", KEY, "AQ.Ab", "<w>{40,80}", "AQ.Ab{a40}"),
    _head("google-oauth", TOKEN, "ya29.", "[A-Za-z0-9._-]{20,2048}", "ya29.{a40}"),
    _head("google-client-secret", KEY, "GOCSPX-", "<w>{20,40}", "GOCSPX-{a40}", anywhere=True),
    _head("google-refresh", TOKEN, "1//0", "<w>{30,200}", "1//0{a40}"),
    _head("groq", KEY, "gsk_", "<a>{16,120}", "gsk_{a40}", anywhere=True),
    _head("xai", KEY, "xai-", "<digit>[A-Za-z0-9_]{16,120}", "xai-{a40}"),
    _head("hugging-face", TOKEN, "hf_ api_org_", "<a>{16,120}", "hf_{a40}"),
    _head("replicate", KEY, "r8_", "<a>{16,60}", "r8_{a40}"),
    _head("nvidia", KEY, "nvapi- nvapi_", "<w>{16,120}", "nvapi-{a40}"),
    _head("perplexity", KEY, "pplx- pplx_", "<a>{16,120}", "pplx-{a40}", anywhere=True),
    _head("fireworks", KEY, "fw_ fw-", "<digit><a>{16,60}", "fw_{a40}"),
    _head("langsmith", KEY, "lsv2_pt_ lsv2_sk_ ls__", "[A-Za-z0-9_]{20,100}", "lsv2_pt_{a40}"),
    _head("tavily", KEY, "tvly-", "<w>{20,80}", "tvly-{a40}", anywhere=True),
    _head("pinecone", KEY, "pcsk_", "[A-Za-z0-9_]{20,120}", "pcsk_{a40}", anywhere=True),
    _head("cerebras", KEY, "csk-", "<a>{20,80}", "csk-{a40}"),
    _head("together", KEY, "tgp_v1_", "<w>{20,80}", "tgp_v1_{a40}", anywhere=True),
    _head("jina", KEY, "jina_", "<w>{20,100}", "jina_{a40}"),
    _head("voyage", KEY, "pa-", "<digit><w>{40,60}", "pa-{a40}"),
    _head("bedrock-api-key", KEY, "ABSK bedrock-api-key-", "<b>{60,300}={0,2}", "ABSK{b128}"),
    _head("aws-access-key", KEY, "AKIA ASIA ABIA ACCA", "<u>{16}",
          "AKIA{u16}", anywhere=True, distinct=True),
    _head("alibaba", KEY, "LTAI", "<a>{12,24}", "LTAI{a24}"),
    _head("tencent", KEY, "AKID", "<a>{32}", "AKID{a32}"),
    _head("digitalocean", TOKEN, "dop_v1_ doo_v1_ dor_v1_", "<h>{64}",
          "dop_v1_{h64}", anywhere=True),
    _head("databricks", TOKEN, "dapi", r"<h>{32}(?:-\d)?", "dapi{h32}", distinct=True),
    _head("heroku", TOKEN, "HRKU-", "<w>{36,70}", "HRKU-{a40}"),
    _head("fly", TOKEN, "fo1_ fm1a_ fm1r_ fm2_", "[A-Za-z0-9+/_-]{40,4000}={0,3}", "fo1_{a43}"),
    _head("cloudflare-origin", KEY, "v1.0-", "<h>{24}-<h>{146}", "v1.0-{h24}-{h146}"),
    _head("terraform", TOKEN, "atlasv1.", "[A-Za-z0-9_=-]{50,80}", "atlasv1.{a50}"),
    _head("vault", TOKEN, "hvs. hvb. hvr.", "<w>{24,300}", "hvs.{a40}"),
    _head("doppler", TOKEN, "dp.pt. dp.st. dp.ct. dp.sa.", "[A-Za-z0-9.]{20,80}", "dp.pt.{a40}"),
    _head("planetscale", TOKEN, "pscale_tkn_ pscale_oauth_ pscale_pw_", r"[\w=.-]{32,64}",
          "pscale_tkn_{a40}", anywhere=True),
    _head("pulumi", TOKEN, "pul-", "<h>{40}", "pul-{h40}"),
    _head("scalingo", TOKEN, "tk-us-", "<w>{48}", "tk-us-{a48}"),
    _head("openshift", TOKEN, "sha256~", "<w>{43}", "sha256~{a43}"),
    _head("1password", KEY, "ops_eyJ", "<b>{100,2000}={0,3}", "ops_eyJ{b300}"),
    _head("age", PRIVATE, "AGE-SECRET-KEY-1", "<u>{58}", "AGE-SECRET-KEY-1{u58}", anywhere=True),
    _head("supabase", TOKEN, "sbp_ sb_secret_", "[A-Za-z0-9_]{20,60}", "sbp_{a40}"),
    _head("neon", TOKEN, "napi_", "<l>{40,80}", "napi_{l40}"),
    _head("cloudflare", TOKEN, "cfk_ cfut_ cfat_", "<a>{40,60}", "cfk_{a40}"),
    _head("yandex", KEY, "AQVN", "<w>{35,38}", "AQVN{a38}"),
    _head("clickhouse", KEY, "4b1d", "<a>{38}", "4b1d{a38}"),
    _head("hubspot", TOKEN, "pat-na1- pat-eu1- pat-ap1-", "[a-f0-9-]{36}", "pat-na1-{h36}"),
    _head("1password", KEY, "A3-", "<u>{6}-(?:<u>{6}-<u>{5}|<u>{11})(?:-<u>{5}){3}",
          "A3-{u6}-{u6}-{u5}-{u5}-{u5}-{u5}"),
    _head("netlify", TOKEN, "nfp_ nfc_ nfo_", "<a>{36,40}", "nfp_{a40}"),
    _head("harness", TOKEN, "pat. sat.", r"<w>{22}\.<a>{24}\.<a>{20}", "pat.{a22}.{a24}.{a20}"),
    _head("mapbox", TOKEN, "sk.eyJ pk.eyJ", r"<w>{40,100}\.<w>{20,30}", "sk.eyJ{a40}.{a30}"),
    _head("amazon-mws", KEY, "amzn.mws.", "[0-9a-f-]{36}", "amzn.mws.{h36}"),
    _head("github", TOKEN, "ghp_ gho_ ghu_ ghs_ ghr_", "<a>{16,255}", "ghp_{a40}", anywhere=True),
    _head("github-fine-grained", TOKEN, "github_pat_", "[A-Za-z0-9_]{22,120}",
          "github_pat_{a40}", anywhere=True),
    _head("gitlab", TOKEN, "glpat- gldt- glrt- glptt- glsoat- glft- glagent- gloas- glcbt-",
          "[A-Za-z0-9_.-]{20,320}", "glpat-{a40}", anywhere=True),
    _head("gitlab", TOKEN, "glpat_ GR1348941 glffct- glimt-", "<w>{16,120}",
          "glpat_{a40}", anywhere=True),
    _head("atlassian", TOKEN, "ATATT3 ATCTT3", "[A-Za-z0-9_=-]{60,220}",
          "ATATT3{a60}", anywhere=True, distinct=True),
    _head("bitbucket", TOKEN, "ATBB", "<a>{32,40}", "ATBB{a40}"),
    _head("npm", TOKEN, "npm_", "<a>{36}", "npm_{a36}", anywhere=True),
    _head("pypi", TOKEN, "pypi-AgEI", "<w>{40,1000}", "pypi-AgEI{a40}", anywhere=True),
    _head("rubygems", TOKEN, "rubygems_", "<h>{48}", "rubygems_{h48}", anywhere=True),
    _head("clojars", TOKEN, "CLOJARS_", "<l>{60}", "CLOJARS_{l60}", anywhere=True),
    _head("docker", TOKEN, "dckr_pat_ dckr_oat_", "<w>{20,60}", "dckr_pat_{a40}", anywhere=True),
    _head("sourcegraph", TOKEN, "sgp_", "(?:<x>{16}_|local_)?<x>{40}", "sgp_{h40}"),
    _head("postman", KEY, "PMAK-", "<h>{24}-<h>{34}", "PMAK-{h24}-{h34}", anywhere=True),
    _head("circleci", TOKEN, "CCIPAT_ CCIPRJ_", "<a>{20,24}_<h>{40}",
          "CCIPAT_{a24}_{h40}", anywhere=True),
    _head("nuget", KEY, "oy2", "<l>{43}", "oy2{l43}"),
    _head("artifactory", TOKEN, "cmVmd", "<a>{59}", "cmVmd{a59}"),
    _head("artifactory", TOKEN, "AKCp", "<a>{60,80}", "AKCp{a60}"),
    _head("sonar", TOKEN, "squ_ sqp_ sqa_", "<h>{40}", "squ_{h40}"),
    _head("prefect", TOKEN, "pnu_", "<a>{36}", "pnu_{a36}"),
    _head("readme", TOKEN, "rdme_", "<l>{70}", "rdme_{l70}"),
    _head("linear", TOKEN, "lin_api_ lin_oauth_", "<a>{32,64}", "lin_api_{a40}"),
    _head("octopus", KEY, "API-", "<u>{26}", "API-{u26}"),
    _head("stripe", KEY, "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ whsec_",
          "[A-Za-z0-9+/=]{10,100}", "sk_live_{a40}"),
    _head("square", TOKEN, "sq0atp- sq0csp- EAAA", "<digit><w>{22,80}", "sq0atp-{a40}"),
    _head("shopify", TOKEN, "shpat_ shpca_ shppa_ shpss_", "<x>{32}", "shpat_{h32}", anywhere=True),
    _head("shippo", TOKEN, "shippo_live_ shippo_test_", "<x>{40}",
          "shippo_live_{h40}", anywhere=True),
    _head("easypost", TOKEN, "EZAK EZTK", "<a>{54}", "EZAK{a54}"),
    _head("duffel", TOKEN, "duffel_test_ duffel_live_", "[A-Za-z0-9_=-]{43}", "duffel_test_{a43}"),
    _head("flutterwave", KEY, "FLWSECK_TEST- FLWSECK-", "<a>{12,32}(?:-X)?", "FLWSECK-{a32}-X"),
    _head("braintree", TOKEN, "access_token$production$", r"<l>{16}\$<h>{32}",
          "access_token$production${l16}${h32}"),
    _head("typeform", TOKEN, "tfp_", "[A-Za-z0-9_.=-]{40,70}", "tfp_{a40}"),
    _head("settlemint", TOKEN, "sm_aat_ sm_pat_ sm_sat_", "<a>{16}", "sm_aat_{a16}"),
    _head("plaid", TOKEN, "access-sandbox- access-production-", "[0-9a-f-]{36}",
          "access-sandbox-{h36}"),
    _head("sendgrid", KEY, "SG.", r"<w>{16,32}\.<w>{32,64}", "SG.{a32}.{a40}"),
    _head("sendinblue", KEY, "xkeysib- xsmtpsib-", "<h>{64}-<a>{16}",
          "xkeysib-{h64}-{a16}", anywhere=True),
    _head("mailgun", KEY, "key-", "<h>{32}", "key-{h32}"),
    _head("twilio", KEY, "SK", "<x>{32}", "SK{h32}"),
    _head("slack", TOKEN, "xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxo-", "[A-Za-z0-9-]{10,120}",
          "xoxb-{a40}", anywhere=True),
    _head("slack-cookie", COOKIE, "xoxd-", "[A-Za-z0-9%/+_-]{20,400}={0,2}",
          "xoxd-{a40}%2B{a30}%3D"),
    _head("slack-app", TOKEN, "xapp- xoxe- xoxe.xox", "[A-Za-z0-9.-]{20,200}", "xapp-{a40}"),
    _head("slack-webhook", WEBHOOK, "hooks.slack.com/", "[a-z]{5,12}/<b>{30,60}",
          "hooks.slack.com/services/T0123/B0123/{a24}"),
    _head("discord-webhook", WEBHOOK, "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
          r"\d{5,25}/<w>{30,100}", "discord.com/api/webhooks/{d25}/{a40}"),
    _head("discord", TOKEN, "MT Mj Mz ND NT Nj Nz OD OT",
          r"[AEIMQUYcgk][w-z0-5]<a>{20,24}\.<w>{6}\.<w>{27,45}", "MTIz{a20}.{a6}.{a38}",
          distinct=True),
    _head("telegram", TOKEN, "bot", r"\d{8,10}:<w>{35}", "bot{d10}:{a35}", distinct=True),
    _head("facebook", TOKEN, "EAAC EAAM EAAG", "<a>{60,300}", "EAAC{a60}"),
    _head("instagram", TOKEN, "IGQV", "<w>{60,300}", "IGQV{a60}"),
    _head("notion", TOKEN, "ntn_ secret_", "<digit><a>{40,50}", "ntn_{a40}"),
    _head("airtable", TOKEN, "pat", r"<a>{14}\.<h>{64}", "pat{a14}.{h64}", distinct=True),
    _head("figma", TOKEN, "figd_", "<w>{30,60}", "figd_{a40}"),
    _head("dropbox", TOKEN, "sl.", "<w>{60,1200}", "sl.{a60}"),
    _head("new-relic", KEY, "NRAK- NRJS- NRII-", "<a>{19,32}", "NRAK-{a32}", anywhere=True),
    _head("grafana", TOKEN, "glsa_", "<a>{32}_<x>{8}", "glsa_{a32}_{h8}", anywhere=True),
    _head("grafana-cloud", KEY, "glc_ eyJrIjoi", "<b>{32,400}={0,3}", "glc_{b60}"),
    _head("sentry", TOKEN, "sntrys_ sntryu_", "[A-Za-z0-9+/=_]{40,400}",
          "sntrys_{a40}", anywhere=True),
    _head("dynatrace", KEY, "dt0c01.", r"<a>{24}\.<a>{64}", "dt0c01.{a24}.{a64}"),
    _head("adobe", KEY, "p8e-", "<a>{32}", "p8e-{a32}"),
    _head("frame-io", TOKEN, "fio-u-", "[A-Za-z0-9_=-]{64}", "fio-u-{a64}"),
    _head("intercom", TOKEN, "ico-", "<a>{32}", "ico-{a32}"),
    _head("tailscale", KEY, "tskey-auth- tskey-api- tskey-client-", "<a>{6,20}-<a>{20,50}",
          "tskey-auth-{a17}-{a32}"),
    _head("vercel", KEY, "vck_ vcp_ vci_ vca_ vcr_", "<a>{50,60}", "vck_{a56}"),
    _head("firecrawl", KEY, "fc-", "<h>{32}", "fc-{h32}"),
    _head("e2b", KEY, "e2b_ sk_e2b_", "<h>{40}", "e2b_{h40}"),
    _head("wandb", KEY, "wandb_v1_", "[A-Za-z0-9_]{60,100}", "wandb_v1_{a77}"),
    _head("runpod", KEY, "rpa_", "<u>{40,48}", "rpa_{u44}"),
    _head("kaggle", TOKEN, "KGAT_", "<h>{32}", "KGAT_{h32}"),
    _head("posthog", KEY, "phx_ phs_", "<a>{40,60}", "phx_{a43}"),
    _head("resend", KEY, "re_", "<a>{8}_<mixed><a>{20,30}", "re_{a8}_{a24}"),
    _head("elevenlabs", KEY, "sk_", "<h>{48}", "sk_{h48}"),
    _head("cursor", KEY, "key_", "<h>{64}", "key_{h64}"),
    _head("openvpn-key", PRIVATE, "-----BEGIN␣OpenVPN",
          r" Static key V1-----(?:<break>{1,4}<h>{32}){1,20}",
          "-----BEGIN OpenVPN Static key V1-----\n{h32}\n{h32}\n"),
    _head("password-hash", HASH, "$6$ $5$ $y$ $7$ $gy$ $2y$ $2b$ $2a$ $apr1$ $argon2id$",
          r"(?<=:\$\w{1,8}\$)(?:[\w./=,+-]{1,60}\$){0,3}[\w./+-]{22,100}", "bob:$6${a16}${a86}"),
    _head("jwt", TOKEN, "eyJ", r"<w>{10,}+\.(?:\.<w>{4,}+)?+<w>{4,}+(?:\.<w>{4,}+){1,3}+",
          "eyJ{a20}.eyJ{a30}.{a43}",
          on="A-Za-z0-9_.-", after=""),
    _head("private-key", PRIVATE, "-----BEGIN␣ +-----BEGIN␣ ------BEGIN␣",  # also in a diff
          "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:<joint><line>)++(?:"
          # the last line and the end; or all so far; or whatever continues the Base64
          r"(?:<joint><short>)?+<joint>-?<key end>|<joint>(?:<short><joint>)?+(?:<half end>|\Z)"
          r"|<key block>*+<block end>)|<joint><b>{0,19}+\Z"
          r"|<break>{0,4}+(?:[A-Z][A-Za-z-]{2,20}: [^\n\\\"]{1,90}+<break>{1,4}+){0,4}+"
          r"<key block>++<block end>)",
          "-----BEGIN RSA PRIVATE KEY-----\n{b64}\n{b40}\n-----END RSA PRIVATE KEY-----",
          on=r"A-Za-z0-9+/=\s\\'\"`,;:#|>()\[\]-", end="<key end>", after=""),
    _head("packed-jwt", TOKEN, "ZXlK", "<b>{60,}+={0,2}", "ZXlK{b90}",
          on="A-Za-z0-9+/=", after=""),
    _head("putty-key", PRIVATE, "Private-MAC:␣", "<h>{40,64}", "Private-MAC: {h40}"),
)
_HEADERS: Final = (
    ("key token secret auth", "(?<=(?i:x-(?:[a-z0-9]{1,20}-){0,3}))", "X-Figma-Token"),
    ("token", "(?<=(?i:(?:private|job|deploy)-))", "Private-Token"),
    ("key", "(?<=(?i:(?:api|subscription)-))", "Ocp-Apim-Subscription-Key"),
    ("authorization", "", "Authorization"),
)
WORDED: Final = (
    _words("bearer", TOKEN, "bearer", r"(?:\s|%20){1,4}",
           r"(?=[A-Za-z~+/-]{0,64}[0-9._]\w)[A-Za-z0-9._~+/-]{12,}+={0,2}",
           "Authorization: Bearer {a30}", r"\b", on="A-Za-z0-9._~+/=-", after="<no more>"),
    _words("basic-auth", PASSWORD, "basic", r"\s{1,4}", "(?=[A-Za-z+/]{0,40}[0-9=])<b>{8,}+={0,2}",
           "Authorization: Basic {a24}", r"\b", on="A-Za-z0-9+/=", after="<no more>"),
    _words("url-password", PASSWORD, "://", "",
           r"[^\s/@:\"'<>\\]{0,100}:(?:[^\s/@\"'<>\\]|\\{0,15}[\"'](?=<inner>)"
           r"|@(?=[^\s/@\"'<>\\,;]{1,60}@)){1,200}(?=@)", "postgres://bob:{a12}@db.example.com/x"),
    _words("url-token", TOKEN, "://", "", r"(?=[^\s\d/@]{0,100}\d)[^\s/@:\"'<>\\?#]{8,200}(?=@)",
           "git clone https://{a20}@github.com/a/b"),
    _words("query", NAMED, "key= sig= token= auth= code= signature=", "", "<query value>",
           "https://host/x?sig={a30}", r"(?<=[?&](?i:x-(?:amz|goog)-(?:security-)?)?)",
           on="A-Za-z0-9._~%+/=-"),
    _names("=", "<query value>", "https://host/x?access_token={a30}", "(?<=[?&])", name="query"),
    _words("netrc", PASSWORD, "machine",
           r"<space>(?:localhost|[\w-]{1,60}(?:\.[\w-]{1,60}){1,6})<space><login>", "<run>{4,}+",
           "machine api.example.com login me password {a12}", r"\b", on=r"^\s\"'\\"),
    _words("netrc", PASSWORD, "default␣", "<login>", "<run>{4,}+",
           "default login bob password {a14}", r"\b", on=r"^\s\"'\\"),
    # A name and a sign. Environment variables first: only blanks end their values.
    _names("(?<=[A-Z])(?:_[A-Z0-9]{1,10})?=(?!<opens>)",
           "(?=[<value>])<elsewhere><both to line end><to line end>{8,}+",
           "DB_PASSWORD={a14}", "(?<![A-Za-z0-9])"),
    _names("<set quoted>", "<quoted>", '{"client_secret": "{a32}"}'),
    _names("<sign><block>(?!<opens>)", "<joined>", "password: {a14}"),
    _names("<space>(?!<opens>)", "<joined>", "BEGIN_ARG: password\n{a14}", "(?<=BEGIN_ARG: )"),
    _names("<in code>", "<quoted>", 'config["api_key"] = "{a24}"'),
    _names("<quote>,<gap><typed text>", "<quoted>", 'os.getenv("API_KEY", "{a24}")',
           r"(?<=(?:getenv|environ\.get)\(<quote>\w{0,24})"),
    _names("<listed><quote>", "<quoted>", '{"api_keys": ["{a24}", "none"]}'),
    _names("<listed>(?!<opens>)", "<joined>", "passwords:\n  - {a14}"),
    _names("<below><quote>", "<quoted>", '- name: DB_PASSWORD\n  value: "{a14}"', "<beside>"),
    _names("<below>(?!<opens>)", "<joined>", "- name: DB_PASSWORD\n  value: {a14}", "<beside>"),
    _names("<in tag>", "<tagged>", "<apiKey>{a24}</apiKey>", "<tag>"),
    _names("<in attribute>", "<tagged>", '<parameter name="password">{a14}</parameter>',
           "<attribute>"),
    _names("<two tags>", "<tagged>", "<th>Password</th><td>{a14}</td>"),
    _names(r"\s\[[^\[\]\n]{0,40}\]:\s{1,4}", "<joined>", "AWS Secret Access Key [None]: {a40}"),
    _names(r"-data:\s{1,4}", "<b>{40,}+={0,2}", "client-key-data: {b200}=="),
    _names(r"<quote>\s{0,4}\{[^{}]{0,200}?\bdefault\s{0,20}=\s{0,4}<quote>", "<quoted>",
           'variable "db_password" {\n  default = "{a14}"\n}',
           r"(?<=\bvariable\s{1,4}<quote>[\w-]{0,30})"),
    _names("<flag lead>", "<flag value>", "tool --api-key {a32}", "<flag>", name="flag"),
    # A name without a sign: in a sentence, in columns, after a command, in code.
    _names(r"(?:\s(?:for|of|to)\s[^\n.:,]{1,40}?)?<is><marks><opens>?",
           "<technical><elsewhere><called><both spoken>"
           # a word with both cases or a special character, or one at a sentence's end
           r"(?:(?=\w{0,80}[a-z])(?=\w{0,80}[A-Z])|(?=\w{1,80}[!#$%^&*@~])"
           r"|(?=(?:<spoken>){8,99}+(?:[.,!]\s|[.,!]?(?:[\n\"'`*)<]|\\+[nrt\"']|\Z))))"
           "(?:<spoken>){8,}+", "My password is {a14}.", r"\b"),
    _names(r"\s(?:(?:of|as)\s)?<marks><opens>?", "<strange>", "log in with password {a14}",
           r"\b(?!(?i:pass)\b)"),
    _names(r"<quote>?(?:(?:\s?[|\u2502])?(?:[ \t]|\\+t){2,41}|\t|\\+t)(?:[|\u2502][ \t]{1,40})?"
           r"(?![|\u2502 \t])", r"<strange>(?=[ \t]{0,40}(?:[|\u2502\r\n]|\\+[nr]|\Z|<quote>))",
           "SecretAccessKey    {a40}"),
    _names(r"\s[0-9]\s", r"(?=[A-Fa-f]{0,40}[0-9])(?:<x>{10,}+(?![\w-])|\$[0-9]\$[\w./$]{8,}+)",
           "username bob password 7 {h24}"),
    _names(r"\w{0,20}\s{1,4}(?!=)<opens>?", "<flag value>", "ENV DB_PASSWORD {a14}",
           r"(?<=\b(?:(?i:setx|setenv)|set\s-[A-Za-z]{1,4}|ENV|ARG|#\s?define)\s{1,4}\w{0,30})"),
    _names(r"\sset\s[^\n]{1,120}?\s(?:--body|-b|--value)[\s=]{1,3}<opens>?", "<flag value>",
           "gh secret set DEPLOY_KEY --body {a20}", r"(?<=\b(?:gh|keyvault)\s)"),
    _names(r"-(?:string|value|text)[\s=]{1,3}<opens>?", "<flag value>",
           "aws secretsmanager create-secret --secret-string {a14}", "(?<=--)"),
    _names(r"<quote>\s{0,2},\s{0,4}<typed text>", "<in call>", "define('DB_PASSWORD', '{a14}');",
           r"(?<=\b(?i:define|(?:set|put|add|with)\w{0,12}|env)\(\s{0,2}<quote>[\w.-]{0,30})"),
    _names(r"\(\s{0,4}<text>", "<in call>", 'config.setPassword("{a14}")',
           r"(?<=\b(?i:set|with|use)_?\w{0,20}|\.)"),
    # Commands.
    _words("flag", NAMED, "token auth", "<flag lead>", "<flag value>", "tool --token {a32}",
           "<flag>", on="<value>"),
    _words("flag", NAMED, "put-parameter", r"\s[^\n]{0,160}?--value[\s=]{1,3}<opens>?",
           "<shell value>", "aws ssm put-parameter --name /db/pass --value {a14}"),
    _words("password", PASSWORD, "mysql mariadb mongo redis-cli sqlcmd sshpass twine ldap",
           r"\w{0,8}\b<words>\s-[pPaw]\s{0,3}<opens>?", "<shell value>",
           "mysql -u root -p{a12} shop", r"\b", on="<value>", sign="-"),
    _words("password", PASSWORD, "docker␣login podman␣login helm␣login az␣login oc␣login",
           r"<words>\s-[pPaw]\s{0,3}<opens>?", "<shell value>",
           "docker login -u me -p {a24} host.example", r"\b", on="<value>", sign="-"),
    _words("password", PASSWORD, "curl",
           r"\b[^\n]{0,120}?\s(?:-[A-Za-z]{0,6}[uU]|--(?:proxy-)?user)(?:=|\s{0,3})<user>:",
           r"(?!\$)<both><plain>{6,}+", "curl -u admin:{a14} https://host.example", r"\b",
           on="<value>", sign="-"),
    _words("password", PASSWORD, "http␣ https␣", r"[^\n]{0,60}?(?:-a|--auth)[\s=]{1,3}<user>:",
           "<shell value>", "http -a bob:{a14} GET host.example", r"\b", sign="-"),
    _words("password", PASSWORD, "zip␣ 7z␣", r"<words>-[pP]\s{0,3}<opens>?", "<shell value>",
           "zip -P {a14} out.zip file", r"(?<=\b(?i:un)?)", sign="-"),
    _words("password", PASSWORD, "smbclient lftp",
           r"\s<words>-[uU]\s{0,3}<opens>?[\w.\\-]{1,40}[%,]", "<shell value>",
           "smbclient //srv/share -U bob%{a14}", r"\b", sign="-"),
    _words("password", PASSWORD, "sqlplus", r"\s{1,4}(?:-\w{1,8}\s{1,4}){0,3}[\w.$#-]{1,40}/",
           r"<both>[^\s/@\"'\\]{6,}+(?=@|\s|\Z)", "sqlplus scott/{a14}@db.example.com", r"\b"),
    _words("password", PASSWORD, "net␣use", r"\s(?:\w:\s|\*\s)?\\\\\S{1,80}\s",
           "(?!/)<shell value>", r"net use Z: \\srv\share {a14} /user:bob", r"\b"),
    _words("token", TOKEN, "vault␣login", r"\s(?:-\w[\w=-]{0,30}\s){0,3}",
           r"(?:s\.)?(?=[A-Za-z._-]{0,80}[0-9])[\w.-]{20,}+", "vault login s.{a24}", r"\b"),
    _words("cookie", COOKIE, "curl",
           r"\b[^\n]{0,120}?\s(?:-b|--cookie)(?:=|\s{0,3})<opens>?[\w.-]{1,40}=",
           "<session>", "curl -b sid={a32} https://host.example/", r"\b", sign="-"),
    # Other words, in sentences, SQL and programs.
    _words("password", PASSWORD, "credentials creds login log␣in",
           r"(?:\s(?:are|is|with|as)|:)\s{1,3}<marks><opens>?[\w.@-]{1,40}<marks>"
           r"(?:\s?/\s?|:\s?)<marks>", "<strange>", "credentials: admin / {a14}", r"\b"),
    _words("password", PASSWORD, "identified",
           r"\s(?:(?i:with)\s\w{1,40}\s)?(?i:by\s(?:password\s)?)<quote>", "<quoted>",
           "CREATE USER bob IDENTIFIED BY '{a14}';", r"\b"),
    _words("password", PASSWORD, "auth",
           r"\s{0,2}(?:=\s{0,2})?\(\s{0,2}<quote>[^\"'\s\\]{1,40}<quote>,\s{0,4}<quote>",
           "<in call>", 'requests.get(url, auth=("bob", "{a14}"))', r"(?<=\b\w{0,20})"),
    # Files.
    _words("password", PASSWORD, "requirepass masterauth", "<space><opens>?",
           "<elsewhere><both><run>{6,}+", "requirepass {a20}", r"\b"),
    _words("named", NAMED, "secret_id", r"<quote>?[ \t]{0,40}[:=]?[ \t]{0,40}<quote>?",
           "<x>{8}-(?:<x>{4}-){3}<x>{12}", "secret_id    {h8}-{h4}-{h4}-{h4}-{h12}"),
    _words("password", PASSWORD, ":5432: :5433: :6432:", r"[\w*.-]{1,60}:[\w*.-]{1,60}:",
           r"(?=[^\s\"'\\0-9]{0,99}[0-9])<run>{6,}+", "db.example.com:5432:shop:bob:{a14}",
           r"(?<=(?<![^\s\"'])[\w*.-]{1,60})"),
    _words("cookie", COOKIE, r"true→/ false→/ true\t/ false\t/",
           r"[^\s\\]{0,80}<tab>(?:TRUE|FALSE)<tab>\d{1,12}<tab>[\w.-]{1,60}<tab>", "<session>",
           ".example.com\tTRUE\t/\tTRUE\t1790000000\tsid\t{a32}"),
    _words("cookie", COOKIE, "cookies", r"<quote>\s{0,4}:\s{0,4}\[<gap><first cookie>", "<session>",
           '"cookies": [{"name": "sid", "value": "{a32}", "path": "/"}]',
           again=r"[^{}\[\]]{0,400}\}<gap>,<gap><first cookie>"),
    _words("cookie", COOKIE, "cookie", "<set>",  # all of it, if one of its values looks random
           r"(?=[^\n\r\"'\\]{0,400}?=(?=[A-Za-z._~+/%:-]{0,60}[0-9])[A-Za-z0-9._~+/%:-]{16})"
           r"[^\n\r\"'\\]{8,}+", "Cookie: theme=dark; id={a32}",
           "(?<=(?<![A-Za-z])(?i:set-)?)", on=r"^\n\r\"'\\"),
    _words("jwk", PRIVATE, r'"d": "d\":', r"\s{0,4}<quote>",  # of a length that an algorithm has
           "(?:<w>{43}|<w>{64}|<w>{66}|<w>{86}|<w>{88}|<w>{171}|<w>{256}|<w>{342}|<w>{512}"
           r"|<w>{683})(?=<quote>|\Z)", '{"kty": "EC", "crv": "P-256", "d": "{a43}"}',
           again=r"[^\"'\\]{0,700}<quote><gap>,<gap><quote>(?:p|q|dp|dq|qi)<colon>"),
    _words("jwk", PRIVATE, "oct",
           r"<quote><gap>,<gap>(?:<quote>(?:alg|kid|use)<colon>[^\"'\\]{1,60}<quote><gap>,<gap>)"
           "{0,3}<quote>k<colon>", "<w>{16,}+", '{"kty": "oct", "k": "{a43}"}', "(?<=<quote>)"),
    _words("putty-key", PRIVATE, "private-lines:", r" \d{1,3}(?:\s{1,4}|(?:\\+[nr]){1,2})",
           "<base line>(?:<break>{1,4}(?!Private-)<base line>){0,100}+",
           "Private-Lines: 2\n{b64}\n{b40}\n"),
    _words("private-key", PRIVATE, "-----end", "",  # the end of a key without its beginning
           "<base line>(?:<break>{1,4}<base line>){0,100}(?=<break>{1,4}<key end>)",
           "{b64}\n{b20}==\n-----END PRIVATE KEY-----",
           "(?<=(?<!<b>)((?:(?:<b>{64}|<b>{76})<break>{1,4}){1,60}(?:<base line><break>{1,4})?))"),
    # Names of headers, and other names that say little: only a value that looks random counts.
    *(_words("header", NAMED, words, r"<set>(?i:(?:token|bot|api-?key|key)\s{1,4})?",
             r"(?=[^\s\"'\\0-9]{0,199}[0-9])<number><elsewhere>[<value>]{8,}+", f"{name}: {{a32}}",
             before, on="<value>") for words, before, name in _HEADERS),
    # a name and a value side by side in a list, unless the value is a header's name
    *(_words("header", NAMED, words, "<quote><gap>,<gap><quote>",
             "(?!(?i:x-)|[A-Z][a-z]{1,15}-)<random>", f'["{name}", "{{a32}}"]', before,
             on="<value>") for words, before, name in _HEADERS),
    _words("token", TOKEN, "token auth", "<set>", "<random>", '{"token": "{a30}"}',
           "(?<![A-Za-z])", on="A-Za-z0-9_~+/=.-"),
    _words("token", TOKEN, "token", "<is><marks><opens>?", "<random>", "my token is {a30}", r"\b"),
    _words("token", TOKEN, "token", "<in tag>", "<random>", "<token>{a30}</token>", "<tag>"),
    _words("token", TOKEN, "token", "<in attribute>", "<random>",
           '<parameter name="token">{a30}</parameter>', "<attribute>"),
    _words("token", TOKEN, "token", "<two tags>", "<random>", "<th>Token</th><td>{a30}</td>"),
    _words("token", TOKEN, "_key _pat _credential _credentials", "(?<=[A-Z])<set>", "<random>",
           "DATADOG_KEY={a30}", "(?<=[A-Z0-9])", on="A-Za-z0-9_~+/=.-"),
    # a value before its name
    _words("named", NAMED, "value", "<colon>",
           "<elsewhere><both in quotes><in quotes>{8,100}+(?=<name follows>)",
           '{"value": "{a24}", "key": "password"}', "(?<=<quote>(?i:string_?)?)", on="<value>"),
    _words("mailchimp", KEY, "mailchimp", r"[^\n\"]{0,30}?[\"'=: ]{1,4}", r"<h>{32}-us\d{1,2}",
           "MAILCHIMP: {h32}-us12", after="<no more>"),
    _words("okta", KEY, "okta", r"[\w.-]{0,20}<set>", r"00[\w=-]{40}", "okta_x = 00{a40}",
           after="<no more>"),
    # recognised by characters in the middle
    _words("azure-client-secret", KEY, "q~", "", r"[\w~.]{3}\dQ~[\w~.-]{31,34}", "{a3}8Q~{a34}",
           r"(?<=(?<![\w~.-])([\w~.]{3}\d))", after="(?![A-Za-z0-9~])"),
    _words("telegram", TOKEN, ":a", "", r"\d{8,10}:AA[\w-]{33}", "{d10}:AA{a33}",
           r"(?<=(?<![\w:])(\d{8,10}))", after="<no letter>"),
)
# fmt: on
KINDS: Final = {row.name: row.kind for row in (*HEADED, *WORDED)} | {
    "environment": "value of the environment",
    "email": "e-mail address",
    "undecided": "undecided value",
}
# Plurals that are not formed by adding an s.
PLURALS: Final = {
    NAMED: "keys or tokens",
    HASH: "password hashes",
    WEBHOOK: "webhook addresses",
    "value of the environment": "values of the environment",
    "e-mail address": "e-mail addresses",
}
