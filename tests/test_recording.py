"""Recording over real HTTP on loopback: what was sent is what is stored, and replays the same."""

from __future__ import annotations

import json
import math
import socketserver
import struct
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET
from typing import Any

import httpx
import pytest
import terminals
from hypothesis import given
from hypothesis import strategies as st
from serving import widened

import playground as pg
from playground.base.errors import InputFault
from playground.dialects import dialect_names, get_dialect
from playground.llm.record import Limits, Recorded, record
from playground.llm.runs import Run
from playground.plugins.trials.demo_server import DemoServer, serving
from playground.recordings.files import wire_bytes, wire_line
from playground.recordings.recording import SignalChunk, ToolCallChunk
from playground.recordings.scrubbing import scrubbed, searcher
from playground.recordings.value_scrubbing import scrubbed_value
from playground.recordings.wire_scrubbing import WireScrubber
from playground.sessions.loading import load_sessions

SESSION = pg.sample_sessions()["02-parallel-calls"]
ASK = [{"role": "user", "content": "What is the weather?"}]
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "d",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city", "days"],
        },
    },
}


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with serving(SESSION.tools) as running:
        yield running


def base(server: DemoServer, api: str) -> str:
    return server.url + ("/v1" if api == "openai" else "")


def stored(recorded: Recorded) -> bytes:
    return b"".join(filter(None, map(wire_bytes, recorded.lines)))


@pytest.mark.parametrize("mode", ["demo", "demo-hermes", "demo-xml", "demo-error", "demo-cut"])
@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_sent_bytes_are_stored_bytes_and_the_replay_is_the_original(
    server: DemoServer, api: str, mode: str, tmp_path: Path
) -> None:
    dialect = mode.removeprefix("demo-") if mode in ("demo-hermes", "demo-xml") else "native"
    recorded = record(
        ASK, f"{api}/{mode}", tools=[TOOL], dialect=dialect, base_url=base(server, api)
    )
    assert stored(recorded) == b"".join(server.sent[-1])
    path = tmp_path / "r.jsonl"
    recorded.write(path)
    again = pg.load_recording(path)
    assert again == recorded.recording
    assert again.timing == "recorded"
    first, second = (pg.replay(r, dialect, SESSION.tools) for r in (recorded.recording, again))
    assert first.steps == second.steps
    assert [c.name for c in first.result.tool_calls] == (
        [] if mode in ("demo-error", "demo-cut") else ["get_weather"]
    )


def test_the_two_apis_say_the_same(server: DemoServer) -> None:
    replies = [
        record(ASK, f"{api}/demo", tools=[TOOL], base_url=base(server, api)).recording.reply
        for api in ("openai", "anthropic")
    ]
    first, second = replies
    assert (first.content, first.reasoning) == (second.content, second.reasoning)
    assert first.tool_calls[0].arguments_text == second.tool_calls[0].arguments_text
    arguments = json.loads(first.tool_calls[0].arguments_text)
    assert arguments == {"city": "Paris, “à la carte”", "days": 3}


def test_what_is_written(server: DemoServer) -> None:
    recorded = record(ASK, "openai/demo", tools=[TOOL], base_url=base(server, "openai"))
    head, sent, status, *lines, end = recorded.lines
    assert head["format"] == "playground-recording/2"
    assert sent["request"]["messages"] == ASK
    assert sent["request"]["tools"][0]["function"]["name"] == "get_weather"
    assert "headers" not in json.dumps([head, sent, status])
    times = [line["t"] for line in lines]
    assert times == sorted(times)
    chunks = [line["litellm"] for line in lines if "litellm" in line]
    said = [c["choices"][0]["delta"].get("content", "") for c in chunks if c.get("choices")]
    assert "".join(filter(None, said)) == recorded.recording.reply.content
    assert (
        end["usage"]
        == recorded.recording.usage
        == {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
        }
    )


def test_times_are_those_of_arrival() -> None:
    with serving(delay=0.02) as slow:
        recorded = record(ASK, "openai/demo", base_url=f"{slow.url}/v1")
    times = [chunk.at for chunk in recorded.recording.chunks]
    assert times == sorted(times)
    assert times[-1] - times[0] > 0.015 * len(times) / 2


def test_an_error_in_mid_stream_is_kept_with_what_came_before(server: DemoServer) -> None:
    for api in ("openai", "anthropic"):
        recording = record(ASK, f"{api}/demo-error", base_url=base(server, api)).recording
        assert recording.error is not None
        assert recording.error["message"] == "the demo model fails here"
        assert recording.stop_reason == ""
        assert recording.reply.reasoning


