"""What an upstream's address holds goes there and nowhere else, nor does a client's key stay."""

from __future__ import annotations

import base64
import gzip
import html
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, quote_plus

import httpx
import pytest
from click.testing import CliRunner
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from proxied import (
    KEY,
    WAIT,
    RawUpstream,
    Seen,
    World,
    a_world,
    look,
    raw_upstream,
    said,
    started,
)
from serving import widened

from playground.base.errors import InputFault
from playground.cli import main
from playground.plugins.proxy.addresses import VARIABLES, upstreams
from playground.plugins.proxy.upstream import Upstream, read_upstream
from playground.plugins.proxy.upstream_client import UpstreamClient
from playground.recordings.scrubbing import scrubbed

WORD = "hunter2024" + "Winter"  # a password
TOKEN = "sk-" + "proj-" + "Ab3" * 16
RANDOM = "f3a9c17e" * 4  # what may be a token, and has the look of none that is known
PAIR = base64.b64encode(f"bob:{WORD}".encode()).decode()


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


USER = "f83kd0Zk2" + "Qx9wT71pL"
SHORT = "h7Kq2z"
ODD = "p@ss/w0rd 2024" + '"é\\'
# Address behind the host, what of it is secret, and how the request begins that goes there.
HELD = {
    "a password": ("bob:" + WORD + "@", "/v1", (WORD, PAIR), "POST /v1/messages?beta=true HTTP"),
    "an encoded one": (
        f"bob:{WORD}%21@",
        "/v1",
        (f"{WORD}%21", f"{WORD}!", base64.b64encode(f"bob:{WORD}!".encode()).decode()),
        "POST /v1/messages?beta=true HTTP",
    ),
    "a key in the query": (
        "",
        f"/v1?key={WORD}",
        (WORD,),
        f"POST /v1/messages?key={WORD}&beta=true HTTP",
    ),
    "a token in the path": (
        "",
        f"/{TOKEN}/v1",
        (TOKEN,),
        f"POST /{TOKEN}/v1/messages?beta=true HTTP",
    ),
    "a token as the name": (
        f"{USER}:x-oauth-basic@",
        "/v1",
        (USER, base64_of(f"{USER}:x-oauth-basic")),
        "POST /v1/messages?beta=true HTTP",
    ),
    "a short password": (
        f"bob:{SHORT}@",
        "/v1",
        (SHORT, base64_of(SHORT), base64_of(f"bob:{SHORT}")),
        "POST /v1/messages?beta=true HTTP",
    ),
    "a random part of the path": (
        "",
        f"/{RANDOM}/v1",
        (RANDOM,),
        f"POST /{RANDOM}/v1/messages?beta=true HTTP",
    ),
}


# Address behind the scheme and behind the host, what the host says, and what of it is secret.
REPEATED = {
    "a token as the name": (f"{USER}:x-oauth-basic@", "", f"no user {USER}", USER),
    "a name alone": ("letmein@", "", "no user letmein", "letmein"),
    "a plain word": ("bob:correct" + "horse@", "", "correct" + "horse is wrong", "horse"),
    "a short one": (f"bob:{SHORT}@", "", f"{SHORT} is wrong", SHORT),
    "digits": ("bob:4711081512@", "", "not 4711081512", "4711081512"),
    "a path": ("bob:%2Fetc%2Fx@", "", "not /etc/x, %2Fetc%2Fx", "etc"),
    "a sign": (f"bob:{quote(ODD, safe='')}@", "", f"{ODD} {quote(ODD, safe='')}", "w0rd"),
    "small letters": (
        f"bob:{quote(ODD, safe='')}@",
        "",
        f"{quote(ODD, safe='').lower().replace('w0rd', 'w0rd')} {quote(ODD)} {quote_plus(ODD)}",
        "w0rd",
    ),
    "HTML": (f"bob:{quote(ODD, safe='')}@", "", html.escape(ODD), "w0rd"),
    "JSON in JSON": (f"bob:{quote(ODD, safe='')}@", "", json.dumps(json.dumps(ODD)), "w0rd"),
    "a pair without =": (
        f"bobby:{WORD}@",
        "",
        base64_of(f"bobby:{WORD}").rstrip("="),
        base64_of(f"bobby:{WORD}")[9:21],
    ),
    "Base64": (f"bob:{WORD}@", "", base64_of(WORD), base64_of(WORD)[:12]),
    "Base64 in it": (f"bob:{WORD}@", "", base64_of(f"xyz{WORD}"), base64_of(WORD)[:12]),
    "a short key": ("", "?sig=" + SHORT, f"sig {SHORT}", SHORT),
    "a word as key": ("", "?key=correct" + "horse", "correct" + "horse", "horse"),
    "no name": ("", "?" + USER, USER, USER),
    "semicolons": ("", "?a=b;key=" + WORD, WORD, WORD),
    "a version's name": ("", "?key_version=" + USER, USER, USER),
    "a short token": ("", "/x/9f8Kd0" + "2Lq1z", "9f8Kd0" + "2Lq1z", "2Lq1z"),
    "dashes": ("", "/9f8K-d02L" + "-q1zA-88sK", "9f8K-d02L" + "-q1zA-88sK", "q1zA"),
    "a key in the path": ("", "/key=plain" + "password", "plain" + "password", "plain" + "pass"),
    "a key behind its name": ("", "/api-key/" + SHORT, SHORT, SHORT),
}


