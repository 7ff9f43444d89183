"""A server on loopback with the APIs of OpenAI, Anthropic and Ollama, which needs no key.

It calls the first tool of a request, and answers once the assistant's last call has its result.
The model's name chooses the behaviour: `demo` calls natively, `demo-hermes` writes the call in that
dialect, `demo-error` breaks off with an error, `demo-cut` without an end, `demo-slow` is slow,
`demo-busy` refuses two requests, `demo-taught` answers in the dialect whose rules the request has.
Rates of mistakes may follow an `@` (`demo_mistakes.py`).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from typing import Any, Final

from playground.dialects import dialect_names, get_dialect
from playground.dialects.reading import parse
from playground.llm.demo_mistakes import Mistake, Mistakes, script_fault, spoiled_call
from playground.llm.demo_replies import event_frame, writers_of
from playground.nouns.messages import ToolCallPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata

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
    """A server that runs until `shutdown`. Text dialects call the first of `tools`; `delay` is in
    seconds."""

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

    @cached_property
    def rules(self) -> dict[str, str]:
        """Each dialect's rules for the tools, escaped as inside a JSON string."""
        data = PromptData(tool_metadata=list(self.tools))
        rules = {name: get_dialect(name).format_dialect_rules(data) for name in dialect_names()}
        return {
            name: json.dumps(text, ensure_ascii=False)[1:-1] for name, text in rules.items() if text
        }

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def serving(tools: Sequence[ToolMetadata] = (), delay: float = 0.0) -> Iterator[DemoServer]:
    """Run a demo server during a `with` block, and yield it; its `url` is a `base_url`.

    No model answers: a script calls the first tool with made-up arguments that fit its schema, and
    once it has the result it answers in words. `tools` are those that it calls in a text dialect.
    The model's name says how it behaves (for LiteLLM after `openai/`):

    - `demo-taught` calls in the dialect whose rules are in its prompt: the one for trials.
    - `demo` makes native calls alone, `demo-hermes` (or another dialect) always calls in hermes.
    - `demo-cut` and `demo-error` break off, `demo-slow` is slow, `demo-busy` first refuses twice.
    - `demo-taught@call=1+hermes.arguments=6+of=20` makes no call in one of twenty answers, and in
      hermes wrong arguments in six; `tool=1` calls the tool NAME as NAME_too, which no request has.
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
            self.close_connection = True  # nobody knows where the next request begins
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
        if mode == _TAUGHT:
            mode = _taught_dialect(body, self.server.rules)
        mistake = self.server.mistakes.next(mode, script, body)
        answer = _answer(mode, body, self.server.tools, mistake)
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


def _taught_dialect(body: dict[str, Any], rules: dict[str, str]) -> str:
    """Return the dialect whose rules the request contains; "" for native calls."""
    text_of_messages = json.dumps(body["messages"], ensure_ascii=False)
    known = [name for name, text in rules.items() if text in text_of_messages]
    return "" if body.get("tools") else max(known, key=lambda name: len(rules[name]), default="")


def _answer(
    mode: str, body: dict[str, Any], tools: Sequence[ToolMetadata], mistake: Mistake = ""
) -> dict[str, Any]:
    """Return reasoning, text and call of the answer to a request."""
    messages = body["messages"]
    wanted = (body.get("response_format") or {}).get("json_schema")
    if wanted:
        return {"reasoning": "", "text": json.dumps(_sample(wanted.get("schema")))}
    reasoning = "The user wants something that a tool can tell. "
    if _has_called(mode, messages, tools):
        return {"reasoning": "I have the result now.", "text": "Here is what I found. ✅"}
    if mode in ("", *_MODES):
        free = body.get("tool_choice") != "none"
        call = spoiled_call(_native_call(body.get("tools") or ()) if free else None, mistake)
        text = "I will look that up." if free else "I know that without looking."
        return {"reasoning": reasoning, "text": text, "call": call}
    tool = tools[0]
    call = spoiled_call({"name": tool.name, "arguments": _sample(tool.input_schema)}, mistake)
    dialect = get_dialect(mode)
    if dialect.is_native_toolcalling():
        return {"reasoning": "", "text": "I will look that up.", "call": call}
    part = ToolCallPart("call_1", call["name"], call["arguments"]) if call else None
    text = dialect.format_tool_call(part) if part else ""
    return {"reasoning": "", "text": f"I will look that up.\n{text}"}


def _has_called(
    mode: str, messages: Sequence[dict[str, Any]], tools: Sequence[ToolMetadata]
) -> bool:
    """Return True if the assistant's last turn has a call, and other messages follow that turn.

    They have the result. Each dialect writes results in its own way, and some without any mark.
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


def _native_call(offered: Sequence[Any]) -> dict[str, Any] | None:
    if not offered or not isinstance(offered[0], dict):
        return None
    function = offered[0].get("function") or offered[0]
    schema = function.get("parameters") or function.get("input_schema") or {}
    return {"name": str(function.get("name")), "arguments": _sample(schema)}


def _sample(schema: Any, depth: int = 0) -> Any:
    """Return a value that fits a schema; equal schemas get equal values."""
    match schema:
        case {"enum": [first, *_]}:
            return first
        case {"type": [kind, *_]} | {"type": kind}:
            pass
        case _:  # arguments are an object even if the schema does not say so
            kind = None if depth else "object"
    if kind == "object":
        return _sample_object(schema if isinstance(schema, dict) else {}, depth)
    values = {"integer": 3, "number": 2.5, "boolean": True, "array": [], "null": None}
    return values.get(str(kind), "Paris, “à la carte”")


def _sample_object(schema: dict[str, Any], depth: int) -> dict[str, Any]:
    """Return an object with the required fields, or with all fields if none is required. At most
    four objects are nested, because a schema may be recursive."""
    properties = schema.get("properties") or {}
    wanted = schema.get("required") or list(properties)
    return {key: _sample(properties.get(key), depth + 1) for key in wanted if depth < 4}