def test_a_stream_without_an_end_is_no_stop(server: DemoServer) -> None:
    recording = record(ASK, "openai/demo-cut", base_url=base(server, "openai")).recording
    assert recording.stop_reason == ""
    assert [finding.code for finding in recording.findings] == ["no-end"]


def test_a_refusal_is_recorded(server: DemoServer) -> None:
    recorded = record(ASK, "openai/nobody", base_url=base(server, "openai"))
    assert recorded.lines[2]["status"] == 404
    assert recorded.recording.error is not None
    assert "no model 'nobody'" in recorded.recording.error["message"]


def test_nothing_came_back_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputFault, match="openai/x: no answer: connection refused: nothing"):
        record(ASK, "openai/x", base_url="http://127.0.0.1:9/v1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputFault, match=r"no key for this provider; expected \$OPENAI_API_KEY"):
        record(ASK, "openai/gpt-5")
    with pytest.raises(
        InputFault, match="LiteLLM does not know this model .*; expected provider/model"
    ):
        record(ASK, "nobody/x")


@pytest.mark.parametrize(
    "body",
    [
        b"nonsense",
        b'{"model": "demo", "messages": "x"}',
        b'{"model": "demo", "messages": [5]}',
        b'{"model": "demo", "messages": [], "tools": 7}',
        b"[" * 100_000,
    ],
    ids=["no JSON", "a text", "numbers", "no tools", "too deep"],
)
def test_the_demo_server_refuses_nonsense(server: DemoServer, body: bytes) -> None:
    answer = httpx.post(f"{server.url}/v1/chat/completions", content=body)
    assert answer.status_code == 400
    assert httpx.get(f"{server.url}/v1/models").status_code == 200


SAYS_NO_HTTP = b"SSH-2.0-OpenSSH_9.9\r\n\r\n"


@pytest.fixture
def says(request: pytest.FixtureRequest) -> Iterator[int]:
    """A port that says something to whoever connects, and closes."""

    class Says(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            self.request.sendall(request.param)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Says) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize(
    ("says", "scheme", "told"),
    [
        (SAYS_NO_HTTP, "http", "no HTTP: illegal status line"),
        (SAYS_NO_HTTP, "https", "TLS: .*; a server without TLS needs http://"),
        (b"", "http", "no HTTP: Server disconnected without sending a response"),
    ],
    indirect=["says"],
)
def test_what_a_server_has_in_place_of_http_is_told(says: int, scheme: str, told: str) -> None:
    """All of it was "Connection error."."""
    with pytest.raises(InputFault, match=f"no answer: {told}"):
        record(ASK, "openai/x", base_url=f"{scheme}://127.0.0.1:{says}/v1")


EVENT = b'data: {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", ' + (
    b'"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": null}]}\n\n'
)


@pytest.mark.parametrize("reset", [False, True], ids=["a wrong length", "a reset"])
def test_an_answer_that_breaks_off_is_told_so(reset: bool) -> None:
    """It was told to be no HTTP, or no answer, with its chunks on the disk."""

    class BreaksOff(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            self.request.sendall(head + b"Content-Length: 9999\r\n\r\n" + 3 * EVENT)
            if reset:
                time.sleep(0.3)  # what was sent would be lost with it
                self.request.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
                self.request.close()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), BreaksOff) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = record(ASK, "openai/x", base_url=f"http://127.0.0.1:{server.server_address[1]}/v1")
        server.shutdown()
    assert len(done.recording.chunks) == 3
    assert str((done.recording.error or {})["message"]).startswith("the answer breaks off")


