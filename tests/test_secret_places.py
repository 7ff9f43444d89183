"""Places where secrets stand: each is starred out; a thousand harmless lines stay as they are.

The places are those of everyday files, commands, programs and sentences; what stands for a secret
is put in as the test runs, so that no file holds a whole one.
"""

from __future__ import annotations

import base64
import json
import random
import re
import uuid
from typing import Final

from secret_examples import fill_example

from playground.recordings.scrubbing import Tally, scrubbed, searcher, star_secrets
from playground.recordings.secret_patterns import HEADED, KINDS, WORDED
from playground.recordings.value_scrubbing import scrubbed_value

# fmt: off
PLACES: Final = {
    # blanks in place of a sign
    "aws configure": "AWS Secret Access Key [None]: {a40}",
    "aws configure again": "AWS Secret Access Key [****************Ab1x]: {a40}",
    "aws text": "SecretAccessKey  {a40}",
    "aws table": "|  SecretAccessKey  |  {a40}  |",
    "aws session": "|  SessionToken     |  {b200}  |",
    "vault kv get": "====== Data ======\nKey         Value\n---         -----\npassword    {a14}\n",
    "vault approle": "secret_id               {h8}-{h4}-{h4}-{h4}-{h12}",
    "tabs": "api_key\t\t{a32}",
    "blanks behind a sign": "password:        {a14}",
    "tabs behind a sign": "Password:\t\t\t\t\t\t{a14}",
    "blanks before a sign": "api_key              = {a32}",
    "redis.conf": "requirepass {a20}",
    "kubectl describe": "DB_PASSWORD:                    {a14}",
    # sentences
    "my token": "my token is {a30}",
    "the token": "The token is {h40}, keep it.",
    "with password": "log in as bob with password {a14}",
    "with the password": 'sign in with the password "{a14}" and go on',
    "using the key": "use the API key {a32} for this",
    "user, password": "user bob, password {a14}",
    "credentials": "credentials: admin / {a14}",
    "credentials colon": "The credentials are admin:{a14}",
    "creds": "creds: bob / {a14}",
    "login slash": "Login: bob / {a14}",
    "log in with a pair": "log in with bob / {a14}",
    "sql user": "CREATE USER bob WITH PASSWORD '{a14}';",
    "sql identified": "CREATE USER bob IDENTIFIED BY '{a14}';",
    # shell, Docker
    "setx": "setx API_KEY {a32}",
    "setx quoted": 'setx DB_PASSWORD "{a14}" /M',
    "setenv": "setenv DB_PASSWORD {a14}",
    "fish": "set -gx API_KEY {a32}",
    "fish universal": "set -Ux MY_SECRET '{a20}'",
    "Dockerfile": "ENV DB_PASSWORD {a14}",
    "Dockerfile arg": "ARG DB_PASSWORD {a14}",
    "gh secret": 'gh secret set DEPLOY_KEY --body "{a20}"',
    "gh secret short": "gh secret set DB_PASSWORD -b {a14}",
    "curl joined": "curl -sSu admin:{a14} https://host.example/x",
    "curl behind -k": "curl -kLu admin:{a14} https://host.example/x",
    "curl cookie": "curl -b sid={a32} https://host.example/",
    "curl cookie long": 'curl --cookie "sid={a32}" https://host.example/',
    "curl proxy": "curl --proxy-user bob:{a14} https://host.example/",
    "curl proxy short": "curl -U bob:{a14} https://host.example/",
    "httpie": "http -a bob:{a14} GET https://host.example/",
    "httpie long": "https --auth bob:{a14} host.example/x",
    "ssm": "aws ssm put-parameter --name /db/pass --type SecureString --value {a14}",
    "secretsmanager": "aws secretsmanager create-secret --name db --secret-string {a14}",
    "az keyvault": 'az keyvault secret set --vault-name v --name db --value "{a20}"',
    "sqlplus": "sqlplus scott/{a14}@db.example.com",
    "zip": "zip -P {a14} out.zip file.txt",
    "unzip": "unzip -P {a14} out.zip",
    "7z": "7z a -p{a14} out.7z dir",
    "openssl": "openssl rsa -in k.pem -passin pass:{a14}",
    "smbclient": "smbclient //srv/share -U bob%{a14}",
    "lftp": "lftp -u bob,{a14} sftp://host.example",
    "vault login": "vault login s.{a24}",
    "net use": r"net use Z: \\srv\share {a14} /user:bob",
    # code
    "php define": "define('DB_PASSWORD', '{a14}');",
    "php define blanks": 'define( "API_KEY", "{a32}" );',
    "c define": '#define API_KEY "{a32}"',
    "rust const": 'const API_KEY: &str = "{a32}";',
    "rust static": "static API_KEY: &'static str = \"{a32}\";",
    "setter": 'config.setPassword("{a14}");',
    "builder": '.withPassword("{a14}")',
    "setter of an access key": 'client.set_api_key("{a32}")',
    "property": 'props.setProperty("db.password", "{a14}");',
    "map": 'env.put("API_KEY", "{a32}");',
    "hcl": 'variable "db_password" {\n  type    = string\n  default = "{a14}"\n}',
    "terraform output":
        '"db_password": {\n    "sensitive": true,\n    "type": "string",\n    "value": "{a14}"\n}',
    "ruby": 'ENV["API_KEY"] ||= "{a32}"',
    "shell default": '${API_KEY:-{a32}}',
    "python auth": 'requests.get(url, auth=("bob", "{a14}"))',
    # heads
    "tailscale": "tskey-auth-{a17}-{a32}",
    "vercel": "vck_{a56}",
    "firecrawl": "fc-{h32}",
    "e2b": "e2b_{h40}",
    "wandb": "wandb_v1_{a77}",
    "runpod": "rpa_{u44}",
    "kaggle": "KGAT_{h32}",
    "posthog": "phx_{a43}",
    "resend": "re_{a8}_{a24}",
    "elevenlabs": "sk_{h48}",
    "cursor": "key_{h64}",
    # files
    "pgpass": "db.example.com:5432:shop:bob:{a14}",
    "cookie jar": ".example.com\tTRUE\t/\tTRUE\t1790000000\tsid\t{a32}",
    "cookie jar http": "#HttpOnly_example.com\tFALSE\t/\tTRUE\t0\tsessionid\t{a32}",
    "har cookie": '"cookies": [{"name": "sid", "value": "{a32}", "path": "/"}]',
    "wireguard": "PresharedKey = {b43}=",
    "wpa": 'psk="{a14}"',
    "wpa hex": "psk={h64}",
    "jwk": '{"kty": "RSA", "n": "{a86}", "e": "AQAB", "d": "{a86}"}',
    "jwk ec": '{"kty":"EC","crv":"P-256","d":"{a43}"}',
    "jwk oct": '{"kty":"oct","k":"{a43}"}',
    "putty": "Private-Lines: 2\n{b64}\n{b40}\nPrivate-MAC: {h64}",
    "shadow": "root:$6${a16}${b86}:19000:0:99999:7:::",
    "shadow yescrypt": "bob:$y$j9T${a22}${a43}:19000:0:99999:7:::",
    "htpasswd": "bob:$apr1${a8}${a22}",
    "pem without head": "{b64}\n{b64}\n{b20}==\n-----END PRIVATE KEY-----",
    "kubeconfig": "client-key-data: {b200}==",
    "netrc default": "default login bob password {a14}",
    "openvpn":
        "-----BEGIN OpenVPN Static key V1-----\n{h32}\n{h32}\n-----END OpenVPN Static key V1-----",
    "cisco": "username bob password 7 {h24}",
}
# fmt: on

