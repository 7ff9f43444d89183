"""The proxy between real clients and a provider on loopback that bills by the documented rules."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from conftest import ROOT
from proxied import KEY, MODEL, WAIT, Seen, World, a_world, exchange, look, raw_upstream, said
from rule_provider import provided
from scripted_session import steps

from playground.cache.answers.simulation import simulate_cache
from playground.cli import main
from playground.plugins.proxy.addresses import Api, Upstreams, child_command, upstreams
from playground.plugins.proxy.json_layout import dump_in_layout
from playground.plugins.proxy.ledger import LoggedExchange, is_growing, read_ledger
from playground.plugins.proxy.ledger import runs_folder as ledger_folder
from playground.plugins.proxy.terminal_report import TerminalReport
from playground.plugins.proxy.upstream import read_upstream
from playground.sessions.loading import load_recording
from playground.sessions.workspaces import on_disk

LONG = "The harbour master reads the tide table and writes it down. " * 400


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with a_world(tmp_path_factory.mktemp("proxy") / "run") as found:
        yield found


@pytest.fixture
def seen(world: World) -> Seen:
    return look(world)


# clients


def test_the_anthropic_sdk_streams_through_and_each_request_is_predicted(seen: Seen) -> None:
    import anthropic  # here, because it takes a second to import, in each worker

    client = anthropic.Anthropic(api_key=KEY, base_url=seen.url)
    system = [{"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}]
    for count in (1, 2, 3):
        seen.wait(20)
        with client.messages.stream(
            model="claude-sonnet-4-6",
            max_tokens=10,
            system=system,
            messages=seen.messages(count),
            cache_control={"type": "ephemeral"},
        ) as stream:
            assert "".join(stream.text_stream) == "Done."
        seen.over(count)
    first, second, third = seen.over(3)
    assert first["expected"]["read"] == first["billed"]["read"] == 0
    for row in (second, third):
        assert row["expected"]["read"] == row["billed"]["read"] > 4000
        assert row["expected"]["session"] == first["expected"]["session"]
        assert not row["expected"]["breaks"]
    assert third["expected"]["number"] == 3
    assert third["expected"]["nano"] == pytest.approx(third["billed"]["nano"], rel=0.05)


def test_what_is_predicted_stands_there_before_the_answer_does(seen: Seen) -> None:
    body = {"model": MODEL, "max_tokens": 5, "messages": seen.messages(1)}
    httpx.post(f"{seen.url}/v1/messages", json=body)
    (row,) = seen.over(1)
    kinds = [next(iter(line)) if "t" not in line else "t" for line in seen.file(row)]
    assert kinds.index("request") < kinds.index("expected") < kinds.index("t")
    assert "expected" in seen.lines[0] and "status" not in seen.lines[0]


@pytest.mark.parametrize("path", ["chat", "responses"])
def test_the_openai_sdk_streams_through(seen: Seen, path: str) -> None:
    import openai

    client = openai.OpenAI(api_key="sk-" + "k" * 40, base_url=f"{seen.url}/v1")
    for count in (1, 2):
        seen.wait(20)
        given: Any = [{"role": "system", "content": LONG}, *seen.messages(count)]
        if path == "chat":
            chunks = client.chat.completions.create(
                model="gpt-4o", messages=given, stream=True, stream_options={"include_usage": True}
            )
            text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
        else:
            events = client.responses.create(model="gpt-4o", input=given, stream=True)
            text = "".join(e.delta for e in events if e.type == "response.output_text.delta")
        assert text == "Done."
        seen.over(count)
    _, second = seen.over(2)
    assert second["expected"]["state"] == "eligible"  # nobody promises it
    assert second["billed"]["read"] > 4000
    assert abs(second["expected"]["read"] - second["billed"]["read"]) <= 128


def test_gemini_is_spoken_by_its_address_and_the_key_in_it_is_not_kept(seen: Seen) -> None:
    key = "AIza" + "Sy0" * 11 + "ab"
    for count in (1, 2):
        seen.wait(20)
        parts = [
            {
                "role": "model" if m["role"] == "assistant" else "user",
                "parts": [{"text": m["content"]}],
            }
            for m in seen.messages(count)
        ]
        body = {"systemInstruction": {"parts": [{"text": LONG * 3}]}, "contents": parts}
        path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent"
        answer = httpx.post(f"{seen.url}{path}?alt=sse&key={key}", json=body)
        assert "Done." in answer.text
        seen.over(count)
    _, second = seen.over(2)
    assert second["expected"]["model"] == "gemini-2.5-pro"
    assert second["billed"]["read"] > 0
    assert second["expected"]["read"] == second["billed"]["read"]
    for file in seen.world.out.iterdir():
        assert key not in file.read_text()


def test_litellm_goes_through(seen: Seen) -> None:
    from playground.llm.library import litellm

    library = litellm()
    known = {"api_key": "sk-" + "k" * 40, "messages": seen.messages(1), "_skip_mcp_handler": True}
    library.completion(model="openai/gpt-4o", api_base=f"{seen.url}/v1", stream=True, **known)
    answer = library.completion(
        model="anthropic/claude-sonnet-4-6", api_base=seen.url, max_tokens=5, **known
    )
    assert answer.choices[0].message.content == "Done."
    rows = seen.over(2)
    assert [row["status"] for row in rows] == [200, 200]
    assert {row["expected"]["provider"] for row in rows} == {"openai-before-5.6", "anthropic"}


# what is recorded


def test_a_recording_holds_the_bytes_of_both_sides_but_for_starred_secrets(seen: Seen) -> None:
    secret = "ghp_" + "a1B2" * 9
    body = {
        "model": "claude-sonnet-4-6",
        "max_tokens": 5,
        "stream": True,
        "messages": [{"role": "user", "content": f"my token is {secret}, é \u2028 <b>"}],
    }
    forms = ("compact", "compact ascii", "spaced", "spaced unicode", "go")
    for number, form in enumerate(forms, 1):
        sent = dump_in_layout(body, form)
        headers = {"x-api-key": KEY, "authorization": f"Bearer {KEY}", "user-agent": "test/1"}
        answer = httpx.post(f"{seen.url}/v1/messages", content=sent, headers=headers)
        row = seen.over(number)[-1]
        lines = seen.file(row)
        request = next(line for line in lines if "request" in line)
        assert request["written"] == form
        stars = sent.replace(secret.encode(), b"*" * len(secret))
        assert dump_in_layout(request["request"], form) == stars
        assert said(lines) == answer.content
        assert request["agent"] == "test/1"
        text = (seen.world.out / row["file"]).read_text()
        assert secret not in text and KEY not in text and "authorization" not in text.lower()
        assert lines[-1]["starred"]


def test_a_body_that_is_written_otherwise_is_kept_as_its_bytes(seen: Seen) -> None:
    sent = b'{ "model":"claude-sonnet-4-6","max_tokens" : 5,\n"messages":[{"role":"user",'
    sent += b'"content":"a"}]}'
    httpx.post(f"{seen.url}/v1/messages", content=sent)
    lines = seen.file(seen.over(1)[0])
    assert "".join(line.get("sent", "") for line in lines).encode() == sent
    assert any(line.get("expected") for line in lines)


def test_a_packed_answer_is_forwarded_packed_and_recorded_unpacked(seen: Seen) -> None:
    plain = b'data: {"choices": [{"index": 0, "delta": {"content": "hi"}}]}\n\ndata: [DONE]\n\n'
    packed = gzip.compress(plain)
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\n"
    head += b"content-length: %d\r\n\r\n" % len(packed)
    with raw_upstream(seen, head + packed) as upstream:
        with httpx.stream("POST", f"{seen.url}/v1/chat/completions", json={}) as answer:
            assert b"".join(answer.iter_raw()) == packed
        assert said(seen.file(seen.over(1)[0])) == plain
    assert b"accept-encoding: gzip, deflate\r\n" in upstream.got[0].lower()


def test_a_ledger_tells_what_was_said(seen: Seen) -> None:
    body = {"model": MODEL, "max_tokens": 5, "messages": seen.messages(1)}
    httpx.post(f"{seen.url}/v1/messages", json=body)
    seen.over(1)
    until = time.monotonic() + WAIT
    passed, ledger = None, read_ledger(seen.world.out)
    while passed is None or not passed.billed:
        assert time.monotonic() < until  # within a second it is on the disk
        time.sleep(0.05)
        ledger = read_ledger(seen.world.out)
        passed = next((one for one in ledger.exchanges if one.number > seen.start), None)
    assert passed.status == 200 and passed.expected
    assert ledger.sessions[passed.session] == [passed]
    recording = load_recording(seen.world.out / passed.file)
    assert recording.name == f"run {passed.number}"


# what is forwarded


def test_headers_pass_as_they_are_and_none_is_added(seen: Seen) -> None:
    answer = b"HTTP/1.1 429 Slow down\r\nretry-after: 7\r\nx-a: 1\r\nx-a: 2\r\n"
    answer += b"content-length: 2\r\n\r\nno"
    with raw_upstream(seen, answer) as upstream:
        head = b"POST /v1/messages?beta=true HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Odd: \xe9\r\n"
        head += b"X-Two: a\r\nX-Two: b\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
        got = exchange(seen.url, head, close=False)
        seen.over(1)
    sent = upstream.got[0].split(b"\r\n\r\n")[0].split(b"\r\n")
    assert sent[0] == b"POST /v1/messages?beta=true HTTP/1.1"
    names = sorted(line.lower() for line in sent[1:])
    host = upstream.url.removeprefix("http://").encode()
    assert names == sorted(
        [b"host: " + host, b"x-odd: \xe9", b"x-two: a", b"x-two: b", b"content-length: 2"]
    )
    back = got.split(b"\r\n\r\n")[0].split(b"\r\n")
    assert back[0].split()[1] == b"429"
    assert [line for line in back if line.startswith((b"x-a", b"retry"))] == [
        b"retry-after: 7",
        b"x-a: 1",
        b"x-a: 2",
    ]


@pytest.mark.parametrize(
    ("base", "path", "expected"),
    [
        ("https://a.example", "/v1/messages", "https://a.example/v1/messages"),
        (
            "https://a.example/api/v1",
            "/v1/chat/completions",
            "https://a.example/api/v1/chat/completions",
        ),
        (
            "https://a.example/api/v1/",
            "/v1/chat/completions",
            "https://a.example/api/v1/chat/completions",
        ),
        (
            "https://a.example/v1",
            "/v1beta/models/m:generateContent",
            "https://a.example/v1/v1beta/models/m:generateContent",
        ),
        ("https://a.example/v1beta", "/v1beta/models", "https://a.example/v1beta/models"),
        ("https://a.example/v1", "/v10/x", "https://a.example/v1/v10/x"),
    ],
)
def test_a_base_that_ends_in_a_version_takes_the_rest(base: str, path: str, expected: str) -> None:
    assert address(Upstreams(read_upstream(base)), "openai", path) == expected


def address(known: Upstreams, api: Api, path: str) -> str:
    """Where a path of this API leads, as it is sent."""
    upstream, rest = known.route(api, path)
    assert upstream.shown_address(rest) == upstream.origin + upstream.target(rest, "")
    return upstream.origin + upstream.target(rest, "")


def test_without_an_upstream_each_api_has_its_own() -> None:
    known = upstreams("", {"AWS_REGION": "eu-west-1"}, 8788, child=False)
    behind = {
        "anthropic": address(known, "anthropic", "/v1/messages"),
        "openai": address(known, "openai", "/v1/responses"),
        "gemini": address(known, "gemini", "/v1beta/models/g:generateContent"),
        "bedrock": address(known, "bedrock", "/model/m/converse"),
    }
    assert behind == {
        "anthropic": "https://api.anthropic.com/v1/messages",
        "openai": "https://api.openai.com/v1/responses",
        "gemini": "https://generativelanguage.googleapis.com/v1beta/models/g:generateContent",
        "bedrock": "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse",
    }
    child = upstreams("", {"ANTHROPIC_BASE_URL": "https://gateway.example"}, 8788, child=True)
    assert address(child, "anthropic", "/v1/messages") == "https://gateway.example/v1/messages"


def test_anthropics_version_is_put_where_the_ai_sdk_leaves_it_out() -> None:
    """opencode takes the version for a part of ANTHROPIC_BASE_URL; Anthropic's own SDKs do not."""
    known = upstreams("", {}, 8788, child=True)
    for path in ("/messages", "/v1/messages"):
        assert address(known, "anthropic", path) == "https://api.anthropic.com/v1/messages"
    assert address(known, "anthropic", "/api/hello") == "https://api.anthropic.com/api/hello"
    gateway = Upstreams(read_upstream("https://a.example"))
    assert address(gateway, "anthropic", "/messages") == "https://a.example/messages"