@pytest.mark.long
def test_one_event_without_an_end_is_a_limit_packed_or_not() -> None:
    """A packed event of 50 MB took a gigabyte: what is unpacked counts, and is what is kept."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    body = packer.compress(EVENT + b"data: {" + b" " * 20_000_000) + packer.flush()

    class Bomb(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            self.request.sendall(head + b"Content-Encoding: gzip\r\n\r\n" + body)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Bomb) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = record(ASK, "openai/x", base_url=f"http://127.0.0.1:{server.server_address[1]}/v1")
        server.shutdown()
    assert (done.recording.error or {})["type"] == "limit"
    assert (
        "an event of the answer has more than 16,777,216" in (done.recording.error or {})["message"]
    )
    assert stored(done).startswith(EVENT)
    assert len(stored(done)) < 17_000_000


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("ftp://127.0.0.1/v1", "neither http nor https"),
        ("127.0.0.1:8000/v1", "neither http nor https"),
        ("http:///v1", "names no host"),
        ("http://a:99999/v1", "http://a:99999/v1: .* its host or port cannot be read"),
        ("http://user:hunter@a:x/v1", "not shown: .* its host or port cannot be read"),
        ("http://user:hunter/v1", "not shown: .* its host or port cannot be read"),
        ("http://user:hunter#more@a/v1", "not shown: .* its host or port cannot be read"),
        ("ftp://a/v1?key=hunter", "ftp://a/…: .* neither http nor https"),
        ("user:hunter@a/v1", "not shown: .* neither http nor https"),
    ],
)
def test_an_address_to_which_nothing_can_be_sent_is_told(address: str, told: str) -> None:
    with pytest.raises(InputFault, match=told) as caught:
        record(ASK, "openai/x", base_url=address)
    assert "hunter" not in str(caught.value)


@pytest.mark.parametrize("seconds", [0, -1, math.nan])
def test_a_limit_that_is_none_is_told(seconds: float) -> None:
    with pytest.raises(InputFault, match="seconds: .* is not a limit; expected more than 0"):
        Limits(seconds)


def test_a_run_can_be_watched_and_stopped() -> None:
    with serving() as slow:
        run = Run("openai/demo-slow", "native")
        run.start(ASK, (), base_url=f"{slow.url}/v1")
        until = time.monotonic() + 30
        while run.chunks < 3 and time.monotonic() < until:
            time.sleep(0.01)
        assert run.under_way
        run.stop()
        run.wait(10)
        assert not run.under_way
    assert run.recorded is not None
    recording = run.recorded.recording
    assert recording.error == {"type": "cancelled", "message": "the user stopped the run"}
    assert recording.stop_reason == ""
    assert 3 <= run.chunks < 15
    assert run.text


def test_a_run_that_fails_says_why() -> None:
    run = Run("openai/x", "native")
    run.start(ASK, (), base_url="http://127.0.0.1:9/v1")
    run.wait(60)
    assert run.recorded is None
    assert "no answer" in run.fault


def test_two_runs_at_once_do_not_mix(server: DemoServer) -> None:
    runs = [Run(f"openai/demo-{name}", name) for name in ("hermes", "xml", "json")]
    for run in runs:
        run.start(ASK, (), base_url=base(server, "openai"))
    for run in runs:
        run.wait(60)
    for run in runs:
        assert run.recorded is not None
        result = pg.replay(run.recorded.recording, run.dialect, SESSION.tools).result
        assert [call.name for call in result.tool_calls] == ["get_weather"]


@pytest.mark.parametrize("first", widened(range(5), at_once=1))
def test_every_dialect_through_the_demo_server(server: DemoServer, first: int) -> None:
    """The whole loop without a key: render, send, record, replay, for every fifth dialect."""
    refused = []
    for name in dialect_names()[first::5]:
        rendering = get_dialect(name).render(SESSION.prompt_data())
        request = {"model": f"demo-{name}", "messages": ASK, "stream": True}
        if rendering.tools:
            request["tools"] = rendering.tools
        answer = httpx.post(f"{server.url}/v1/chat/completions", json=request, timeout=30)
        recording = pg.decode_stream([answer.content])
        calls = pg.replay(recording, name, SESSION.tools).result.tool_calls
        if [call.name for call in calls] != ["get_weather"]:
            refused.append(name)
    only_their_own = {"aider-editblock", "sweagent", "smolagents-code", "gptme-xml", "llama3-code"}
    assert set(refused) <= only_their_own | {"continue", "dspy", "dspy-json", "dspy-xml"}, refused


# what is scrubbed


KEY = "sk-proj-" + "aB3" * 12


def test_keys_tokens_and_mails_are_starred_out() -> None:
    text = f"key {KEY}, Bearer abcdef.ghijkl-mnop, AIza{'x' * 35}, me@example.com"
    clean = scrubbed(text)
    assert len(clean) == len(text)
    assert KEY not in clean
    assert "abcdef" not in clean
    assert "AIza" not in clean
    assert "me@example.com" in clean
    assert "me@example.com" not in scrubbed(text, emails=True)
    assert scrubbed("the value s3cr3tvalue", secrets=["s3cr3tvalue"]) == "the value " + "*" * 11


@given(st.text(alphabet="ABCDEFghijkl0123+/-_=", min_size=24, max_size=200), st.integers(0, 200))
def test_base64_is_never_touched(payload: str, place: int) -> None:
    """A key's beginning inside a longer run of Base64 is chance, not a key."""
    at = place % len(payload)
    inside = f"{payload[:at]}Qsk-{'a' * 24}{payload[at:]}"
    text = json.dumps({"encrypted_content": inside})
    assert scrubbed(text, emails=True) == text


