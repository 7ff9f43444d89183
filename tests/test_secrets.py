"""Secrets as a contract: kinds that are starred out in whatever pieces, look-alikes that stay.

Every secret here is put together as the test runs; no file holds a whole one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import string
import time
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from serving import widened
from streaming import answering, event, events

import playground as pg
from playground.llm.record import record
from playground.recordings.append_only_file import AppendOnlyFile, LinesInMemory
from playground.recordings.environment import environment_secrets
from playground.recordings.recorder import Recorder
from playground.recordings.scrubbing import Searcher, Tally, scrubbed, searcher, star_secrets
from playground.recordings.secret_patterns import HEADED
from playground.recordings.value_scrubbing import scrubbed_value
from playground.recordings.wire_scrubbing import WireScrubber

DICE = random.Random(14)
ALNUM, HEX = string.ascii_letters + string.digits, "0123456789abcdef"
LOWER, UPPER = string.ascii_lowercase + string.digits, string.ascii_uppercase + string.digits


def some(size: int, alphabet: str = ALNUM) -> str:
    """A random run with a digit and a letter in it."""
    body = [DICE.choice(alphabet) for _ in range(size)]
    body[size // 2], body[size // 3] = "7", "b" if "b" in alphabet else "B"
    return "".join(body)


def jwt() -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return ".".join([part({"alg": "HS256"}), part({"sub": some(9)}), some(43)])


def pem(kind: str) -> str:
    body = base64.b64encode(DICE.randbytes(600)).decode()
    lines = "\n".join(body[at : at + 64] for at in range(0, len(body), 64))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}\n-----END {kind}PRIVATE KEY-----"


# name → what is to go, and the text around it
KINDS: dict[str, tuple[str, str]] = {
    name: (head + body, "it is {} here")
    for name, (head, body) in {
        "openai old": ("sk-", some(48)),
        "openai project": ("sk-proj-", some(100)),
        "openai service": ("sk-svcacct-", some(80)),
        "openai admin": ("sk-admin-", some(80)),
        "anthropic": ("sk-ant-api03-", some(93) + "AA"),
        "anthropic admin": ("sk-ant-admin01-", some(93) + "AA"),
        "anthropic oauth": ("sk-ant-oat01-", some(90)),
        "openrouter": ("sk-or-v1-", some(64, HEX)),
        "deepseek": ("sk-", some(32, HEX)),
        "langfuse secret": ("sk-lf-", str(uuid.UUID(int=DICE.getrandbits(128)))),
        "langfuse public": ("pk-lf-", str(uuid.UUID(int=DICE.getrandbits(128)))),
        "google": ("AIza", some(35)),
        "google oauth": ("ya29.", some(120)),
        "google client": ("GOCSPX-", some(28)),
        "groq": ("gsk_", some(52)),
        "xai": ("xai-", some(80)),
        "hugging face": ("hf_", some(34, string.ascii_letters)),
        "hugging face org": ("api_org_", some(34)),
        "replicate": ("r8_", some(37)),
        "nvidia": ("nvapi-", some(64)),
        "perplexity": ("pplx-", some(48)),
        "fireworks": ("fw_", some(22)),
        "langsmith": ("lsv2_pt_", some(32, HEX) + "_" + some(10, HEX)),
        "tavily": ("tvly-", some(32)),
        "pinecone": ("pcsk_", some(60)),
        "cerebras": ("csk-", some(48, LOWER)),
        "together": ("tgp_v1_", some(43)),
        "jina": ("jina_", some(60)),
        "bedrock": ("ABSK", some(128)),
        "aws": ("AKIA", some(16, UPPER)),
        "aws session": ("ASIA", some(16, UPPER)),
        "alibaba": ("LTAI", some(20)),
        "digitalocean": ("dop_v1_", some(64, HEX)),
        "databricks": ("dapi", some(32, HEX)),
        "heroku": ("HRKU-", some(60)),
        "fly": ("fo1_", some(43)),
        "cloudflare": ("v1.0-", some(24, HEX) + "-" + some(146, HEX)),
        "vault": ("hvs.", some(95)),
        "doppler": ("dp.pt.", some(43)),
        "planetscale": ("pscale_tkn_", some(43)),
        "pulumi": ("pul-", some(40, HEX)),
        "openshift": ("sha256~", some(43)),
        "1password": ("ops_eyJ", some(300)),
        "age": ("AGE-SECRET-KEY-1", some(58, UPPER)),
        "supabase": ("sbp_", some(40, HEX)),
        "github": ("ghp_", some(36)),
        "github oauth": ("gho_", some(36)),
        "github user": ("ghu_", some(36)),
        "github server": ("ghs_", some(36)),
        "github refresh": ("ghr_", some(36)),
        "github fine": ("github_pat_", some(22) + "_" + some(59)),
        "gitlab": ("glpat-", some(20)),
        "gitlab deploy": ("gldt-", some(20)),
        "gitlab runner": ("glrt-", some(20)),
        "gitlab trigger": ("glptt-", some(40, HEX)),
        "atlassian": ("ATATT3", some(186)),
        "bitbucket": ("ATBB", some(32)),
        "npm": ("npm_", some(36)),
        "pypi": ("pypi-AgEI", some(160)),
        "rubygems": ("rubygems_", some(48, HEX)),
        "docker": ("dckr_pat_", some(27)),
        "sourcegraph": ("sgp_", some(40, HEX)),
        "postman": ("PMAK-", some(24, HEX) + "-" + some(34, HEX)),
        "artifactory": ("AKCp", some(69)),
        "sonar": ("squ_", some(40, HEX)),
        "linear": ("lin_api_", some(40)),
        "stripe": ("sk_live_", some(24)),
        "stripe test": ("sk_test_", some(24)),
        "stripe restricted": ("rk_live_", some(24)),
        "stripe webhook": ("whsec_", some(32)),
        "square": ("sq0atp-", some(22)),
        "shopify": ("shpat_", some(32, HEX)),
        "easypost": ("EZAK", some(54)),
        "sendgrid": ("SG.", some(22) + "." + some(43)),
        "sendinblue": ("xkeysib-", some(64, HEX) + "-" + some(16)),
        "mailgun": ("key-", some(32, HEX)),
        "twilio": ("SK", some(32, HEX)),
        "slack bot": ("xoxb-", "1234567890-1234567890-" + some(24)),
        "slack user": ("xoxp-", "1234567890-1234567890-" + some(24)),
        "slack app": ("xapp-", "1-A0123-0123456789-" + some(40, HEX)),
        "slack webhook": ("hooks.slack.com/", "services/T0123/B0123/" + some(24)),
        "discord webhook": ("discord.com/api/webhooks/", "1234567890/" + some(68)),
        "telegram": ("bot", "123456789:" + some(35)),
        "notion": ("ntn_", some(46)),
        "airtable": ("pat", some(14) + "." + some(64, HEX)),
        "figma": ("figd_", some(40)),
        "new relic": ("NRAK-", some(27, UPPER)),
        "grafana": ("glsa_", some(32) + "_" + some(8, HEX)),
        "sentry": ("sntryu_", some(64, HEX)),
        "dynatrace": ("dt0c01.", some(24, UPPER) + "." + some(64, UPPER)),
        "jwt": ("", jwt()),
        "rsa key": ("", pem("RSA ")),
        "ec key": ("", pem("EC ")),
        "ssh key": ("", pem("OPENSSH ")),
        "pkcs8 key": ("", pem("")),
    }.items()
}
KINDS |= {
    "env form": ("sk-" + some(40), "OPENAI_API_KEY={}"),
    "env form quoted": ("sk-ant-" + some(40), 'export ANTHROPIC_API_KEY="{}"'),
    "query key": ("AIza" + some(35), "https://host/v1/models?key={}&alt=sse"),
    "query token": (some(30), "https://host/x?access_token={}"),
    "signature": (some(64, HEX), "https://s3/x?X-Amz-Signature={}&y=1"),
    "url password": ("user:" + some(12), "postgres://{}@db.example.com:5432/x"),
    "url token": (some(20), "git clone https://{}@github.com/a/b"),
    "bearer": (some(30), "Authorization: Bearer {}"),
    "basic": (base64.b64encode(b"user:" + some(9).encode()).decode(), "Authorization: Basic {}"),
    "aws secret": (some(40), "aws_secret_access_key = {}"),
    "azure key": (some(32, HEX), '"api-key": "{}"'),
    "azure account": (some(86), "AccountKey={}"),
    "cohere": (some(40), "CO_API_KEY={}"),
    "password": (some(12), '{{"password": "{}"}}'),
    "password yaml": (some(12), "password: {}"),
    "password in escaped JSON": (some(12), '{{\\"password\\": \\"{}\\"}}'),
    "client secret": (some(32), "client_secret={}&grant_type=x"),
    "private token": (some(20), "PRIVATE-TOKEN: {}"),
    "goog header": ("AIza" + some(35), "x-goog-api-key: {}"),
    "behind an escaped line": ("sk-proj-" + some(48), "first\\n{}\\nlast"),
    "header of several values": (some(32), '{{"x-api-key": ["{}"]}}'),
    "the second of several": (some(32), '{{"api_key": ["none",\n  "{}"]}}'),
    "value in an object": (some(32), '{{"api_key": {{"value": "{}"}}}}'),
    "list in a list": (some(32), '{{"passwords": [["{}"], [["none"]]]}}'),
    "default of a parameter": (some(32), '{{"API_KEY": {{"default": "{}"}}}}'),
    "default behind its type": (some(32), '{{"api_key": {{"type": "string", "default": "{}"}}}}'),
    "wide colon": (some(12), "password\uff1a{}"),
    "value beside its name": (some(32), '[{{"name": "x-api-key", "value": "{}"}}]'),
    "attribute of a span": (some(32), '{{"key": "api_key", "value": {{"stringValue": "{}"}}}}'),
    "list in a span": (
        some(32),
        '{{"key": "http.request.header.x-api-key", "value": {{"arrayValue": {{"values": '
        '[{{"stringValue": "{}"}}]}}}}}}',
    ),
    "pair of a header": (some(32), '{{"headers": [["x-api-key", "{}"]]}}'),
    "headers one after the other": (some(32), '["Host", "a", "X-Api-Key", "{}", "Accept", "*"]'),
    "value beside it in escaped JSON": (
        some(12),
        '{{\\"key\\": \\"pwd\\", \\"value\\": \\"{}\\"}}',
    ),
    "flag": (some(32), "tool --api-key {} --verbose"),
    "flag of a provider": (some(32), "--openai-api-key '{}'"),
    "flag in a list": (some(32), '["run", "--token", "{}"]'),
    "token": (some(30), '{{"token": "{}"}}'),
    "cookie": ("session=" + some(32), '{{"cookie": ["{}"]}}'),
    "cookies": ("theme=dark; id=" + some(32), "Cookie: {}"),
    "heroku uuid": (str(uuid.UUID(int=DICE.getrandbits(128))), "HEROKU_API_KEY={}"),
}
KINDS |= {
    name: (head + body, "it is {} here")
    for name, (head, body) in {
        "openai marked": ("sk-proj-", some(60) + "T3Blbk" + "FJ" + some(60)),
        "gemini": ("AQ.Ab", some(48)),
        "slack browser": ("xoxc-", "1234567890-1234567890-" + some(64, HEX)),
        "slack cookie": ("xoxd-", some(40) + "%2B" + some(30) + "%3D"),
        "discord": ("MTIzNDU2Nzg5MDEy" + "MzQ1Njc4", "." + some(6) + "." + some(38)),
        "cloudflare token": ("cfut_", some(48)),
        "1password secret": ("A3-", "-".join(some(size, UPPER) for size in (6, 6, 5, 5, 5, 5))),
        "netlify": ("nfp_", some(36)),
        "circleci": ("CCIPAT_", some(22) + "_" + some(40, HEX)),
        "nuget": ("oy2", some(43, LOWER)),
        "hubspot": ("pat-na1-", str(uuid.UUID(int=DICE.getrandbits(128)))),
        "harness": ("pat.", some(22) + "." + some(24) + "." + some(20)),
        "mapbox": ("sk.eyJ", some(60) + "." + some(22)),
        "typeform": ("tfp_", some(59)),
        "braintree": ("access_token$production$", some(16, LOWER) + "$" + some(32, HEX)),
        "jwt packed": ("", base64.b64encode(jwt().encode()).decode()),
        "azure client": (some(3) + "8Q~", some(34)),
        "telegram alone": ("1234567890:AA", some(33)),
    }.items()
}
# everyday forms: a name, a flag, a tag, a sentence before what may be any text
KINDS |= {
    "prose key": (some(24), "API key: {}"),
    "prose token": (some(24), "The access token is {}, keep it."),
    "prose password": (some(12), "my password is {} since Monday"),
    "prose password for": (some(12), "The password for the new server is {}"),
    "prose ends": ("hunter2" + "hunter2", "My password is {}."),
    "markdown": (some(16), "- **API key:** `{}`"),
    "flag with a sign": (some(12), "tool --password={} --verbose"),
    "flag token with a sign": (some(30), "tool --token={}"),
    "flag of go": (some(16), "tool -password {} run"),
    "mysql": (some(12), "mysql -u root -p{} shop"),
    "sshpass": (some(12), "sshpass -p '{}' ssh me@host"),
    "docker login": (some(24), "docker login -u me -p {} registry.example.com"),
    "redis": (some(16), "redis-cli -h cache -a {} ping"),
    "curl user": (some(14), "curl -sS -u admin:{} https://host.example/x"),
    "curl user quoted": (some(14), 'curl --user "admin:{}" https://host.example/x'),
    "netrc": (some(12), "machine api.example.com login me password {}"),
    "netrc lines": (some(12), "machine api.example.com\n  login me\n  password {}\n"),
    "xml": (some(20), "<apiKey>{}</apiKey>"),
    "xml lines": (some(20), "<db:password type='x'>\n  {}\n</db:password>"),
    "xml token": (some(30), "<token>{}</token>"),
    "parameter": (some(14), "<parameter=password>\n{}\n</parameter>"),
    "parameter named": (some(14), '<parameter name="api_key">{}</parameter>'),
    "argument pairs": (some(14), "<arg_key>password</arg_key>\n<arg_value>{}</arg_value>"),
    "table of HTML": (some(14), "<tr><th>Password</th><td>{}</td></tr>"),
    "nuget password": (some(14), '<add key="ClearTextPassword" value="{}" />'),
    "android": (some(24), '<string name="maps_api_key">{}</string>'),
    "yaml block": (some(20), "password: |\n  {}\nuser: me"),
    "yaml folded": (some(20), "api_key: >-\n    {}\n"),
    "db pass": (some(12), "DB_PASS={}"),
    "env of production": (some(30), "API_KEY_PROD={}"),
    "env key": (some(30), "DATADOG_KEY={}"),
    "env pat": (some(30), "export AZURE_PAT={}"),
    "docker config": (some(28), '"auths": {{"ghcr.io": {{"auth": "{}"}}}}'),
    "npmrc": (some(36), "//registry.example.com/:_authToken={}"),
    "connection string": (some(14), "Server=tcp:x;Database=d;User ID=me;Password={};Encrypt=True"),
    "header token": (some(40, HEX), "Authorization: token {}"),
    "header of a service": (some(30), "X-Figma-Token: {}"),
    "okta": ("00" + some(40), "okta_domain_x = {}"),
    "comma in an env": ('p,a"ss' + "{w0rd}9", "DB_PASSWORD={}"),
    "comma in json": ("p,a'ss" + "{w0rd}9;x", '{{"password": "{}"}}'),
    "quote in json": ('pa\\"ss' + "w0rd9x", '{{"password": "{}", "n": 1}}'),
    "quote in a url": ("me:p,a's" + "{w0rd}9", "postgres://{}@db.example.com/x"),
    "at in a url": ("me:p@ss" + "w0rd9x", "postgres://{}@db.example.com/x"),
    "comma in yaml": ("pa55,a}ss" + "[w0rd9", "password: {}"),
    "late comma in an env": ("x55zwqrt9,ab" + "c{d'e@f", "DB_PASSWORD={}"),
    "late marks in json": ("x55zwqrt9'ab" + ",c{d;e<f", '{{"password": "{}"}}'),
    "late comma in yaml": ("x55zwqrt9,ab" + "c}d(e", "password: {}"),
    "two names": (some(12), "pwd=x password={}"),
}
IN_CODE = (
    'os.environ["DB_PASSWORD"] = "{}"', 'config["api_key"] = "{}"', 'const apiKey: string = "{}"',
    'api_key: str = "{}"', 'api_key: str | None = "{}"', 'api_key = b"{}"', 'password = """{}"""',
    'api_key = SecretStr("{}")', 'os.getenv("API_KEY", "{}")', 'process.env.API_KEY || "{}"',
    'const apiKeys: string[] = ["{}"]', "- name: DB_PASSWORD\n  value: {}",
    '- name: DB_PASSWORD\n  value: "{}"', '{{"Name":"DB_PASSWORD","Value":"{}"}}',
    '{{"value":"{}","key":"password"}}', '{{"api_keys": ["{}", "none"]}}', "passwords:\n  - {}",
    'passwords:\n  - "{}"\n',
)  # fmt: skip
KINDS |= {f"code {form}": (some(14), form) for form in IN_CODE}
# directly behind what no key begins with: a letter, a sign, a colour of the terminal
KINDS |= {
    f"{name} behind {told}": (secret, f"it is {before}{{}} here")
    for told, before in {
        "a letter": "x", "an underscore": "key_", "a sign": "a+b-", "a colour": "\x1b[1;31m",
        "a colour that is escaped": "\\u001b[0m",
    }.items()
    for name, secret in {
        "anthropic": "sk-ant-api03-" + some(93) + "AA",
        "github": "ghp_" + some(36),
        "aws": "AKIA" + some(16, UPPER),
        "slack": "xoxb-1234567890-1234567890-" + some(24),
    }.items()
}  # fmt: skip
KINDS |= {
    "telegram in an address": ("bot123456789:" + some(35), "https://api.telegram.org/{}/sendMessage"),
    "github in an address": ("ghp_" + some(36), "https://h.example/{}/x.git"),
    "aws in a scope": ("AKIA" + some(16, UPPER), "Credential={}/20240101/eu-1/s3/aws4_request"),
    "discord webhook of slack": (
        "discord.com/api/webhooks/1234567890/" + some(68), "POST https://{}/slack"
    ),
    "github in a comment": ("ghp_" + some(36), "<!--{}-->"),
}  # fmt: skip
KINDS |= {
    "any behind a colour": ("sk-" + some(48), "it is \x1b[31m{}\x1b[0m here"),
    "any in a diff": ("sk-" + some(48), "--- a\n+++ b\n-{}\n"),
}
# the kind that is told of each, where that is not its name
TOLD = {
    "openai": "openai old; openai project; openai service; openai admin; deepseek; env "
        "form; behind an escaped line; openai marked; any behind a colour; any in a "
        "diff",
    "anthropic": "anthropic; anthropic admin; anthropic oauth; env form quoted; anthropic "
        "behind a letter; anthropic behind an underscore; anthropic behind a sign; "
        "anthropic behind a colour; anthropic behind a colour that is escaped",
    "langfuse": "langfuse secret; langfuse public",
    "google-api-key": "google; query key; goog header; gemini",
    "google-oauth": "google oauth",
    "google-client-secret": "google client",
    "hugging-face": "hugging face; hugging face org",
    "bedrock-api-key": "bedrock",
    "aws-access-key": "aws; aws session; aws behind a letter; aws behind an underscore; aws behind "
        "a sign; aws behind a colour; aws behind a colour that is escaped; aws in a "
        "scope",
    "cloudflare-origin": "cloudflare",
    "1password": "1password; 1password secret",
    "github": "github; github oauth; github user; github server; github refresh; github "
        "behind a letter; github behind an underscore; github behind a sign; github "
        "behind a colour; github behind a colour that is escaped; github in an "
        "address; github in a comment",
    "github-fine-grained": "github fine",
    "gitlab": "gitlab; gitlab deploy; gitlab runner; gitlab trigger",
    "stripe": "stripe; stripe test; stripe restricted; stripe webhook",
    "slack": "slack bot; slack user; slack browser; slack behind a letter; slack behind an"
        " underscore; slack behind a sign; slack behind a colour; slack behind a "
        "colour that is escaped",
    "slack-app": "slack app",
    "slack-webhook": "slack webhook",
    "discord-webhook": "discord webhook; discord webhook of slack",
    "telegram": "telegram; telegram alone; telegram in an address",
    "new-relic": "new relic",
    "private-key": "rsa key; ec key; ssh key; pkcs8 key",
    "query": "query token; signature",
    "url-password": "url password; quote in a url; at in a url",
    "url-token": "url token",
    "basic-auth": "basic",
    "named": "aws secret; azure key; azure account; cohere; client secret; header of "
        "several values; the second of several; default of a parameter; default "
        "behind its type; value in an object; value beside its name; attribute of a "
        "span; list in a span; heroku uuid; prose key; prose token; markdown; xml; "
        "parameter named; android; yaml folded; env of production; npmrc",
    "header": "private token; header token; header of a service; pair of a header; headers "
        "one after the other",
    "flag": "flag; flag of a provider; flag in a list; flag token with a sign",
    "token": "token; xml token; env key; env pat; docker config",
    "cookie": "cookie; cookies",
    "slack-cookie": "slack cookie",
    "cloudflare": "cloudflare token",
    "packed-jwt": "jwt packed",
    "azure-client-secret": "azure client",
    "netrc": "netrc; netrc lines",
    "password": "password; password yaml; password in escaped JSON; list in a list; wide "
        "colon; value beside it in escaped JSON; prose password; prose password for; "
        "prose ends; flag with a sign; flag of go; mysql; sshpass; docker login; "
        "redis; curl user; curl user quoted; xml lines; parameter; argument pairs; "
        "table of HTML; nuget password; yaml block; db pass; connection string; comma"
        " in an env; comma in json; quote in json; comma in yaml; late comma in an "
        "env; late marks in json; late comma in yaml; two names",
}  # fmt: skip
KIND_OF = {
    f"code {form}": "password" if "pass" in form.lower().partition('key":"')[0] else "named"
    for form in IN_CODE
} | {name: kind for kind, names in TOLD.items() for name in names.split("; ")}
BIG = {"rsa key", "ec key", "ssh key", "pkcs8 key"}  # their lines' ends stay


# twelve characters of heads, which everybody knows
HEADS = {head[at : at + 12] for kind in HEADED for head in kind.heads for at in range(len(head))}


def gone(secret: str, text: str) -> bool:
    """Nothing of a secret is left but of its head: no twelve characters in a row."""
    parts = [secret[at : at + 12] for at in range(max(1, len(secret) - 11))]
    return not any(part in text and part not in HEADS for part in parts)


def harmless() -> list[str]:
    """A thousand and more texts that look like secrets and are none."""
    dice = random.Random(15)
    found: list[str] = []
    for number in range(150):
        data = dice.randbytes(48)
        found += [
            f"commit {hashlib.sha1(data).hexdigest()}",
            f"sha256:{hashlib.sha256(data).hexdigest()}",
            f"md5 {hashlib.md5(data).hexdigest()}  file{number}.bin",
            f"request {uuid.UUID(bytes=data[:16])} took {number} ms",
            f"data:image/png;base64,iVBORw0KGgo{base64.b64encode(dice.randbytes(300)).decode()}",
            json.dumps({"encrypted_content": base64.b64encode(dice.randbytes(200)).decode()}),
            f"integrity: sha512-{base64.b64encode(dice.randbytes(64)).decode()}",
            f"chatcmpl-{''.join(dice.choices(ALNUM, k=29))}",
            f"call_{''.join(dice.choices(ALNUM, k=24))}",
            f"toolu_01{''.join(dice.choices(ALNUM, k=22))}",
            f"msg_01{''.join(dice.choices(ALNUM, k=22))}",
            f"https://example.com/{number}/path-to/page_{number}?page={number}&sort=asc#top",
        ]
    return [
        *found,
        "Bearer authentication is required; Basic knowledge too.",
        "sk-learn-contrib-extra-long-name and task-management-system-for-teams",
        "token count: 4096, max_tokens=4096, prompt_tokens: 12",
        "the password field: please enter one", "secret_santa = lambda: None",
        "import { key } from './keys'; const api_key = process.env.API_KEY",
        "ssh git@github.com:owner/name.git", "mail me@example.com",
        "AKIA is a prefix, ghp_ too, and eyJ begins a JWT", "time 12:30:45.123456789012",
        "https://medium.com/@somebody/an-article-1a2b3c4d5e6f",
        '{"password": {"type": "string", "description": "8 or more, base64url too"}}',
        '{"password": {"type": "string", "default": ""}, "api_key": {"default": "none"}}',
        '{"password": [["string"], []]}', "password\uff1a\u89c1\u9644\u4ef6 2",
        '{"name": "api_key", "description": "value: base64url2"}',
        '{"token": " hello12", "bytes": [1]}',
        '{"key": "city", "value": {"stringValue": "Prague 1a2b3c4d5e6f"}}',
        '["Authorization", "X-Amz-Content-Sha256"]', '["x-api-key", "x-amz-content-sha256"]',
        '["x-api-key", "authorization2"]',
        '{"required": ["api_key", "value1234"], "enum": ["password", "base64url"]}',
        "token = next_token_value_from_v2",
        '{"token": "internationalisation"}',
        "--max-tokens 4096a5b6c7",
        "--password --base64url2 prompts",
        "--token $MY_TOKEN_42 is read",
        "cookie: chocolate=2 eggs=3",
        "document.cookie = makeCookie(name=value1)",
        "--secret santa and --key-file ~/.ssh/id_ed25519",
        '{"name": "city", "value": "Prague 1a2b3c4d5e6f"}',
        "the token: see chapter12-of-the-manual-2nd",
        "s3://bucket/key/with/many/steps/0123456789abcdef0123",
        "token: string", "password: <your password>", "password: <your-password-123>",
        "token = get_token()", "api_key = os.environ['KEY1']", "password = getpass.getpass1()",
        "password: string, user: int = 8", "password: Optional[str] = None  # v2",
        '{"password": "string"}', '{"api_key": "${OPENAI_API_KEY_2}"}', '{"token": "<token1>"}',
        "api_key=process.env.OPENAI_API_KEY1", "password: settings.password2",
        "password: {{ vault_password_1 }}", "DB_PASSWORD=${DB_PASSWORD_2}",
        "DB_PASSWORD=$DB_PASS_2",
        "MAX_TOKEN=4096", "SORT_KEY=created_at_2", "CACHE_KEY=linux-node18-lock", "AUTH=oauth2",
        "curl -u user:password https://host.example", "curl -u $USER:$PASS_1 https://host.example",
        "curl -u me https://host.example:8443/x1y2z3", "curl --unix-socket /run/x1.sock http://h/",
        "mkdir -p build2/release1", "docker run -p 8080:80 image2", "docker login -u me1",
        "mysql -u root1 -p shop", "ssh -p 2222 host1", "git log -p src2/file1.py",
        "cp -a dir1 dir22",
        "machine learning login page password field1", "machine with login and password required",
        "The password is required since version 1.2.3", "my password is wrong, says error 403x",
        "the password is base64url2 encoded", "The API key is sha256-hashed.",
        "Your password is 8characters or longer", "the password is 12-digit",
        "the secret is to use python3 and numpy2 together", "the key is primary_key_1",
        "the token is a JWT", "The access token is valid for 3600s",
        "<th>API key</th><th>Model</th>", "<li>password</li> <li>user name of v2</li>",
        "<password>", "<apiKey></apiKey>", "<token>eos</token>", "<password>string</password>",
        "<parameter=path>\nsrc/file1.py2\n</parameter>",
        "<arg_key>path</arg_key><arg_value>a1b2c3d4</arg_value>",
        "password: |\n  see the manual", "if (password == other.password) return 1;",
        "const password = 'x'.repeat(16)", "task-ant-colony-optimization-2nd-framework",
        "network_test_configuration_2 and task_live_updates_1", "utils__some_long_function_name_2",
        "plugin_api_v2_some_long_name", "MTU 1500", "OData v4.0.1", "NTFS.system.drive",
        "EURASIA is a word, KHAKIA too", "-sk-learn-contrib", "key-value-store-with-1-hash",
        "the time is 12:AA and 1234567890:BB", "a-q~b", "Basic auth: user and password",
        "passport: X1234567 is no password", "compass: north-by-2-degrees",
        "pw_length: 16chars-long",
        "tokens: 12345678abcdefgh", '{"max_tokens": "12345678abc"}', "secretary: room1234b",
        "public_key: ssh-rsa", '{"type": "password", "maxLength": "64characters1"}',
        '{"token_type": "Bearer", "expires_in": 3600}', "keyboard: us-intl-9-layout",
        "PWD=/home/bob2/work3", "pwd: /home/bob2/work3", '{"pwd": "/home/bob2/work3"}',
        "secret: arn:aws:secretsmanager:eu-1:1234:secret:x1", 'password: "op://vault/item2/field"',
        "api_key=YOUR_API_KEY_1", "password: your_password_1", '{"api_key": "YOUR_API_KEY_1"}',
        "x-api-key: YOUR_API_KEY_1", "secret: my-k8s-secret-1", "apiKey: useApiKey1",
        '<div id="sk-container-main2-wrapper-element">', 'config["api_key"] = settings["key1"]',
        'os.getenv("API_KEY_1", "default")', "- name: city\n  value: a1b2c3d4e5f6",
        'api_key: str = Field(default=None, env="KEY1abcdef2")', '{"passwords": ["string"]}',
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db-secret-1",
        '{"value": "a1b2c3d4e5", "key": "city"}', "secrets:\n  - my-k8s-secret-1\n",
        "Authorization: none", "x-request-id: 0123456789abcdef", "x-powered-by: Express4.17.1",
    ]  # fmt: skip


def test_the_corpus_is_large_enough() -> None:
    assert len(KINDS) >= 200
    assert len(set(harmless())) >= 1900


def test_a_secret_is_starred_and_lengths_stay() -> None:
    for name, (secret, around) in KINDS.items():
        text = around.format(secret)
        clean = scrubbed(text)
        assert len(clean) == len(text), name
        assert gone(secret, clean), (name, clean)
        before, _, after = around.replace("{{", "{").replace("}}", "}").partition("{}")
        assert clean.startswith(before), name
        assert clean.endswith(after), name


# heads of letters alone: what goes on in Base64 behind them is no key
WEAK = {"alibaba", "bedrock", "artifactory", "easypost", "twilio", "nuget", "bitbucket"}


@pytest.mark.parametrize("behind", ["/x", '+"', "-x", "-->", "_x"])
def test_what_follows_a_key_does_not_hide_it(behind: str) -> None:
    """In an address, a comment, a scope of a signature: those were written whole."""
    for name, (secret, around) in KINDS.items():
        if around == "it is {} here" and name not in WEAK:
            clean = scrubbed(around.format(secret + behind))
            assert gone(secret, clean), (name, clean)
            assert clean.startswith("it is *")
            assert clean.endswith(" here")


def test_base64_that_begins_as_a_weak_head_goes_on() -> None:
    for text in (f"SK{some(32, HEX)}/{some(9)}", f"oy2{some(43, LOWER)}+{some(9)}=="):
        assert scrubbed(text) == text


def test_a_secret_is_told_by_its_kind() -> None:
    """A key that is told as another's sends its owner to the wrong provider."""
    for name, (secret, around) in KINDS.items():
        tally = Tally()
        star_secrets(around.format(secret), searcher(), tally)
        assert tally.counts == {KIND_OF.get(name, name): 1}