@pytest.mark.parametrize("kind", REPEATED)
def test_what_an_upstream_repeats_of_its_address_is_starred_out(kind: str) -> None:
    user, rest, said, secret = REPEATED[kind]
    found = read_upstream(f"http://{user}h{rest}")
    assert secret in said
    assert secret not in scrubbed(said, secrets=found.secrets)
    assert secret not in found.shown or kind == "a pair without ="


@given(
    st.text(st.characters(max_codepoint=0x2FF, exclude_categories=["C"]), min_size=8, max_size=40)
)
def test_a_secret_that_is_given_is_found_in_every_usual_form(secret: str) -> None:
    forms = [secret, quote(secret), quote(secret, safe=""), quote_plus(secret), html.escape(secret)]
    forms += [re.sub("%..", lambda escape: escape[0].lower(), form) for form in forms[1:4]]
    forms += [json.dumps(secret)[1:-1], json.dumps(json.dumps(secret))[3:-3]]
    for form in forms:
        assert scrubbed(f"{form} and", secrets=[secret]) == "*" * len(form) + " and"
    for before in ("", "x", "xy", "xyz", "Basic bob:"):
        packed = base64_of(before + secret + "!")
        start, stop = -(-len(before) * 8 // 6), len((before + secret).encode()) * 8 // 6
        clean = scrubbed(packed, secrets=[secret])
        assert clean[start:stop] == "*" * (stop - start) and len(clean) == len(packed)


@contextmanager
def listening(answer: bytes = b"") -> Iterator[RawUpstream]:
    """A provider that answers so."""
    upstream = RawUpstream(answer or b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
    threading.Thread(target=upstream.serve, daemon=True).start()
    yield upstream
    upstream.stop()


def address(upstream: RawUpstream, user: str, rest: str) -> str:
    return f"http://{user}{upstream.url.removeprefix('http://')}{rest}"


FIRST = [("a password", "--json"), ("a key in the query", ""), ("a token as the name", "")]


@pytest.mark.parametrize(
    "shape",
    widened([*FIRST, *((held, "") for held in HELD if (held, "") not in FIRST)], at_once=3),
    ids=" ".join,
)
def test_what_an_upstreams_address_holds_goes_there_alone(
    tmp_path: Path, shape: tuple[str, str]
) -> None:
    """Answered, repeated by the provider, and with nobody there to answer."""
    held, option = shape
    user, rest, secrets, sent = HELD[held]
    echo = " ".join(secrets).encode()
    answer = b"HTTP/1.1 404 No\r\ncontent-length: %d\r\n\r\n" % len(echo) + echo
    with listening(answer) as upstream:
        given = ("--upstream", address(upstream, user, rest), *filter(None, [option]))
        with started(tmp_path / "home", *given) as proxy:
            asked = f"{proxy.url}/v1/messages?beta=true"
            body = {"model": "claude-sonnet-4-6", "messages": [{"role": "user", "content": "hi"}]}
            assert httpx.post(asked, json=body).content == echo  # every byte is handed on
            upstream.stop()
            refused = httpx.post(asked, json=body)
            arguments = [Path(f"/proc/{n}/cmdline").read_text() for n in proxy.processes()[1:]]
            time.sleep(0.5)  # what is said of it comes by another process
    assert upstream.got[0].decode().startswith(sent)
    assert (f"authorization: Basic {secrets[-1]}" in upstream.got[0].decode()) == bool(user)
    assert refused.status_code == 502 and "gave no answer" in refused.text
    assert len(arguments) == 1 and "404" in proxy.said and "502" in proxy.said
    for place in (refused.text, str(refused.headers), proxy.said, proxy.kept(), *arguments):
        assert not [secret for secret in secrets if secret in place], place[:500]


def test_a_childs_upstream_holds_its_password_back_too(tmp_path: Path) -> None:
    """It gets the proxy's address in its place."""
    code = (
        "import os, urllib.request as r\n"
        "for name, path in (('ANTHROPIC_BASE_URL', '/v1/messages'),"
        " ('OPENAI_BASE_URL', '/chat/completions'),"
        " ('GOOGLE_GEMINI_BASE_URL', '/v1beta/models/g:generateContent'),"
        " ('AWS_ENDPOINT_URL_BEDROCK_RUNTIME', '/model/m/converse')):\n"
        "    try:\n"
        "        r.urlopen(r.Request(os.environ[name] + path, b'{}'))\n"
        "    except r.HTTPError as error:\n"
        "        print(error.code, error.read().decode())\n"
        "print(dict(os.environ))\n"
    )
    names = [name for name in VARIABLES if f"'{name}'" in code]
    assert len(names) == 4
    with listening() as upstream:
        bases = {name: address(upstream, f"{name}:{WORD}@", "") for name in names}
        upstream.stop()
        done = subprocess.run(
            [sys.executable, "-m", "playground", "proxy", "--port", "0", "--"]
            + [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**os.environ, **bases, "PLAYGROUND_HOME": str(tmp_path)},
            timeout=60,
        )
    assert done.returncode == 0 and done.stdout.count("gave no answer") == 4, done.stderr
    kept = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert "gave no answer" in kept
    for place in (done.stdout, done.stderr, kept):
        assert WORD not in place


@pytest.mark.parametrize("name", VARIABLES)
def test_each_variable_that_names_an_upstream_is_read_alike(name: str) -> None:
    api = VARIABLES[name][0]
    known = upstreams("", {name: f" https://bob:{WORD}@gateway.example/x\n"}, 8788, child=True)
    found, path = known.route(api, "/v1/messages")
    assert found.shown_address(path) == "https://gateway.example/x/v1/messages"
    assert found.authorization == f"Basic {PAIR}"
    assert WORD not in repr(known)
    with pytest.raises(InputFault, match=f"^{name}: .* is no address") as caught:
        upstreams("", {name: f"bob:{WORD}@gateway.example"}, 8788, child=True)
    assert WORD not in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        "http//bob:{}@h/v1",
        "bob:{}@h/v1",
        "ftp://bob:{}@h/v1",
        "http://h/v1?key={}#x",
        "http://bob:{}@127.0.0.1:8788/v1",
        "http://bob:{}#x@h/v1",
        "http://bob:{}@h:99999/v1",
        "http://bob:{}/v1",
        "http://[bob:{}@h/v1",
        "http://bob:12/{}@h/v1",
        "http://bob:12?{}@h/v1",
        "http://h/v1/{} /x",
        "http://bob:{}@h/../v1",
        "{}://h/v1",
    ],
)
def test_a_mistyped_upstream_is_told_without_its_password(given: str) -> None:
    with pytest.raises(InputFault, match="^--upstream: ") as caught:
        read_upstream(given.format(WORD), port=8788)
    assert WORD.lower() not in str(caught.value).lower()