def test_a_secret_that_was_cut_between_two_pieces() -> None:
    whole = f'data: {{"error": "bad key {KEY}!"}}\n\n'.encode()
    for at in range(1, len(whole)):
        scrubber = WireScrubber(searcher())
        clean = b""
        for piece in (whole[:at], whole[at:]):
            scrubber.feed(piece)
            clean += scrubber.take(scrubber.ready)
        scrubber.finish()
        clean += scrubber.take(scrubber.ready)
        assert len(clean) == len(whole)
        assert "".join(KEY[3:]).encode() not in clean
        assert clean.endswith(b'*!"}\n\n')
    value = {"headers": [{"authorization": f"Bearer {KEY}"}]}
    assert KEY not in json.dumps(scrubbed_value(value))


def test_a_key_of_the_environment_is_never_written(
    server: DemoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "very-private-value")
    said = [{"role": "user", "content": f"my key is very-private-value, or {KEY}"}]
    recorded = record(said, "openai/demo", base_url=base(server, "openai"))
    assert "very-private-value" not in recorded.text()
    assert KEY not in recorded.text()


# the file


@given(st.lists(st.binary(min_size=1, max_size=12), max_size=5))
def test_a_line_of_the_wire_gives_its_bytes_back(pieces: list[bytes]) -> None:
    for piece in pieces:
        assert wire_bytes(json.loads(json.dumps(wire_line(piece, 0.5)))) == piece


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"t": 1, "base64": "*"}, "field base64: not Base64"),
        ({"t": -1, "raw": "x"}, "field t: a time of -1; expected seconds"),
        ([1], "a line that is not an object; expected one object on each line"),
    ],
)
def test_a_bad_line_of_a_recording_is_named(tmp_path: Path, line: Any, message: str) -> None:
    path = tmp_path / "r.jsonl"
    head = {"format": "playground-recording/1", "request": {}}
    path.write_text(f"{json.dumps(head)}\n{json.dumps(line)}\n")
    with pytest.raises(InputFault, match=r"r\.jsonl:2") as caught:
        pg.load_recording(path)
    assert message in str(caught.value)


def test_an_unknown_api_in_a_recordings_header(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"format": "playground-recording/1", "api": "x"}\n')
    with pytest.raises(
        InputFault, match=r"r\.jsonl:1, field api: unknown API 'x'; expected openai"
    ):
        pg.load_recording(path)


# the command line


def test_record_and_replay_by_the_command_line(server: DemoServer, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    target = ["--base-url", base(server, "openai"), "--model", "openai/demo-hermes"]
    done = terminals.run(
        *("record", "--session", "02-parallel-calls", "-d", "hermes", *target, "-o", str(path)),
        *("-p", "temperature=0"),
    )
    assert (done.returncode, "openai-chat" in done.stdout) == (0, True)
    assert json.loads(path.read_text().splitlines()[1])["request"]["temperature"] == 0
    shown = json.loads(terminals.run("replay", str(path), "--json").stdout)
    assert [call["name"] for call in shown["tool_calls"]] == ["get_weather"]
    (loaded,) = load_sessions(path)
    assert loaded.session.messages[0].role == "system"


def test_a_failing_record_is_one_line(tmp_path: Path) -> None:
    target = ["--model", "openai/x", "--base-url", "http://127.0.0.1:9/v1"]
    done = terminals.run("record", "--session", "01-plain-chat", *target, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_demo_server_by_the_command_line() -> None:
    command = [str(Path(sys.executable).with_name("playground")), "demo-server", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[2]
        models = httpx.get(f"{address}/v1/models").json()
        assert {"demo", "demo-hermes", "demo-error"} <= {m["id"] for m in models["data"]}
        bad = httpx.post(f"{address}/v1/chat/completions", content=b"{")
        assert bad.status_code == 400
    finally:
        process.terminate()
        process.wait(20)
        watchdog.cancel()


def test_a_conversation_goes_on_once_the_result_is_there(server: DemoServer) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    history: list[dict[str, Any]] = [
        *ASK,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "dry"},
    ]
    for api in ("openai", "anthropic"):
        target = base(server, api)
        recording = record(history, f"{api}/demo", tools=[TOOL], base_url=target).recording
        assert recording.reply.content == "Here is what I found. ✅"
        assert not any(isinstance(chunk, ToolCallChunk) for chunk in recording.chunks)
        assert any(isinstance(chunk, SignalChunk) for chunk in recording.chunks)