def test_codex_is_told_in_arguments_since_it_reads_no_variable() -> None:
    told = child_command(["/usr/bin/codex", "exec", "hi"], "http://127.0.0.1:8788")
    assert told == ["/usr/bin/codex", "-c", 'openai_base_url="http://127.0.0.1:8788"', "exec", "hi"]
    assert child_command(["claude", "-p"], "http://127.0.0.1:8788") == ["claude", "-p"]


@pytest.mark.parametrize(
    ("headers", "status", "word"),
    [
        ({"authorization": "AWS4-HMAC-SHA256 Credential=x"}, 403, "signed"),
        ({"origin": "https://evil.example"}, 403, "evil.example"),
        ({"host": "evil.example"}, 400, "host"),
        ({"upgrade": "websocket", "connection": "upgrade"}, 426, "sockets"),
    ],
)
def test_what_is_refused_says_why(
    seen: Seen, headers: dict[str, str], status: int, word: str
) -> None:
    path = "/model/us.anthropic.claude-sonnet-4-6-v1:0/converse"
    answer = httpx.post(f"{seen.url}{path}", headers=headers, json={})
    assert answer.status_code == status and word in answer.text
    assert not seen.bills


# bad input


def test_a_client_that_hangs_up_in_its_body_is_recorded_as_far_as_it_came(seen: Seen) -> None:
    head = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n"
    assert exchange(seen.url, head + b'{"model": "claude', wait=2.0) == b""
    (row,) = seen.over(1)
    assert row["error"]["type"] == "hung up"
    assert "".join(line.get("sent", "") for line in seen.file(row)) == '{"model": "claude'


