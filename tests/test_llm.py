"""How a model is reached and asked: what every request says, what is copied, what stays inside."""

from __future__ import annotations

import asyncio
import gc
import os
import pty
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import httpx
import httpx2
import pytest
from conftest import ROOT
from streaming import answering, event

from playground.base.errors import InputFault
from playground.cache.prices import price_of
from playground.dialects import get_dialect
from playground.llm.access import access_arguments
from playground.llm.completion_arguments import completion_arguments
from playground.llm.payloads import WireCall, wire_calls
from playground.llm.wiretap import Tap, answering_offline, tapped, watch
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import PromptData
from playground.plugins.systems.flink_agents.chat_message import ChatMessage
from playground.plugins.systems.flink_agents.completion import Piece
from playground.plugins.systems.flink_agents.litellm_model import LiteLLMModel
from playground.plugins.trials.demo_server import DemoServer, serving

ASK: Final = [{"role": "user", "content": "When is high water?"}]
ASKED: Final = [ChatMessage(content="When is high water?")]
TOOL: Final = {
    "type": "function",
    "function": {
        "name": "tides",
        "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}},
    },
}


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with serving() as running:
        yield running


def test_what_every_request_says() -> None:
    tools = [TOOL]
    made = completion_arguments(ASK, "openai/demo", tools, {"temperature": 0, "model": "openai/x"})
    assert made == {
        "model": "openai/x",  # parameters stand before all others
        "messages": ASK,
        "num_retries": 0,
        "_skip_mcp_handler": True,
        "tools": [TOOL],
        "temperature": 0,
    }
    made["tools"][0]["type"] = "other"
    assert tools[0]["type"] == "function"
    assert "tools" not in completion_arguments(ASK, "openai/demo")


@pytest.mark.parametrize(
    "dialect", ["xml", "hermes", "llama3-json", "mistral", "react", "openhands", "cwm", "native"]
)
def test_the_scripted_model_answers_a_result_in_every_dialect(
    server: DemoServer, dialect: str
) -> None:
    """It looked for marks of a result: some dialects have none, and xml joins it to a question."""
    call = ToolCallPart("call_1", "get_weather", {"city": "Kiel"})
    history = [Message("user", (TextPart("Is it cold in Kiel?"),)), Message("assistant", (call,))]
    result = Message("tool", (ToolResultPart("call_1", "get_weather", "9 degrees"),))
    question = Message("user", (TextPart("What is a <tool_result>?"),))
    reply = Message("assistant", (TextPart("A mark."),))
    contents = []
    for end in ([result], [result, question], [result, reply, question]):
        data = PromptData(messages=history + end, tool_metadata=list(server.tools))
        body = {"model": f"demo-{dialect}", "messages": get_dialect(dialect).render(data).messages}
        answer = httpx.post(f"{server.url}/v1/chat/completions", json=body, verify=False).json()
        contents.append(answer["choices"][0]["message"]["content"])
    assert [content[:20] for content in contents] == [
        "Here is what I found",
        "Here is what I found",
        "I will look that up.",
    ]


@contextmanager
def breaking_off() -> Iterator[str]:
    """The address of a server that begins its answers, and closes the connection in the middle."""

    def serve() -> None:
        said = event("Hello")
        with suppress(OSError):  # until the test closes its door
            while True:
                peer, _ = listener.accept()
                with peer:
                    asked = b""
                    while not asked.endswith(b"}"):
                        asked += peer.recv(65536)
                    peer.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    peer.sendall(b"%x\r\n%s\r\n" % (len(said), said))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def test_an_answer_that_breaks_off_is_told_as_one() -> None:
    """It was told that no answer had come, and that nobody had answered."""
    with breaking_off() as address:
        model = LiteLLMModel("openai/demo", address)
        seen: list[Piece] = []
        told = "openai/demo: not the whole answer: .*: the answer breaks off: .*a complete answer"
        with pytest.raises(InputFault, match=told):
            deque(map(seen.append, model.stream(ASKED)), maxlen=0)
        assert seen == [Piece("Hello")]
        with pytest.raises(InputFault, match=told):
            asyncio.run(drained(model))


async def drained(model: LiteLLMModel) -> list[Piece]:
    return [piece async for piece in model.astream(ASKED)]


def test_a_server_of_ones_own_needs_no_key_and_a_provider_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    address = "http://127.0.0.1:9/v1"
    assert access_arguments("openai/x", address) == {"base_url": address, "api_key": "none"}
    with pytest.raises(InputFault, match=r"no key for this provider; expected \$OPENAI_API_KEY"):
        access_arguments("openai/gpt-4o")
    monkeypatch.setenv("OPENAI_API_KEY", "of the environment")
    assert access_arguments("openai/gpt-4o") == {}  # LiteLLM reads it there
    with pytest.raises(InputFault, match="LiteLLM does not know this model"):
        access_arguments("nobody/x")


@dataclass
class Watched:
    """Keeps what it is told of an exchange."""

    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    told: list[int] = field(default_factory=list)
    pieces: list[tuple[float, bytes]] = field(default_factory=list)

    def record_request(self, url: str, request: dict[str, Any]) -> None:
        self.asked.append((url, request))

    def record_status(self, at: float, status: int) -> None:
        self.told.append(status)

    def record_bytes(self, at: float, data: bytes) -> None:
        self.pieces.append((at, data))