def test_a_value_is_starred_as_its_text_is() -> None:
    """One answer to one question, whether JSON is searched as text or as what it says."""
    for name, (secret, around) in KINDS.items():
        try:
            value = json.loads(around.format(json.dumps(secret)[1:-1]))
        except ValueError:
            value = {"told": around.format(secret)}
        clean = scrubbed_value(value)
        assert gone(secret, json.dumps(clean)), name
        assert scrubbed_value(clean) == clean, name


def test_a_value_keeps_every_entry() -> None:
    """Keys of one length were starred to one."""
    secrets = ["sk-proj-" + some(48) for _ in range(3)]
    clean = scrubbed_value({secret: number for number, secret in enumerate(secrets)})
    assert [*clean.values()] == [0, 1, 2]
    assert all(gone(secret, json.dumps(clean)) for secret in secrets)


def test_a_value_is_searched_at_any_place_of_its_object() -> None:
    key, other = some(32), some(32)
    assert scrubbed_value({"value": key, "name": "x-api-key"})["value"] == "*" * 32
    assert scrubbed_value({"api_key": {"type": "x", "value": key}})["api_key"]["value"] == "*" * 32
    assert scrubbed_value({"api_key": [key, other]}) == {"api_key": ["*" * 32] * 2}
    assert scrubbed_value({"cmd": ["--token", key]}) == {"cmd": ["--token", "*" * 32]}
    harmless = {"name": "city", "value": key}
    assert scrubbed_value(harmless) == harmless