# Harmless lines: {n} is a number, {w} a word for a secret, {N} a variable's name, {h40} hexadecimal
# digits, {b60} Base64 of as many bytes, {u} a UUID, {one|other} a choice.
PLACEHOLDER: Final = re.compile(r"\{(n|w|N|u|[hb]\d+|[\w .+-]+(?:\|[\w .+-]+)+)\}")
WORDS: Final = ("password", "API key", "token", "secret", "passphrase", "access token", "psk")
OWNERS: Final = ("OPENAI", "DB", "STRIPE", "MY", "SMTP", "JWT", "GITHUB", "PROD2")
NAMES: Final = ("API_KEY", "PASSWORD", "TOKEN", "SECRET", "AUTH_TOKEN")
# fmt: off
HARMLESS: Final = (
    # prose about passwords
    "The {w} must have {n} characters, say the docs of v2.{n}.",
    "Rotate your {w} every {n} days (RFC 60{n}).",
    "Log in with password and {TOTP6|WebAuthn2|OAuth2Login|Passkeys2}, {n} times.",
    "{w} rotation in {us-east-1|eu-central-1|K8sCluster2} failed {n} times",
    "a {w} {Base64Url2|Sha256Digest|HmacSHA256|Argon2id|PBKDF2WithHmacSHA256} hash of {n} bytes",
    "| {w} | {String|Base64Url2|required|SecureString2} | v2.{n} |",
    "Credentials: see chapter {n} / page {n}",
    "login: user{n} / {password|pass|SSO2|Kerberos5}",
    "log in as admin / {operator|Level2Support|readOnly} {n}",
    "{w} expired at 2026-01-{n}T10:00:{n}Z", "The {w} column is VARCHAR{n} in Postgres{n}",
    "usage: {n} token{n}  {n} tokens cached", "Password:    required since v2.{n}, see page{n}",
    "api_key        String    the key of project{n}",
    "secret    my-k8s-secret-{n}    Opaque    3    {n}d",
    "The {w} is stored in {KeyVault2|SecretsManager2|1Password} of team{n}.",
    "With password manager2 or Bitwarden2024{n} you are safe",
    "the secret ingredient{n} is Vanilla{n}",
    "My password is longer than yours by {n} characters", "credentials are user{n}/role{n} pairs",
    "Identified by 'serial number {n}' and by \"model {n}\"", "{w} {h8}... was revoked",
    # code that names a token without one
    "{N} = os.environ['{N}'][:{n}]", 'headers = {"Authorization": f"Bearer {token_{n}}"}',
    "const apiKey: string = process.env.{N} ?? 'none{n}'", "config.set_password(password_{n})",
    'client.get_secret("prod/db-{n}/password")', "define('{N}', getenv('{N}_{n}'));",
    "define('AUTH_KEY_LENGTH', {n});", 'assert check_password("user{n}", password_{n})',
    'props.setProperty("password.min.length", "{n}");', "#define MAX_TOKEN_LENGTH {n}",
    "fn token(&self) -> &'static str { self.token{n} }",
    'variable "db_password_{n}" { type = string }',
    'auth=("admin", password{n})', "setPasswordVisible(showPassword{n});",
    ".password(user.password{n})",
    "self.assertEqual(field.label, 'password{n}')", 'setPassword(req.body.password{n} || "")',
    "const TOKEN_KINDS: &[&str] = &[\"kind{n}\"];", "secret_key_base: <%= ENV['{N}_{n}'] %>",
    'el.querySelector("#password{n}").value', "token_id = tokens[{n}]; key{n} = row['key{n}']",
    'password_field = driver.find_element("id", "password{n}")', "ENV PATH /opt/app{n}/bin:$PATH",
    # documents with placeholders
    "export {N}=<YOUR_TOKEN_{n}>",
    "curl -H 'Authorization: Bearer ${N}' https://api.example.com/v{n}",
    "curl -u $USER:${N} -b $COOKIES_{n} https://host.example", "{N}: ${{ secrets.{N}_{n} }}",
    "ENV {N} ${{N}_{n}}", "ARG {N}_{n}", "setx {N}_{n} %{N}%",
    'gh secret set {N} --body "$(cat key{n}.txt)"',
    "api_key: YOUR_API_KEY_{n}", 'zip -P "${N}" out{n}.zip file{n}.txt',
    "zip -r release-2.{n}.zip dist{n}",
    "sqlplus /nolog @script{n}.sql", "docker run -e {N} -p 80{n}:80 image{n}",
    "vault login -method=oidc role=team{n}", "AWS Secret Access Key [None]: <your secret key {n}>",
    "machine <host{n}> login <user> password <password{n}>",
    "http -a user:$PASSWORD_{n} GET host.example",
    "psk=<your passphrase {n}>", "password: ********{n}", "requirepass <password{n}>",
    # numbers and names that look like secrets
    "commit {h40}", "{h32}  build-2.{n}.tar.gz", "sha256:{h64}", "index {h8}..{h8} 100644",
    "id {u}",
    "run_{h24} of thread_{h24}", "![chart](data:image/png;base64,iVBORw0KGgo{b120})",
    '{"type":"base64","data":"{b150}"}', '"integrity": "sha512-{b64}"', 'etag: W/"{h32}"',
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5{b32} me@host", "cache-key: v{n}-{h32}",
    "model gpt-5.{n}-mini-2026-01-{n} and claude-sonnet-4-202501{n}",
    "secret_id of the role is team{n}",
    "host.example.com:54{n}:path:{n}:line", "127.0.0.1:5432:accepting connections for {n} s",
    "2026-01-{n}\tTRUE\t/data/{n}\tFALSE\t{n}", "re_compiled_expressions{n}, key_value_store_{n}",
    "sk_learn_image_{n}, fc-layer-{n}, e2b_{n}", '{"d": "{h32}", "k": {n}, "kty": "RSA"}',
    "keyboard layout: psk-{n}, desk: {n}b", "-----END CERTIFICATE-----{n}",
    '"kid": "{u}", "use": "sig{n}"',
    '"cookies": [{"name": "theme", "value": "dark{n}", "path": "/"}]', "price $5$ or $6$ for {n}",
)
# fmt: on
LINES: Final = 1_000