def test_a_client_that_hangs_holds_nobody_else_up(seen: Seen) -> None:
    port = seen.world.proxy.port
    with socket.create_connection(("127.0.0.1", port)) as hanging:
        hanging.sendall(
            b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
        )
        body = {"model": MODEL, "max_tokens": 5, "messages": seen.messages(1)}
        assert httpx.post(f"{seen.url}/v1/messages", json=body).status_code == 200


@pytest.mark.long
def test_a_connection_that_rests_is_kept_longer_than_clients_keep_it(seen: Seen) -> None:
    """Where both sides give one up after the same time, a request now and then meets its end."""
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"
    with raw_upstream(seen, answer):
        head = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
        with socket.create_connection(("127.0.0.1", seen.world.proxy.port), 10) as resting:
            for pause in (6.0, 0.0):
                resting.sendall(head)
                got = b""
                while not got.endswith(b"hi"):
                    assert (data := resting.recv(65536)), "it has hung up"
                    got += data
                time.sleep(pause)


@pytest.mark.parametrize(
    "garbage",
    [b"\x16\x03\x01\x02\x00" * 40, b"GET\r\n\r\n", b"\x00" * 1000, b"POST / HTTP/9.9\r\n\r\n"],
)
def test_garbage_is_refused_and_the_proxy_stays_up(seen: Seen, garbage: bytes) -> None:
    got = exchange(seen.url, garbage)
    assert got == b"" or b" 400 " in got.split(b"\r\n")[0]
    assert httpx.post(f"{seen.url}/v1/messages", json={"model": "m", "messages": []})