def test_no_dialect_writes_a_password_in_a_form_that_hides_it() -> None:
    """What a model writes is recorded as it is: a call's arguments stand there in some hundred
    forms, of which many were not seen as a name and its value."""
    names = ("password", "api_key")
    tool = {"name": "login", "parameters": {"properties": {name: {} for name in ("user", *names)}}}
    secrets = {"password": some(14), "api_key": some(20)}
    function = {"name": "login", "arguments": json.dumps({"user": "me"} | secrets)}
    call = {"id": "call_1", "type": "function", "function": function}
    asked = {"role": "user", "content": "go on"}
    said = [asked, {"role": "assistant", "content": "", "tool_calls": [call]}, asked]
    prompt = pg.session(messages=said, tools=[tool]).prompt_data()
    for dialect in pg.dialect_names():
        text = json.dumps(pg.get_dialect(dialect).format_messages(prompt))
        clean = scrubbed(text)
        assert all(secret in text for secret in secrets.values()), dialect
        assert not any(secret in clean for secret in secrets.values()), (dialect, clean)


def test_harmless_look_alikes_stay() -> None:
    assert [text for text in harmless() if scrubbed_value({"told": text}) != {"told": text}] == []
    assert [text for text in harmless() if scrubbed(text) != text] == []


def test_harmless_look_alikes_stay_on_the_wire() -> None:
    for text in harmless()[::7]:
        data = json.dumps({"content": text}).encode()
        assert through(data, 5) == data