def test_a_mistyped_upstream_is_one_line_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path))
    done = CliRunner().invoke(main, ["proxy", "--upstream", f"http//bob:{WORD}@h/v1"])
    assert done.exit_code == 2 and WORD not in done.output
    assert done.stderr.startswith("playground: --upstream: ") and done.stderr.count("\n") == 1
    assert not list(tmp_path.rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (f"http://bob:{WORD}@h:80/v1/", "http://h:80/v1"),
        ("https://h/openai/deployments/gpt-4o-2024-11-20?api-version=2024-10-21-preview", None),
        (f"https://h/v1/{RANDOM}/gateway", f"https://h/v1/{'*' * 32}/gateway"),
        (f"https://h/{TOKEN}/v1", f"https://h/{'*' * len(TOKEN)}/v1"),
        ("https://h/12345678-1234-1234-1234-123456789abc/v1", f"https://h/{'*' * 36}/v1"),
        ("http://[::1]:8080/api", "http://[::1]:8080/api"),
        ("HTTPS://Gateway.example", "https://Gateway.example"),
    ],
)
def test_an_upstream_is_shown_as_far_as_it_is_no_secret(given: str, shown: str | None) -> None:
    assert read_upstream(given).shown == (shown or given.partition("?")[0])


@pytest.mark.parametrize(
    ("given", "spends"),
    [
        (f"http://bob:{WORD}@h/v1", True),
        (f"http://{WORD}@h/v1", True),
        (f"http://h/v1?key={WORD}", True),
        (f"http://h/{TOKEN}/v1", True),
        ("http://h/v1?api-version=2024-10-21-preview", False),
        (f"http://h/{RANDOM}/v1", True),  # an account, as like as not, and nobody knows
        ("http://h/v1?key=correct" + "horse", True),
        ("http://h/v1?api_key=letmein", True),
        ("http://h/v1?code=12345678", True),
        ("http://h/v1?sig=ab12", True),
        ("http://h/v1?xyz", True),
        ("http://h/v1?key_version=1", True),
        ("http://h/v1?api-version=1&a=2", True),
        (f"http://h/v1?api-version={WORD}%2F1", True),
        ("http://h/v1/key=plain" + "password", True),
        ("http://h/api-key/letmein/v1", True),
        ("http://h/9f8K-d02L" + "-q1zA-88sK/v1", True),
        ("http://h/v1?api-version=preview", False),
        ("http://h/v1?", False),
        ("http://h/openai/deployments/gpt-4o-2024-11-20/mixtral-8x7b-v0.1/us-east-1", False),
    ],
)
@pytest.mark.parametrize("others", [("--public",), ("--public", "--host", "0.0.0.0")])
def test_nobody_else_spends_what_an_upstreams_address_holds(
    given: str, spends: bool, others: tuple[str, ...]
) -> None:
    assert read_upstream(given).spends is spends
    if spends:
        done = CliRunner().invoke(main, ["proxy", "--upstream", given, *others])
        assert done.exit_code == 2
        assert "whoever reaches the proxy would spend" in done.stderr
        assert WORD not in done.stderr and TOKEN not in done.stderr


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with a_world(tmp_path_factory.mktemp("proxy") / "run") as found:
        yield found