@pytest.mark.parametrize(
    "body", [b"caf\xe9", b"[1, 2]", b"{" * 2000, b'{"messages": 7, "model": {}}', b""]
)
def test_a_body_that_is_no_request_is_forwarded_and_kept_as_it_was(seen: Seen, body: bytes) -> None:
    answer = b"HTTP/1.1 400 Bad\r\ncontent-length: 3\r\n\r\nbad"
    with raw_upstream(seen, answer) as upstream:
        got = httpx.post(f"{seen.url}/v1/messages", content=body)
        assert (got.status_code, got.text) == (400, "bad")
        (row,) = seen.over(1)
        lines = seen.file(row)
    assert upstream.got[0].partition(b"\r\n\r\n")[2] == body
    kept = [line for line in lines if "request" in line]
    if kept:
        assert dump_in_layout(kept[0]["request"], kept[0]["written"]) == body
    else:
        text = "".join(line.get("sent", "") for line in lines)
        assert text.encode() == body or any("sent_base64" in line for line in lines)


def test_http_1_0_and_chunked_bodies_pass(seen: Seen) -> None:
    answer = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nall of it"
    with raw_upstream(seen, answer) as upstream:
        old = b"POST /v1/messages HTTP/1.0\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
        got = exchange(seen.url, old, close=False)
        assert got.endswith(b"\r\n\r\nall of it") and b"transfer-encoding" not in got.lower()
        chunked = httpx.post(f"{seen.url}/v1/messages", content=iter([b"{", b"}"]))
        assert chunked.text == "all of it"
        seen.over(2)
    assert b"transfer-encoding: chunked" in upstream.got[1].lower()