def through(data: bytes, size: int, search: Searcher | None = None) -> bytes:
    """What comes out of a scrubber that is fed pieces of this size."""
    scrubber = WireScrubber(search or searcher())
    clean = b""
    for at in range(0, len(data), size):
        scrubber.feed(data[at : at + size])
        clean += scrubber.take(scrubber.ready)
    scrubber.finish()
    return clean + scrubber.take(scrubber.ready)


def openai(part: str) -> bytes:
    return event(part)


def anthropic(part: str) -> bytes:
    delta = {"type": "text_delta", "text": part}
    value = {"type": "content_block_delta", "index": 0, "delta": delta}
    return b"event: content_block_delta\ndata: " + json.dumps(value).encode() + b"\n\n"


def arguments(part: str) -> bytes:
    function = {"arguments": json.dumps(part)[1:-1]}
    delta = {"tool_calls": [{"index": 0, "function": function}]}
    value = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def ollama(part: str) -> bytes:
    value = {"model": "m", "message": {"role": "assistant", "content": part}, "done": False}
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def gemini(part: str) -> bytes:
    content = {"role": "model", "parts": [{"text": part}]}
    return b"data: " + json.dumps({"candidates": [{"content": content}]}).encode() + b"\r\n\r\n"


WIRES = {each.__name__: each for each in (openai, anthropic, arguments, ollama, gemini)}