def test_a_tap_copies_this_threads_exchange_and_changes_nothing(server: DemoServer) -> None:
    body = {"model": "demo", "messages": ASK, "stream": True}
    address = f"{server.url}/v1/chat/completions"
    seen = Watched()
    with tapped(Tap(seen, lambda: True, stall=10, shown=1_000_000)):
        other = threading.Thread(target=httpx.post, args=(address,), kwargs={"json": {}})
        other.start()
        other.join()
        assert seen == Watched()  # another thread's is not seen
        answer = httpx.post(f"{address}?key=secret", json=body)
    assert (seen.asked, seen.told) == ([(address, body)], [200])
    assert b"".join(piece for _, piece in seen.pieces) == answer.content
    times = [at for at, _ in seen.pieces]
    assert times == sorted(times)
    httpx.post(address, json=body)
    assert b"".join(piece for _, piece in seen.pieces) == answer.content


def test_behind_a_closed_door_nothing_leaves() -> None:
    asked: list[tuple[str, str, dict[str, Any]]] = []

    def answer(*request: Any) -> tuple[int, dict[str, Any]]:
        asked.append(request)
        return 418, {"error": "closed"}

    nowhere = "http://127.0.0.1:9/x"
    with answering_offline(answer):
        found = httpx.post(nowhere, json={"a": 1})
    assert (found.status_code, found.json()) == (418, {"error": "closed"})
    assert asked == [("POST", nowhere, {"a": 1})]
    with pytest.raises(httpx.ConnectError):
        httpx.post(nowhere, json={"a": 1})


def test_what_httpx2_sends_is_refused_behind_a_door_and_a_tap() -> None:
    """OpenAI's client has it from 3.0 on: what passed it would be neither seen nor cleaned."""
    arrived = []

    def pieces() -> list[bytes]:
        arrived.append(1)
        return [b"{}"]

    with answering(pieces) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}/v1/models"
        for closed in (
            answering_offline(lambda *_: (418, {})),
            tapped(Tap(Watched(), lambda: True, stall=10, shown=1_000)),
        ):
            with closed:
                with pytest.raises(RuntimeError, match="cannot be watched"):
                    httpx2.post(address, json={})
                with pytest.raises(RuntimeError, match="cannot be watched"):
                    asyncio.run(_post_by_httpx2(address))
        assert arrived == []
        assert httpx2.post(address, json={}).status_code == 200
    assert arrived == [1]


async def _post_by_httpx2(address: str) -> None:
    async with httpx2.AsyncClient() as client:
        await client.post(address, json={})


def test_the_view_of_a_payload_leaves_what_it_is_given_as_it_was() -> None:
    messages, parameters = [dict(ASK[0])], {"stop": ["x"]}
    (call,) = wire_calls(messages, "anthropic/claude-sonnet-4-5", [TOOL], parameters)
    assert isinstance(call, WireCall)
    assert (call.method, call.body["stop_sequences"]) == ("POST", ["x"])
    assert (messages, parameters) == ([ASK[0]], {"stop": ["x"]})


def test_a_price_tells_what_the_map_knows_of_the_rules() -> None:
    price = price_of("anthropic/claude-haiku-4-5")
    assert price is not None
    figures = price.figures()
    assert figures["read_permille"].value == 100  # a tenth of the price for what was cached
    named = f"LiteLLM {version('litellm')} cost map, claude-haiku-4-5"
    assert figures["read_permille"].source == price.source == named


def test_a_stream_that_was_left_is_not_closed_by_the_collector() -> None:
    """It did so while the same thread held the lock that closing takes: a test stood for ever."""
    left: list[list[Any]] = []
    with answering(lambda: [b"data: 1\n\n", b"data: 2\n\n"]) as server:
        watch()
        client = httpx.Client()

        def leave_and_collect() -> None:
            request = client.build_request("POST", server.url, json={})
            pieces = client.send(request, stream=True).iter_raw()
            left.append([next(pieces), pieces])
            left[0].append(left[0])  # as LiteLLM's objects: they hold each other
            del left[0], pieces
            with client._transport._pool._optional_thread_lock:  # type: ignore[attr-defined]
                gc.collect()

        thread = threading.Thread(target=leave_and_collect, daemon=True)
        thread.start()
        thread.join(10)
        assert not thread.is_alive()
        pool = client._transport._pool  # type: ignore[attr-defined]
        assert not any(each.is_idle() for each in pool.connections)
        assert client.post(server.url, json={}).text == "data: 1\n\ndata: 2\n\n"
        assert len(pool.connections) <= 1
        assert len(server.requests) == 2
        client.close()


def test_a_person_is_told_that_litellm_is_loading_and_a_pipe_is_not(tmp_path: Path) -> None:
    """Nothing moved for 15 seconds in a first cell."""
    (tmp_path / "litellm.py").write_text("import time\ntime.sleep(0.5)")
    code = "from playground.llm import library; library._SLOW = 0.1; library.litellm(); print(1)"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    outer, inner = pty.openpty()
    for errors in (inner, subprocess.PIPE):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=errors)
        assert (done.returncode, done.stdout, done.stderr or b"") == (0, b"1\n", b"")
    os.close(inner)
    assert os.read(outer, 1000).startswith(b"playground: loading LiteLLM")
    os.close(outer)