def test_a_body_with_two_lengths_goes_on_with_the_one_that_counts(seen: Seen) -> None:
    """Both headers at once are how requests are smuggled past a proxy; chunks count alone."""
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"
    head = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    head += b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    with raw_upstream(seen, answer) as upstream:
        got = exchange(seen.url, head + b"2\r\n{}\r\n0\r\n\r\n", close=False)
        assert got.startswith(b"HTTP/1.1 200") and got.endswith(b"hi")
        assert seen.over(1)[0]["status"] == 200
    sent, _, rest = upstream.got[0].lower().partition(b"\r\n\r\n")
    assert b"content-length" not in sent and rest == b"2\r\n{}\r\n0\r\n\r\n"


def test_a_packed_request_is_forwarded_packed_and_predicted(seen: Seen) -> None:
    packed = gzip.compress(json.dumps(seen.body()).encode())
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
    with raw_upstream(seen, answer) as upstream:
        seen.ask(content=packed, headers={"content-encoding": "gzip"})
        (row,) = seen.over(1)
    assert upstream.got[0].endswith(packed)
    assert row["expected"]["model"] == MODEL
    assert any("request" in line for line in seen.file(row))


def test_a_request_that_unpacks_to_more_than_is_read_is_forwarded_alone(seen: Seen) -> None:
    packed = gzip.compress(b" " * (64 << 20), 1)
    answer = b"HTTP/1.1 413 Large\r\ncontent-length: 2\r\n\r\n{}"
    with raw_upstream(seen, answer) as upstream:
        assert seen.ask(content=packed, headers={"content-encoding": "gzip"}).status_code == 413
        (row,) = seen.over(1)
    assert upstream.got[0].endswith(packed) and "expected" not in row
    assert sum(len(line.get("sent", "")) for line in seen.file(row)) <= 1 << 20


@pytest.mark.parametrize(
    ("method", "told"),
    [(b"CONNECT a.example:443", 405), (b"POST http://a.example/v1/messages", 405)],
)
def test_it_is_no_proxy_for_every_address(seen: Seen, method: bytes, told: int) -> None:
    head = method + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert exchange(seen.url, head, close=False).split()[1] == str(told).encode()


def test_what_is_more_than_was_said_goes_no_further(seen: Seen) -> None:
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi, and what follows it"
    with raw_upstream(seen, answer):
        assert seen.ask(json={}).content == b"hi"
        assert said(seen.file(seen.over(1)[0])) == b"hi"


@pytest.mark.parametrize(
    ("answer", "got", "kept"),
    [
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n",
            b"half",
            b"half",
        ),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\nhalf", b"half", b"half"),  # lies
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n", b"half", b"half"),
    ],
)
def test_what_breaks_off_there_breaks_off_here(
    seen: Seen, answer: bytes, got: bytes, kept: bytes
) -> None:
    with raw_upstream(seen, answer):
        pieces: list[bytes] = []
        with (
            pytest.raises(httpx.RemoteProtocolError),
            httpx.stream("POST", f"{seen.url}/v1/messages", json={}) as response,
        ):
            pieces.extend(response.iter_raw())
        assert b"".join(pieces) == got
        (row,) = seen.over(1)
        assert row["error"]["type"] == "broken off"
        assert said(seen.file(row)) == kept


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nhi!",
        b"HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\nhi!",
    ],
)
def test_a_provider_that_gives_no_answer_is_a_502_with_the_reason(
    seen: Seen, answer: bytes
) -> None:
    with raw_upstream(seen, answer):
        got = httpx.post(f"{seen.url}/v1/messages", json={})
        assert got.status_code == 502
        assert "gave no answer" in got.json()["error"]["message"]
        assert "gave no answer" in seen.over(1)[0]["error"]["message"]