def read_back(data: bytes) -> str:
    reply = pg.decode_stream([data]).reply
    return reply.content + "".join(call.arguments_text for call in reply.tool_calls)


@pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)
@pytest.mark.parametrize(("part", "piece"), [(4, 1_000_000), (1, 9), (9, 64)])
def test_a_key_that_a_stream_delivers_in_pieces(
    wire: Callable[[str], bytes], part: int, piece: int
) -> None:
    for name in list(KINDS)[:: 4 if piece > 100 else 12]:
        secret, around = KINDS[name]
        text = "I say: " + around.format(secret) + " , and that is “all”."
        if wire is not arguments:
            assert text in read_back(b"".join(map(wire, cut(text, part))))
        sent = b"".join(map(wire, cut(text, part)))
        kept = through(sent, piece)
        assert len(kept) == len(sent)
        back = read_back(kept)
        assert gone(secret, back), (name, back)
        assert "I say:" in back


@pytest.mark.parametrize(
    "name", [name for name in KINDS if name.startswith(("late ", "comma ", "slack cookie"))]
)
def test_a_mark_at_the_end_of_a_piece_does_not_end_a_password(name: str) -> None:
    """What followed a comma that came last was another event's, and stayed."""
    secret, around = KINDS[name]
    text = around.format(secret) + " ."
    for at in range(len(text) - len(secret) - 4, len(text)):
        kept = through(openai(text[:at]) + openai(text[at:]), 1_000)
        parts = [secret[start : start + 4] for start in range(len(secret) - 3)]
        assert not any(part in read_back(kept) for part in parts), (at, read_back(kept))