@pytest.fixture
def seen(world: World) -> Seen:
    return look(world)


def test_only_a_password_in_the_address_takes_the_place_of_a_clients_key(seen: Seen) -> None:
    headers = {"authorization": f"Bearer {KEY}", "x-api-key": KEY}
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
    with raw_upstream(seen, answer) as upstream:
        seen.ask(json={}, headers=headers)
        seen.world.target = address(upstream, f"bob:{WORD}@", "")
        seen.ask(json={}, headers=headers)
    own, theirs = (got.decode().lower().split("\r\n") for got in upstream.got)
    assert f"authorization: bearer {KEY}".lower() in own
    assert [line for line in theirs if line.startswith("authorization")] == [
        f"authorization: basic {PAIR}".lower()
    ]
    assert f"x-api-key: {KEY}".lower() in theirs


def everything(run: Path) -> str:
    return "\n".join(path.read_text("utf-8", "replace") for path in run.iterdir())


@pytest.mark.parametrize(
    ("path", "agent"),
    [
        ("/v1/messages", f"tool/1 {KEY}"),
        ("/v1/messages", f"x-api-key: {WORD}1"),
        ("/v1/messages", f"tool/1 {'x' * 150} {KEY}"),
        (f"/v1/{KEY}/messages", "tool/1"),
        (f"/v1/{KEY.replace('-', '%2D')}/messages", "tool/1"),
        (f"/v1/{KEY.replace('s', '%2573').replace('-', '%252D')}/messages", "tool/1"),
        (f"/v1/{KEY.replace('s', '%25252573')}/messages", "tool/1"),
        ("/v1/messages", "tool/1 " + "".join(f"%{ord(c):02x}" for c in KEY)),
        (f"/v1/models?key={KEY}", "tool/1"),
        (f"/v1beta/models/{KEY}:generateContent", "tool/1"),
        (f"/model/{KEY}/converse", f"{KEY} tool"),
    ],
)
@pytest.mark.parametrize("body", [b'{"messages": [{"role": "user", "content": "hi"}]}', b"no JSON"])
def test_the_ledger_and_what_is_said_hold_no_key(
    seen: Seen, path: str, agent: str, body: bytes
) -> None:
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
    with raw_upstream(seen, answer) as upstream:
        httpx.post(f"{seen.url}{path}", headers={"user-agent": agent}, content=body)
        (row,) = seen.over(1)
    assert upstream.got[0].startswith(f"POST {path} HTTP/1.1".encode())
    until = time.monotonic() + WAIT
    while f'"exchange": {row["exchange"]}, "status"' not in everything(seen.world.out):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert "tool" in row["agent"] or "*" in row["agent"]
    for place in (everything(seen.world.out), json.dumps(seen.lines)):
        assert KEY[:30] not in place and KEY.replace("-", "%2D") not in place
        assert KEY[20:50] not in place and "%41%62" not in place
        assert f"{WORD}1" not in place