def test_a_redirect_is_handed_on_and_not_followed(seen: Seen) -> None:
    answer = b"HTTP/1.1 307 Go\r\nlocation: http://127.0.0.1:1/x\r\ncontent-length: 0\r\n\r\n"
    with raw_upstream(seen, answer):
        got = httpx.post(f"{seen.url}/v1/messages", json={}, follow_redirects=False)
        assert (got.status_code, got.headers["location"]) == (307, "http://127.0.0.1:1/x")


def test_a_refusal_leaves_nothing_in_the_cache_that_is_predicted(seen: Seen) -> None:
    """429 for ever: the next request is not said to read what was never written."""
    answer = b"HTTP/1.1 429 Slow\r\ncontent-length: 2\r\n\r\n{}"
    system = [{"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}]
    body = {"model": "claude-sonnet-4-6", "system": system, "messages": seen.messages(1)}
    with raw_upstream(seen, answer):
        for number in range(1, 4):
            assert httpx.post(f"{seen.url}/v1/messages", json=body).status_code == 429
            seen.over(number)
        assert [row["expected"]["read"] for row in seen.over(3)] == [0, 0, 0]


def test_what_was_refused_is_no_break_and_costs_nothing(seen: Seen) -> None:
    """404 each time, with another system prompt: nothing was cached that could be lost."""
    answer = b"HTTP/1.1 404 No\r\ncontent-length: 2\r\n\r\n{}"

    def asked(prompt: str) -> dict[str, Any]:
        mark = {"cache_control": {"type": "ephemeral"}}
        system = [{"type": "text", "text": f"{prompt} {LONG}", **mark}]
        return {"model": "claude-sonnet-4-6", "system": system, "messages": seen.messages(1)}

    with raw_upstream(seen, answer):
        for number, prompt in enumerate("abc", 1):
            httpx.post(f"{seen.url}/v1/messages", json=asked(prompt))
            rows = seen.over(number)
    assert [row["expected"]["breaks"] for row in rows] == [False] * 3
    # one that was to break what an answered one left, and is refused
    report = TerminalReport()
    told = {"breaks": True, "cause": "prefix-changed", "lost": 9, "lost_nano": 9, "findings": []}
    expected = {**rows[0]["expected"], **told}
    began = {"exchange": 1, "expected": expected, "url": "u", "file": ""}
    over = {"exchange": 1, "status": 404, "seconds": 1.0}
    assert sum(len(list(report.lines(each))) for each in (began, over)) == 2
    assert list(report.summary()) == ["1 request, 0 bills: read 0 of 0 tokens billed, 0 predicted"]
    assert LoggedExchange(1, 0.0, "s", "t", "a", "u", "", expected, 404).breaks is None
    assert LoggedExchange(1, 0.0, "s", "t", "a", "u", "", expected, 200).breaks == expected


def test_a_client_that_goes_away_ends_the_providers_work_too(seen: Seen) -> None:
    answer = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n"
    with raw_upstream(seen, answer, hold=3.0):
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{seen.url}/v1/messages", json={}, timeout=0.3)
        began = time.monotonic()
        (row,) = seen.over(1)
        assert row["error"]["type"] == "hung up" and time.monotonic() - began < 2.5


def test_the_recording_process_may_die(tmp_path: Path) -> None:
    with a_world(tmp_path / "run") as world:
        seen = look(world)
        seen.ask(json=seen.body())
        seen.over(1)
        (watching,) = (p for p in world.proxy.processes() if p.poll() is None)
        watching.kill()
        watching.wait()
        for _ in range(3):
            assert seen.ask(json=seen.body()).status_code == 200
        seen.over(2)
    assert any("another one is started" in line.get("fault", "") for line in world.lines)


# sessions


def test_sessions_are_told_apart_by_agent_key_and_what_is_said(seen: Seen) -> None:
    def ask(first: str, agent: str = "a/1", key: str = "k1") -> None:
        known = seen.messages(2)
        said = [{"role": "user", "content": f"{first} {known[0]['content']}"}, *known[1:]]
        body = {"model": "claude-sonnet-4-6", "max_tokens": 5, "messages": said}
        headers = {"user-agent": agent, "x-api-key": key}
        httpx.post(f"{seen.url}/v1/messages", json=body, headers=headers)

    for given in (("one",), ("two",), ("one",), ("one", "b/2"), ("one", "a/1", "k2"), ("two",)):
        ask(*given)
        seen.over(1)
        time.sleep(0.05)
    rows = seen.over(6)
    names = [row["expected"]["session"] for row in rows]
    numbers = [row["expected"]["number"] for row in rows]
    assert names[0] == names[2] and names[1] == names[5]
    assert len(set(names)) == 4
    assert numbers == [1, 1, 2, 1, 1, 2]


def test_a_sub_agent_with_the_same_messages_is_no_break_of_its_session(seen: Seen) -> None:
    """As Qwen Code asks for what is to be remembered: other tools, and told to be somebody else."""
    schema = {"type": "object"}
    tools = [{"name": n, "description": LONG, "input_schema": schema} for n in "abc"]
    system = f"You are a coding agent. It is {{}} o'clock. {LONG}"

    def ask(count: int, system: str, tools: list[dict[str, Any]]) -> None:
        seen.ask(json=seen.body(count, system=system, tools=tools))

    ask(2, system.format(9), tools)
    ask(3, "You extract what is worth remembering, and answer with notes alone.", tools[:1])
    ask(3, system.format(10), tools[::-1])  # the same agent: both have changed a little
    first, aside, second = (row["expected"] for row in seen.over(3))
    assert aside["session"] != first["session"] and not aside["breaks"]
    assert second["session"] == first["session"] and second["number"] == 2


def test_breaks_are_predicted_with_their_causes_as_they_are_billed(seen: Seen) -> None:
    """The script of sixty requests, against a provider that shares no code with the simulator."""
    script = list(steps())
    with httpx.Client() as client:
        for number, step in enumerate(script, 1):
            seen.wait(step.wait)
            assert client.post(f"{seen.url}/v1/messages", json=step.body).status_code == 200
            if number % 20 == 0:
                seen.over(number)
    rows = seen.over(len(script))
    told = [row["expected"]["cause"] for row in rows]
    assert told == [step.cause for step in script]
    wrong = [
        number
        for number, row in enumerate(rows, 1)
        if not row["expected"]["breaks"] and row["expected"]["read"] != row["billed"]["read"]
    ]
    assert wrong == []
    off = [abs(row["expected"]["read"] - row["billed"]["read"]) for row in rows]
    assert sorted(off)[-2:] == [1, 4] and sum(off) == 5  # before a bill has told of that beginning


@pytest.mark.parametrize("count", [40, pytest.param(200, marks=pytest.mark.long)])
def test_many_requests_at_once_are_all_answered_and_recorded(seen: Seen, count: int) -> None:
    async def ask_all() -> list[int]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(limits=limits, timeout=60) as client:
            url, body = f"{seen.url}/v1/messages", seen.body(stream=True)
            answers = await asyncio.gather(*(client.post(url, json=body) for _ in range(count)))
        return [answer.status_code for answer in answers]

    assert asyncio.run(ask_all()) == [200] * count
    rows = seen.over(count)
    assert len(rows) == count and all(
        "Done." in said(seen.file(row)).decode() for row in rows[::20]
    )


def test_a_hundred_megabytes_pass_and_memory_stays_flat(seen: Seen) -> None:
    """Of what no provider takes the first megabyte is kept; all of it is forwarded."""
    piece = b"x" * (1 << 20)
    answer = b"HTTP/1.1 413 Large\r\ncontent-length: 3\r\n\r\nbig"

    def resident() -> int:
        watching = seen.world.proxy.processes()[-1].pid
        status = Path(f"/proc/{watching}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) // 1024

    with raw_upstream(seen, answer, drop=True) as upstream:
        before = resident()
        headers = {"content-length": str(100 << 20)}
        got = seen.ask(content=(piece for _ in range(100)), headers=headers, timeout=60)
        assert got.status_code == 413
        (row,) = seen.over(1)
        assert resident() - before < 150  # megabytes: of 32 that are read whole
    assert upstream.size == 100 << 20
    lines = seen.file(row)
    assert sum(len(line.get("sent", "")) for line in lines) == 1 << 20
    assert next(line["not_kept"] for line in lines if "not_kept" in line) == {"sent": 99 << 20}


# the page


def test_live_shows_a_run_and_opens_its_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from test_pages import page  # here: it takes a while to load

    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path))
    out = ledger_folder() / "20261122-120000"
    out.parent.mkdir(parents=True)
    with a_world(out) as world:
        seen = look(world)
        for step in list(steps(7)):
            seen.wait(step.wait)
            seen.ask(json=step.body)
        seen.over(7)
        assert is_growing(out)
    assert not is_growing(out)
    (name,) = on_disk().names()  # the proxy keeps its sessions when it ends
    app = page("live")
    tables = [frame.value for frame in app.dataframe]
    assert tables[0]["requests"].tolist() == [7]
    assert tables[1]["cause"].tolist() == ["tool-order"]
    assert tables[2]["breaks"].tolist() == [""] * 5 + ["tool-order at tool 1", ""]
    assert (tables[2]["read, expected"] == tables[2]["read, billed"]).all()
    app.button(key="live cache").click().run()
    assert not app.exception
    assert app.selectbox(key="session").value == name
    session = on_disk().entry(name).session
    simulated = simulate_cache(session, policy="as-sent")
    assert simulated.breaks == [5]
    billed = [bill.read for bill in simulated.billed if bill]
    assert [request.read for request in simulated.requests] == billed
    assert len(session.recordings) == 7


# --block


def test_block_answers_409_and_the_provider_never_sees_it(tmp_path: Path) -> None:
    import anthropic

    tools = [{"name": n, "description": LONG, "input_schema": {"type": "object"}} for n in "ab"]
    with a_world(tmp_path / "run", block=True) as world:
        seen = look(world)
        client = anthropic.Anthropic(api_key=KEY, base_url=seen.url)

        def ask(order: int, count: int) -> None:
            seen.wait(20)
            given: dict[str, Any] = {"tools": tools[::order], "messages": seen.messages(count)}
            given |= {"cache_control": {"type": "ephemeral"}}
            client.messages.create(model=MODEL, max_tokens=5, **given)

        ask(1, 1)
        seen.over(1)
        with pytest.raises(anthropic.APIStatusError, match="tool-order") as refused:
            ask(-1, 2)
        assert refused.value.status_code == 409
        assert len(seen.bills) == 1  # nor was it tried again
        ask(1, 2)  # the session goes on from where it was
        rows = seen.over(3)
    assert rows[1]["blocked"].startswith("it breaks the cache at tool 1: tool-order")
    assert rows[2]["expected"]["read"] == rows[2]["billed"]["read"] > 0


# the command


def command(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "playground", "proxy", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PLAYGROUND_HOME": str(home)},
        timeout=60,
    )


def test_a_command_is_started_with_the_variables_and_its_status_is_ours(tmp_path: Path) -> None:
    code = (
        "import os, json, sys, urllib.request as r\n"
        "body = {'model': 'claude-sonnet-4-6', 'max_tokens': 5,"
        " 'messages': [{'role': 'user', 'content': 'hi'}]}\n"
        "url = os.environ['ANTHROPIC_BASE_URL'] + '/v1/messages'\n"
        "r.urlopen(r.Request(url, json.dumps(body).encode())).read()\n"
        "print(os.environ['OPENAI_BASE_URL'].endswith('/v1'))\n"
        "sys.exit(7)"
    )
    with provided() as server:
        given = ("--port", "0", "--upstream", server.url, "--", sys.executable, "-c", code)
        done = command(*given, home=tmp_path)
    assert done.returncode == 7, done.stderr
    assert done.stdout == "True\n"
    assert "1 request, 1 bill" in done.stderr
    (run,) = (tmp_path / "recordings" / "proxy").iterdir()
    assert "read 0 of" in (run / "said.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--upstream", "api.anthropic.com"), "is no address"),
        (("--upstream", "http://127.0.0.1:8788/v1"), "forward to itself"),
        (("--host", "0.0.0.0"), "--public"),
        (("--allow-host", "*"), "DNS rebinding"),
        (("--port", "0", "--", "no-such-command-anywhere"), "No such file"),
        (("--port", "99999"), "free port"),
    ],
)
def test_a_mistake_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], word: str
) -> None:
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path))
    done = CliRunner().invoke(main, ["proxy", *arguments])
    assert done.exit_code == 2
    assert word in done.stderr and done.stderr.count("playground:") == 1