def test_a_private_key_in_the_arguments_of_a_call_character_by_character() -> None:
    """An escaped line's end that was cut looked like the end of the key."""
    secret, _ = KINDS["rsa key"]
    sent = b"".join(map(arguments, cut(f"{secret} here", 1)))
    back = read_back(through(sent, 13))
    assert gone(secret, back)
    assert back.endswith(" here")


QUOTED: dict[str, tuple[str, str]] = {  # before and after each line of a key
    "Python": ('    "', '\\n"\n'),
    "Python's bytes": ("b'", "\\n'\n"),
    "JavaScript": ("  '", "\\n' +\n"),
    "Java": (' + "', '\\r\\n"\n'),
    "PHP": (' . "', '\\n"\n'),
    "C": ('"', '\\n" \\\n'),
    "a list": ('"', '",\n '),
    "a reply in mail": ("> ", "\n"),
    "a comment": ("# ", "\n"),
    "another comment": ("// ", "\n"),
    "a diff's new lines": ("+", "\n"),
    "a diff's old lines": ("-", "\n"),
    "a listing with numbers": ("    17\t", "\n"),
    "a listing with arrows": ("     3→", "\n"),
    "HTML": ("", "<br>"),
    "XML": ("", "&#10;"),
    "an address": ("", "%0A"),
}


