"""A server on loopback with the APIs of OpenAI, Anthropic and Ollama, which needs no key.

It calls a tool as the user's words say (`demo_calls.py`), and answers in words once it has the
result. The model's name chooses the behaviour: `demo` calls natively, `demo-hermes` writes the call
in that dialect, `demo-error` breaks a stream off with an error, `demo-cut` without one, `demo-slow`
streams slowly, `demo-busy` refuses two requests, `demo-taught` answers in the dialect whose rules
the request has. Rates of mistakes may follow an `@` (`demo_mistakes.py`).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from typing import Any, Final

from playground.base.arguments import takes
from playground.base.errors import InputFault
from playground.dialects import dialect_names, get_dialect
from playground.dialects.reading import parse
from playground.nouns.messages import Message, TextPart, ToolCallPart
from playground.nouns.tool_formats import read_tools
from playground.nouns.tools import ToolMetadata
from playground.plugins.trials.demo_calls import sample, scripted_calls
from playground.plugins.trials.demo_mistakes import Mistake, Mistakes, script_fault, spoiled_calls
from playground.plugins.trials.demo_prompts import documented_tools, prompt_of, taught_dialect
from playground.plugins.trials.demo_replies import event_frame, writers_of

_WEATHER: Final = ToolMetadata(
    name="get_weather",
    description="The weather of a city.",
    input_schema={
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
)


_MODES: Final = ("error", "cut", "slow", "busy")
_TAUGHT: Final = "taught"


class DemoServer(ThreadingHTTPServer):
    """A server that runs until `shutdown`. For prompts in text dialects that document no tool, it
    calls one of `tools` (by default `get_weather`). `delay` is the time between two pieces of a
    stream, in seconds."""

    daemon_threads = True

    def __init__(
        self, port: int = 0, tools: Sequence[ToolMetadata] = (), delay: float = 0.02
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.tools = tuple(tools) or (_WEATHER,)
        self.delay = delay
        self.sent: list[list[bytes]] = []  # the pieces of every answer
        self.refusals = 0
        self.mistakes = Mistakes()

    def __repr__(self) -> str:
        return f"DemoServer({self.url!r})"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


def started(tools: Sequence[ToolMetadata]) -> DemoServer:
    """Return a server that answers until the process ends."""
    server = DemoServer(tools=tools)
    threading.Thread(target=server.serve_forever, daemon=True, name="scripted answers").start()
    return server


@takes(tools="list", delay=(int, float))
@contextmanager
def serving(tools: Sequence[ToolMetadata] = (), delay: float = 0.0) -> Iterator[DemoServer]:
    """Run a demo server during a `with` block, and yield it; its `url` is a `base_url`.

    No model answers: a script calls the tool that shares most words with the user's last message.
    The arguments fit the tool's schema: they are names ("Brest"), quotes and numbers of the
    message, in order; missing ones are made up. For names in a row ("Brest and Calais"), it makes a
    call for each. Once the server gets the result, it answers in words. In text dialects it calls
    the tools that the prompt documents, and one of `tools` if it documents none. The model's name
    (for LiteLLM after `openai/`) sets the behaviour:

    - `demo-taught` calls in the dialect whose rules are in its prompt: the one for trials.
    - `demo` makes only native calls, `demo-hermes` (or another dialect) always calls in hermes.
    - `demo-cut` and `demo-error` break off a stream, `demo-slow` is slow, `demo-busy` refuses
      twice.
    - `demo-taught@call=1+hermes.arguments=6+of=20` makes mistakes. After the `@` stand, in any
      order, numbers of wrong answers joined by `+`: `call` are answers without a call, `tool` with
      an unknown tool (NAME_too), `arguments` with wrong arguments. A number that begins with a
      dialect's name is for that dialect alone. `of` is the number of answers that are counted (by
      default 10). So of 20 answers to a request, the first has no call, and in hermes the next six
      have wrong arguments.
    """
    with DemoServer(tools=tools, delay=delay) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def _is_request(body: Any) -> bool:
    """Return True if a body has all parts of a request that an answer needs."""
    if not isinstance(body, dict) or "model" not in body:
        return False
    messages, tools = body.get("messages"), body.get("tools") or []
    if not isinstance(messages, list) or not isinstance(tools, list):
        return False
    return all(isinstance(item, dict) for item in (*messages, *tools))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: DemoServer

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: the terminal belongs to the user."""

    def do_GET(self) -> None:  # http.server's name
        names = ["demo", *(f"demo-{name}" for name in (*_MODES, *dialect_names()))]
        self._json(200, {"object": "list", "data": [{"id": n, "object": "model"} for n in names]})

    def do_POST(self) -> None:
        try:
            size = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(max(0, size)))
        except (ValueError, RecursionError):
            body = None
            self.close_connection = True  # the next request may begin anywhere
        if not _is_request(body):
            self._json(400, {"error": {"message": "the body must be JSON with model and messages"}})
            return
        model = str(body["model"])
        name, _, script = model.rpartition("/")[2].partition("@")
        mode = name.removeprefix("demo").strip("-")
        if mode and mode not in (*_MODES, _TAUGHT, *dialect_names()):
            known = ", ".join(["demo", *(f"demo-{name}" for name in (*_MODES, _TAUGHT, "DIALECT"))])
            message = f"no model {model!r}; known: {known}"
            self._no_model(message)
            return
        if wrong := script_fault(script):
            self._no_model(f"no model {model!r}: {wrong}")
            return
        if mode == "busy" and self._is_first_refusal():
            self._json(503, {"error": {"message": "the demo model is busy", "type": "overloaded"}})
            return
        prompt = prompt_of(body)
        if mode == _TAUGHT:
            mode = "" if body.get("tools") else taught_dialect(prompt)
        mistake = self.server.mistakes.next(mode, script, body)
        answer = _answer(mode, body, documented_tools(prompt) or self.server.tools, mistake)
        streamed, whole = writers_of(self.path)
        if body.get("stream", self.path.endswith("/api/chat")):
            self._stream(list(streamed(model, answer)), mode)
        else:
            self._json(200, whole(model, answer))

    def _no_model(self, message: str) -> None:
        self._json(404, {"error": {"message": message, "type": "not_found_error"}})

    def _is_first_refusal(self) -> bool:
        """Return True if this request is one of the first two for the busy model."""
        self.server.refusals += 1
        return self.server.refusals <= 2

    def _json(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, frames: list[bytes], mode: str) -> None:
        if mode == "cut":
            frames = frames[: len(frames) // 2]
        if mode == "error":
            error = {"error": {"message": "the demo model fails here", "type": "server_error"}}
            frames = [*frames[: len(frames) // 2], event_frame("error", error)]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        sent: list[bytes] = []
        self.server.sent.append(sent)
        delay = 0.2 if mode == "slow" else self.server.delay
        try:
            for frame in frames:
                self.wfile.write(frame)
                self.wfile.flush()
                sent.append(frame)
                if delay:
                    time.sleep(delay)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client has hung up


def _answer(
    mode: str, body: dict[str, Any], tools: Sequence[ToolMetadata], mistake: Mistake = ""
) -> dict[str, Any]:
    """Return the reasoning, the text and the calls of the answer to a request."""
    messages = body["messages"]
    wanted = (body.get("response_format") or {}).get("json_schema")
    if wanted:
        return {"reasoning": "", "text": json.dumps(sample(wanted.get("schema")))}
    reasoning = "The user wants something that a tool can tell. "
    if _has_called(mode, messages, tools):
        return {"reasoning": "I have the result now.", "text": "Here is what I found. ✅"}
    if mode in ("", *_MODES):
        may_call = body.get("tool_choice") != "none"
        offered = _offered(body.get("tools") or ()) if may_call else []
        one_only = body.get("parallel_tool_calls") is False
        calls = spoiled_calls(scripted_calls(offered, messages), mistake)
        calls = calls[:1] if one_only else calls
        text = "I will look that up." if may_call else "I know that without looking."
        return {"reasoning": reasoning, "text": text, "calls": calls}
    calls = spoiled_calls(scripted_calls(tools, messages), mistake)
    dialect, text = get_dialect(mode), "I will look that up."
    if dialect.is_native_toolcalling():
        return {"reasoning": "", "text": text, "calls": calls}
    parts = (ToolCallPart(f"call_{i}", c["name"], c["arguments"]) for i, c in enumerate(calls, 1))
    said = dialect.format_history_item(Message("assistant", (TextPart(f"{text}\n"), *parts)), tools)
    return {"reasoning": "", "text": said["content"] if said else text}


def _offered(tools: Sequence[Any]) -> list[ToolMetadata]:
    """Return the tools of a request that can be read, of any provider's form."""
    with suppress(InputFault):
        return read_tools(tools)
    return []


def _has_called(
    mode: str, messages: Sequence[dict[str, Any]], tools: Sequence[ToolMetadata]
) -> bool:
    """Return True if the assistant's last turn has a call, and other messages follow that turn.

    These messages have the result, which is not searched for, because some dialects write it
    without markers.
    """
    turns = [
        (is_reply, list(turn))
        for is_reply, turn in groupby(messages, lambda each: each.get("role") == "assistant")
    ]
    if len(turns) < 2 or turns[-1][0]:
        return False
    return any(_has_call(mode, message, tools) for message in turns[-2][1])


def _has_call(mode: str, message: dict[str, Any], tools: Sequence[ToolMetadata]) -> bool:
    content = message.get("content") or ""
    blocks = [{"text": content}] if isinstance(content, str) else content
    blocks = [block for block in blocks if isinstance(block, dict)]
    if message.get("tool_calls") or any(block.get("type") == "tool_use" for block in blocks):
        return True
    text = "".join(str(block.get("text", "")) for block in blocks)
    return mode in dialect_names() and bool(parse(text, mode, tools=tools).tool_calls)