def left(values: list[str], text: str) -> list[str]:
    """Return the values of which eight characters in a row are left."""
    return [
        value
        for value in values
        if len(value) >= 8 and any(value[at : at + 8] in text for at in range(len(value) - 7))
    ]


def harmless() -> list[str]:
    """A thousand lines and more of many kinds in which no secret stands."""
    dice = random.Random(34)

    def value(match: re.Match[str]) -> str:
        code = str(match[1])
        match code[0], code[1:]:
            case "n", "":
                return str(dice.randrange(10, 99))
            case "w", "":
                return dice.choice(WORDS)
            case "N", "":
                return f"{dice.choice(OWNERS)}_{dice.choice(NAMES)}"
            case "h", size:
                return dice.randbytes(int(size) // 2).hex()
            case "b", size:
                return base64.b64encode(dice.randbytes(int(size))).decode()
            case "u", "":
                return str(uuid.UUID(bytes=dice.randbytes(16)))
        return dice.choice(code.split("|"))

    return [PLACEHOLDER.sub(value, line) for line in HARMLESS for _ in range(14)]


def test_a_secret_is_starred_at_its_place() -> None:
    """At 75 of 79 at least; today at each of them."""
    assert len(PLACES) >= 79
    open_places = []
    for name, place in PLACES.items():
        text, values = fill_example(place)
        clean = scrubbed(text)
        assert len(clean) == len(text)
        if left(values[1:] if name == "jwk" else values, clean):  # its first one is public
            open_places.append((name, clean))
    assert open_places == []


def test_a_secret_is_starred_at_its_place_inside_json() -> None:
    """A text of a message is JSON's: line ends and quotation marks are escaped."""
    open_places = []
    for name, place in PLACES.items():
        text, values = fill_example(place)
        clean = scrubbed_value({"messages": [{"content": f"It is\n{text}\nand so on."}]})
        content = clean["messages"][0]["content"]
        assert content.startswith("It is\n") and content.endswith("\nand so on.")
        values = values[1:] if name == "jwk" else values
        told = [*left(values, content), *left(values, scrubbed(json.dumps({"content": text})))]
        open_places += [(name, content)] if told else []
    assert open_places == []


def test_harmless_lines_stay() -> None:
    lines = harmless()
    assert len(set(lines)) >= LINES
    assert [(line, scrubbed(line)) for line in lines if scrubbed(line) != line] == []
    pages = ["\n".join(lines[at : at + 50]) for at in range(0, len(lines), 50)]
    assert [page for page in pages if scrubbed_value({"content": page}) != {"content": page}] == []
    for line in lines:
        assert scrubbed(json.dumps({"content": line})) == json.dumps({"content": line})


def test_the_example_of_a_pattern_is_starred_and_told() -> None:
    for row in (*HEADED, *WORDED):
        text, values = fill_example(row.example)
        tally = Tally()
        clean = star_secrets(f"It is\n{text}", searcher(), tally)
        assert left(values, clean) == [], row.name
        assert clean.startswith("It is\n"), row.name
        assert {KINDS[name] for name in tally.counts} <= {row.kind, "password"}, row.name


def test_each_name_has_one_kind() -> None:
    kinds: dict[str, set[str]] = {}
    for row in (*HEADED, *WORDED):
        kinds.setdefault(row.name, set()).add(row.kind)
    assert {name: each for name, each in kinds.items() if len(each) > 1} == {}


def test_members_of_an_object_tell_of_each_other() -> None:
    """A key of JSON Web Keys and a cookie are told by what stands beside them, in any order."""
    text, values = fill_example("{a43} {a43} {a32} {a171}")
    private, other, session, prime = values
    jwk = {"d": private, "x": other, "p": prime, "kty": "OKP", "k": 1}
    assert scrubbed_value(jwk) == jwk | {"d": "*" * 43, "p": "*" * 171}
    symmetric = {"k": private, "kty": "oct"}
    assert scrubbed_value([symmetric]) == [symmetric | {"k": "*" * 43}]
    cookie = {"domain": "a.example", "value": session, "name": "sid", "path": "/"}
    assert scrubbed_value({"cookies": [cookie]}) == {"cookies": [cookie | {"value": "*" * 32}]}
    harmless = {"d": private[:40], "k": other, "value": session, "name": "city"}
    assert scrubbed_value(harmless) == harmless