@pytest.mark.parametrize("form", QUOTED)
def test_a_private_key_that_is_quoted_line_by_line(form: str) -> None:
    """In a program, a diff or a listing, in JSON and in JSON's texts: it was written whole."""
    before, after = QUOTED[form]
    lines = KINDS["rsa key"][0].split("\n")
    quoted = "".join(f"{before}{line}{after}" for line in lines)
    for _ in range(4):
        clean = scrubbed(f"It is {quoted} and that.")
        assert [line for line in lines[1:-1] if line[2:18] in clean] == [], clean
        assert clean.startswith("It is")
        assert "and that." in clean
        quoted = json.dumps({"a": quoted})
    back = "".join(f"{before}{line}{after}" for line in lines)
    for part, piece in ((3, 1_000), (40, 13)):
        sent = b"".join(map(openai, cut(f"It is {back} and that.", part)))
        kept = read_back(through(sent, piece))
        assert [line for line in lines[1:-1] if line[2:18] in kept] == [], kept
        assert kept.endswith(" and that.")


def test_what_is_said_about_private_keys_stays() -> None:
    for text in (
        "The header is `-----BEGIN PRIVATE KEY-----`, then Base64 and so on.",
        "grep -n '-----BEGIN RSA PRIVATE KEY-----' *.pem; echo $?",
        '"-----BEGIN PRIVATE KEY-----" + "\\n" + body + "-----END PRIVATE KEY-----"',
    ):
        after = text.partition("KEY-----")[2]
        assert scrubbed(text).endswith(after), scrubbed(text)


def test_json_in_texts_of_json_hides_no_secret() -> None:
    own = 'pa"ss\\wörd€-😀-geheim9'
    for ascii_only in (True, False):
        dumped = f"own {own} ."
        values: list[str] = [around.format(secret) for secret, around in KINDS.values()]
        for level in range(5):
            for (name, (secret, _)), value in zip(KINDS.items(), values, strict=True):
                if level < 4 or "escaped" not in name:  # which begins with a level of its own
                    assert gone(secret, scrubbed(value)), (level, scrubbed(value))
            clean = scrubbed(dumped, secrets=[own])
            for _ in range(level):
                clean = json.loads(clean)["a"]
            assert clean == f"own {'*' * (len(clean) - 6)} ."
            dumped = json.dumps({"a": dumped}, ensure_ascii=ascii_only)
            values = [json.dumps({"a": value}, ensure_ascii=ascii_only) for value in values]


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


OWN = 'pä"ss\\wörd/7 x😀'


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("part", [1, 3, 50])
def test_a_value_of_the_environment_in_every_form(ascii_only: bool, part: int) -> None:
    search = searcher((OWN,))
    texts = cut(f"it is {OWN}!", part)
    sent = b"".join(event(text, ascii_only=ascii_only) for text in texts)
    kept = through(sent, 11, search)
    assert len(kept) == len(sent)
    back = read_back(kept)
    assert back.startswith("it is ") and back.endswith("!")
    assert not set("wörd7x😀") & set(back[9:-1])
    for outer in (True, False):
        nested = json.dumps(
            {"a": json.dumps({"b": OWN}, ensure_ascii=ascii_only)}, ensure_ascii=outer
        )
        assert "rd/7" not in scrubbed(nested, secrets=[OWN])


def test_values_that_names_in_the_environment_speak_of() -> None:
    told = {
        "OPENAI_API_KEY": "abc123def456", "MY_TOKEN": "t0kenvalue", "DB_PASS": "hunter2hunter2",
        "DB_PASSWORD": "correct-horse-battery", "APP_SECRET": "zzzz9999", "GITHUB_PAT": "p4tp4tp4t",
        "DATABASE_URL": "postgres://me:pw0rd-of-db@host/x", "AWS_SECRET_ACCESS_KEY": "aws/Secr3t+x",
        "SECRET_KEY_BASE": "base9876543", "MYPASSWORD": "s3cr3tvalue",
    }  # fmt: skip
    silent = {
        "PWD": "/home/me/folder", "SSH_AUTH_SOCK": "/tmp/ssh-x/agent.1", "KEY": "password",
        "MAX_TOKENS": "4096", "TOKEN": "1234567890", "API_KEY": "short", "TOKENIZERS_PARALLELISM":
        "false-or-true", "KEYBOARD": "us-intl-9", "HOME": "/root", "AUTHOR": "some0ne1",
        "SECRET_FILE": "./path/to/file", "PASSWORD": "PASSWORD",
    }  # fmt: skip
    found = environment_secrets({**told, **silent})
    expected = {value for name, value in told.items() if name != "DATABASE_URL"}
    assert set(found) == expected | {"pw0rd-of-db"}
    assert found == sorted(found, key=len, reverse=True)


def test_each_of_several_secrets_in_a_variable_is_one() -> None:
    """A key of a list appears alone, as does the password of a connection string."""
    listed = "k3y-numb3r-0ne,k3y-numb3r-tw0; k3y-numb3r-thr33"
    assert set(environment_secrets({"LLM_KEYS": listed})) == {listed, *re.split("[,; ]+", listed)}
    connection = "Server=tcp:db1.example;Uid=app_us3r;Password=pw0rd=of-db;AccountKey=abc123de=="
    for name in ("CONNECTION_STRING", "SQLCONNSTR_MAIN", "ConnectionStrings__Default"):
        found = environment_secrets({name: connection})
        assert set(found) == {connection, "pw0rd=of-db", "abc123de=="}
    cookie = "session=abc123def456; theme=dark"
    assert set(environment_secrets({"MY_COOKIE": cookie})) == {cookie, "abc123def456"}
    alone = {"API_BEARER": "b3arer-v4lue", "MY_JWT": "eyJ0.eyJx.s1gn", "KEY_64": "c2VjcmV0IQ=="}
    assert set(environment_secrets(alone)) == set(alone.values())
    assert not environment_secrets({"COOKIE_DOMAIN": "app1.example", "JWT_ISSUER": "x1.example"})