OWN = "corpgw-" + "77ZQx9pLmW2v"  # a key of a form that nobody knows
LONG = "".join(f"{n:02x}Zq" for n in range(200))
CLIENTS = {
    "a bearer": ("authorization", f"Bearer {OWN}", OWN),
    "a bare key": ("x-api-key", OWN, OWN),
    "a gateway's": ("cf-aig-authorization", f"Bearer {OWN}", OWN),
    "a password": ("authorization", f"Basic {base64_of(f'me:{OWN}')}", OWN),
    "its pair": (
        "authorization",
        f"Basic {base64_of(f'me:{OWN}')}",
        base64_of(f"me:{OWN}").rstrip("="),
    ),
    "a cookie": ("cookie", f"lang=en; sid={OWN}", OWN),
    "a long one": ("x-api-key", LONG, LONG),
    "the query": ("key", "", OWN),
}


@pytest.mark.parametrize("kind", CLIENTS)
def test_a_clients_own_key_is_not_kept_whoever_repeats_it(seen: Seen, kind: str) -> None:
    """As it is, in JSON, in Base64, letter by letter, and in a head that cannot be read."""
    name, value, secret = CLIENTS[kind]
    headers = {name: value} if value else {}
    url = f"{seen.url}/v1/messages" + ("" if value else f"?key={secret}")
    delta = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}'
    events = "".join(f"data: {delta % character}\n\n" for character in secret)
    bodies = [f'{{"error": {{"message": "Incorrect API key provided: {value} {secret}"}}}}', events]
    bodies.append(base64_of(f"Authorization: Bearer {secret} {secret} {secret}"))
    heads = [f"HTTP/1.1 401 No\r\ncontent-length: {len(body)}\r\n\r\n" for body in bodies]
    answers = [head + body for head, body in zip(heads, bodies, strict=True)]
    answers += [f"HTTP/1.1 200 OK\r\nbad {secret} header\r\n\r\n", f"HTTP/1.1 {secret}\r\n\r\n"]
    for number, answer in enumerate(answers, 1):
        with raw_upstream(seen, answer.encode()):
            got = httpx.post(url, json=seen.body(session=secret), headers=headers)
            assert got.text == bodies[number - 1] if number < 4 else got.status_code == 502
            seen.over(number)
    inner = base64_of(secret)[8 : len(secret) * 8 // 6]
    kept = json.dumps([seen.lines, *map(seen.file, seen.over(5))])
    assert secret not in kept and inner not in kept
    assert OWN not in kept and LONG[300:400] not in kept
    row = seen.over(5)[1]
    assert "".join(re.findall(r'"text":"(.)"', said(seen.file(row)).decode())) == "*" * len(secret)
    with raw_upstream(seen, b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"):
        seen.ask(json=seen.body(note=f"{secret} of another"))
        lines = seen.file(seen.over(6)[-1])
    assert lines[1]["request"]["note"] == f"{secret} of another"


PACKINGS: dict[str, Callable[[str], bytes]] = {
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 without a mark": lambda text: text.encode("utf-16-le"),
    "UTF-16, big end first": lambda text: text.encode("utf-16-be"),
    "UTF-32": lambda text: text.encode("utf-32"),
    "gzip": lambda text: gzip.compress(text.encode()),
    "zlib": lambda text: zlib.compress(text.encode()),
    "an archive behind text": lambda text: b"--x\r\n\r\n" + gzip.compress(text.encode()),
}


@pytest.mark.parametrize(
    "form", ['{{"messages": [{{"role": "user", "content": "{}"}}]}}', "say {}"]
)
@pytest.mark.parametrize("packing", PACKINGS)
def test_bytes_in_which_no_search_finds_a_key_are_not_kept_but_told(
    seen: Seen, packing: str, form: str
) -> None:
    packed = PACKINGS[packing](form.format(KEY))
    head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(packed)
    with raw_upstream(seen, head + packed) as upstream:
        assert seen.ask(content=packed).content == packed
        lines = seen.file(seen.over(1)[0])
    assert upstream.got[0].endswith(packed)
    kept = [line for line in lines if {"base64", "sent_base64", "raw", "sent"} & line.keys()]
    assert not kept, kept
    assert {"not_kept": {"no_text": 2 * len(packed)}} in lines
    assert KEY[10:40] not in json.dumps(lines)
    request = next((line["request"] for line in lines if "request" in line), None)
    assert bool(request) == ("UTF" in packing and "messages" in form)


def test_what_a_proxy_of_the_environment_repeats_is_starred_out(tmp_path: Path) -> None:
    answer = f"HTTP/1.1 407 no {SHORT} {base64_of(f'me:{SHORT}')}\r\ncontent-length: 0\r\n\r\n"
    with listening(answer.encode()) as through:
        environment = {"https_proxy": address(through, f"me:{SHORT}@", ""), "no_proxy": "127.0.0.1"}
        given = ("--upstream", "https://upstream.example/v1")
        with started(tmp_path / "home", *given, **environment) as proxy:
            got = httpx.post(f"{proxy.url}/v1/messages", json={})
    assert got.status_code == 502 and "407 no ******" in got.text
    for place in (got.text, proxy.said, proxy.kept()):
        assert SHORT not in place and base64_of(f"me:{SHORT}")[4:10] not in place


@pytest.mark.parametrize("taken", ["port", "proxy"])
def test_a_proxy_that_does_not_start_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: str
) -> None:
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path))
    if taken == "proxy":
        monkeypatch.setenv("https_proxy", "http://h:99999")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1] if taken == "port" else 0
        for command in ((), ("--", "true")):
            done = CliRunner().invoke(main, ["proxy", "--port", str(port), *command])
            assert done.exit_code == 2 and done.stderr.startswith("playground: ")
    assert not list(tmp_path.glob("recordings/proxy/*"))