def test_base64_that_begins_with_a_slash_is_no_path() -> None:
    found = {
        "A_KEY": "/" + some(12) + "/" + some(20) + "==",
        "B_KEY": "/" + some(40),
        "C_TOKEN": "/" + some(6) + "/" + some(6) + "/",
    }
    silent = {"D_KEY": "/run/secrets/db-key", "E_KEY": __file__, "F_KEY": "~/.ssh/id_ed25519",
              "G_CREDENTIALS": "/etc/gcp/service-account.json"}  # fmt: skip
    assert set(environment_secrets({**found, **silent})) == set(found.values())


def test_the_password_of_an_address_in_both_its_forms() -> None:
    told = {"DATABASE_URL": "postgres://me:p%40ss%2Fw0rd9@host/x", "REPO": "https://t0kent0ken@h/x"}
    assert set(environment_secrets(told)) == {"p%40ss%2Fw0rd9", "p@ss/w0rd9", "t0kent0ken"}


@pytest.mark.parametrize(
    "name",
    ["DB_PW", "DB_PWD", "GPG_PASSPHRASE", "REGISTRY_CREDENTIALS", "NPM_AUTH", "CREDS", "db_pw",
     "PW", "APP_CREDENTIAL", "HTTP_AUTH_2", "SIGNINGPASSPHRASE", "APP_PW_OLD"],
)  # fmt: skip
def test_names_that_speak_of_a_secret(name: str) -> None:
    found = environment_secrets({name: f" {OWN}\n"})  # and what may be a key of a list in it
    assert found[:2] == [f" {OWN}\n", OWN]


def test_folders_of_the_shell_are_no_secrets() -> None:
    assert environment_secrets({"PWD": "/x/" + some(20), "OLDPWD": "/x/" + some(20)}) == []


def test_a_value_under_a_telling_name_goes() -> None:
    value = {"password": "hunter2hunter2", "headers": [{"x-api-key": "0123456789abcdefg"}], "n": 1}
    clean = scrubbed_value(value)
    assert clean == {"password": "*" * 14, "headers": [{"x-api-key": "*" * 17}], "n": 1}


# recordings


def recorder() -> tuple[Recorder, LinesInMemory]:
    lines = LinesInMemory()
    return Recorder(lines, searcher(), name="r", dialect="native", model="m"), lines


def test_what_may_begin_a_secret_waits_for_a_second_and_is_starred_then() -> None:
    each, lines = recorder()
    each.record_bytes(0.0, event("see sk-proj-abC1"))
    each.tick()
    assert "see" in "".join(lines.lines)
    assert "sk-" not in "".join(lines.lines)
    time.sleep(1.05)
    each.tick()
    assert json.loads(lines.lines[-1])["raw"].startswith('************"}')
    each.record_bytes(1.2, event("defGHIJ0123456789"))
    each.record_bytes(1.3, event(" and on"))
    recording = each.end(None, cut=False)
    assert recording.reply.content == "see " + "*" * 29 + " and on"


def test_at_a_cut_the_undecided_tail_is_starred_and_at_an_end_it_is_decided() -> None:
    for cut_off, expected in ((True, "see ************"), (False, "see sk-proj-abC1")):
        each, _ = recorder()
        each.record_bytes(0.0, event("see sk-proj-abC1"))
        assert each.end(None, cut=cut_off).reply.content == expected


def test_sixteen_kilobytes_are_the_most_that_waits() -> None:
    each, lines = recorder()
    for part in cut("-----BEGIN RSA PRIVATE KEY-----\n" + some(8_000), 20):
        each.record_bytes(0.0, event(part))
    written = sum(len(line) for line in lines.lines)
    sent = 400 * len(event("x" * 20))
    assert written > sent - 40_000
    assert "7" * 3 not in "".join(lines.lines)


def test_a_recording_says_how_many_of_which_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", OWN)
    keys = ["sk-proj-" + some(48), "ghp_" + some(36)]
    told = cut(f"{keys[0]} and {keys[1]} and {OWN} and {keys[0]}.", 3)
    path = tmp_path / "r.jsonl"
    with answering(lambda: events(*told)) as server:
        url = server.url.replace("://", f"://user:{some(10)}@")
        ask = [{"role": "user", "content": f"my key is {keys[0]}"}]
        done = record(ask, "openai/m", base_url=url, out=AppendOnlyFile(path))
    text = path.read_text()
    for secret in (*keys, OWN, url.partition("@")[0].rpartition(":")[2]):
        assert secret not in text
        assert secret not in done.recording.reply.content
    chunks = [line["litellm"] for line in done.lines if "litellm" in line]
    said = "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks if c["choices"])
    for both in (said, done.recording.reply.content):
        assert all(gone(secret, both) for secret in (*keys, OWN))
        assert both.count("*") > sum(map(len, keys)) + len(keys[0])
    assert json.loads(text.splitlines()[-1])["starred"] == done.starred
    assert Counter(done.starred).keys() >= {"openai", "github", "environment"}


def test_an_error_says_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    from playground.base.errors import InputFault

    secret = some(14)
    ask = [{"role": "user", "content": "x"}]
    with pytest.raises(InputFault) as caught:
        record(ask, "openai/m", base_url=f"http://user:{secret}@127.0.0.1:9/v1")
    assert secret not in str(caught.value)


# speed


@pytest.mark.parametrize("characters", widened([2_000, 10_000]))
def test_scrubbing_grows_with_the_text(characters: int) -> None:
    """Hostile texts too: heads, words and marks without end."""
    units = ("sk-", "password=", "://a:", "eyJ.", "bearer ", "-----BEGIN ", '"a":"', "\\u00",
             "curl -u a:", "machine a.b login ", "my password is ", "<password>", "x8Q~", "MTAw",
             "mysql -p", "name='token'>", 'PASSWORD=a"b,', "--token ", "_KEY=",
             "sk-ant-api03-", "://", "token=", 'password="', "password", "<apiKey>a1b2c3d4e5",
             'setPassword("a1B2c3d4', '"d":"a","p":"', "pw\t", "password  a ", "true\t/",
             "-----END ", "login: a/", "curl -b a=", ":5432:a:b:", 'password: ["a", "',
             "A" * 64 + "\n")  # fmt: skip
    for unit in units:
        assert any(grows_evenly(unit, characters) for _ in range(3)), unit


def grows_evenly(unit: str, size: int) -> bool:
    """The collector, or whoever else is at work, may make one try of several long."""
    return seconds(unit, 4 * size) < 4 * 2 * seconds(unit, size) + 0.05


def seconds(unit: str, size: int) -> float:
    text = unit * (size // len(unit))
    began = time.process_time()
    scrubbed(text)
    through(text.encode(), 4096)
    return time.process_time() - began