def test_a_proxy_of_the_environment_keeps_its_password_and_takes_the_request(
    tmp_path: Path,
) -> None:
    with listening() as through:
        proxied = address(through, f"me:{WORD}@", "")
        environment = {"http_proxy": proxied, "no_proxy": "127.0.0.1"}
        given = ("--upstream", f"http://bob:{WORD}@upstream.example/base/v1?key=k")
        with started(tmp_path / "home", *given, **environment) as proxy:
            assert httpx.post(f"{proxy.url}/v1/messages?a=%7e", json={}).status_code == 200
    first, *headers = through.got[0].decode().split("\r\n")
    assert first == "POST http://upstream.example/base/v1/messages?key=k&a=%7e HTTP/1.1"
    assert f"authorization: Basic {PAIR}" in headers and "Host: upstream.example" in headers
    assert WORD not in proxy.said + proxy.kept() and PAIR not in proxy.kept()


@pytest.mark.parametrize("given", ["ftp://me:{}@h:1", "http://me:{}@h:99999", "http://[me:{}@h"])
def test_a_mistyped_proxy_of_the_environment_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("https_proxy", given.format(WORD))
    with pytest.raises(InputFault, match="^HTTPS_PROXY: .* not the address of a ") as caught:
        UpstreamClient()
    assert WORD not in str(caught.value) and caught.value.__cause__ is None


def test_an_upstream_that_is_printed_shows_nothing_it_holds() -> None:
    found = read_upstream(f"http://bob:{WORD}@h/{TOKEN}/v1?key={WORD}")
    assert isinstance(found, Upstream)
    assert WORD not in repr(found) and TOKEN not in repr(found) and PAIR not in repr(found)
