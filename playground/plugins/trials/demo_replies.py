"""The demo model's replies in the forms of OpenAI, Anthropic and Ollama, streamed or complete.

A reply has `reasoning`, `text` and, if it calls tools, `calls` with names and arguments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

DemoReply = dict[str, Any]
_PIECE: Final = 4  # characters in a delta


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]


def _id(kind: str, index: int) -> str:
    return f"{kind}_demo{f'_{index + 1}' * bool(index)}"


def event_frame(name: str, value: Any) -> bytes:
    data = json.dumps(value, ensure_ascii=False)
    return (f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode()


def openai(model: str, reply: DemoReply) -> Iterator[bytes]:
    """Yield the server-sent events of a reply in OpenAI's Chat Completions."""

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        head = {"id": "chatcmpl-demo", "object": "chat.completion.chunk", "created": 0}
        return event_frame("", {**head, "model": model, "choices": [choice], **more})

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply["reasoning"]):
        yield chunk({"reasoning_content": piece})
    for piece in _pieces(reply["text"]):
        yield chunk({"content": piece})
    calls = reply.get("calls") or []
    for index, call in enumerate(calls):
        function = {"name": call["name"], "arguments": ""}
        first = {"index": index, "id": _id("call", index), "type": "function", "function": function}
        yield chunk({"tool_calls": [first]})
        for piece in _pieces(json.dumps(call["arguments"], ensure_ascii=False)):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    head = {"id": "chatcmpl-demo", "object": "chat.completion.chunk", "created": 0}
    yield event_frame("", {**head, "model": model, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def anthropic(model: str, reply: DemoReply) -> Iterator[bytes]:
    """Yield the server-sent events of a reply in Anthropic's Messages."""

    def event(kind: str, **more: Any) -> bytes:
        return event_frame(kind, {"type": kind, **more})

    usage = {"input_tokens": 100, "output_tokens": 1}
    message = {"id": "msg_demo", "type": "message", "role": "assistant", "content": []}
    start = {**message, "model": model, "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield event("message_start", message=start)
    yield event("ping")
    blocks: list[tuple[dict[str, Any], str, str, str]] = []
    if reply["reasoning"]:
        empty = {"type": "thinking", "thinking": "", "signature": ""}
        blocks.append((empty, "thinking_delta", "thinking", reply["reasoning"]))
    blocks.append(({"type": "text", "text": ""}, "text_delta", "text", reply["text"]))
    calls = reply.get("calls") or []
    for number, call in enumerate(calls):
        use = {"type": "tool_use", "id": _id("toolu", number), "name": call["name"], "input": {}}
        text = json.dumps(call["arguments"], ensure_ascii=False)
        blocks.append((use, "input_json_delta", "partial_json", text))
    for index, (block, kind, key, text) in enumerate(blocks):
        yield event("content_block_start", index=index, content_block=block)
        for piece in _pieces(text):
            yield event("content_block_delta", index=index, delta={"type": kind, key: piece})
        yield event("content_block_stop", index=index)
    stop = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={"output_tokens": 20})
    yield event("message_stop")


def ollama(model: str, reply: DemoReply) -> Iterator[bytes]:
    """Yield lines of JSON, the last one with the counts of tokens."""
    head = {"model": model, "created_at": "1970-01-01T00:00:00Z"}

    def line(message: dict[str, Any], **more: Any) -> bytes:
        full = {"role": "assistant", "content": "", **message}
        text = json.dumps({**head, "message": full, "done": False, **more}, ensure_ascii=False)
        return text.encode() + b"\n"

    for piece in _pieces(reply["reasoning"]):
        yield line({"thinking": piece})
    for piece in _pieces(reply["text"]):
        yield line({"content": piece})
    if calls := reply.get("calls"):
        yield line({"tool_calls": [{"function": call} for call in calls]})
    yield line({}, done=True, done_reason="stop", prompt_eval_count=100, eval_count=20)


def whole_openai(model: str, reply: DemoReply) -> dict[str, Any]:
    """Return the body of a whole reply."""
    message: dict[str, Any] = {"role": "assistant", "content": reply["text"]}
    if reply["reasoning"]:
        message["reasoning_content"] = reply["reasoning"]
    for index, call in enumerate(reply.get("calls") or ()):
        text = json.dumps(call["arguments"], ensure_ascii=False)
        function = {"name": call["name"], "arguments": text}
        whole = {"id": _id("call", index), "type": "function", "function": function}
        message.setdefault("tool_calls", []).append(whole)
    finish = "tool_calls" if reply.get("calls") else "stop"
    return {
        "id": "chatcmpl-demo",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def whole_anthropic(model: str, reply: DemoReply) -> dict[str, Any]:
    """Return the body of a whole reply."""
    content: list[dict[str, Any]] = []
    if reply["reasoning"]:
        content.append({"type": "thinking", "thinking": reply["reasoning"], "signature": ""})
    content.append({"type": "text", "text": reply["text"]})
    for index, call in enumerate(reply.get("calls") or ()):
        use = {"type": "tool_use", "id": _id("toolu", index), "name": call["name"]}
        content.append({**use, "input": call["arguments"]})
    return {
        "id": "msg_demo",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if reply.get("calls") else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


def whole_ollama(model: str, reply: DemoReply) -> dict[str, Any]:
    """Return the body of a whole reply."""
    message: dict[str, Any] = {"role": "assistant", "content": reply["text"]}
    if reply["reasoning"]:
        message["thinking"] = reply["reasoning"]
    if calls := reply.get("calls"):
        message["tool_calls"] = [{"function": call} for call in calls]
    counts = {"prompt_eval_count": 100, "eval_count": 20}
    head = {"model": model, "created_at": "1970-01-01T00:00:00Z"}
    return {**head, "message": message, "done": True, "done_reason": "stop", **counts}


Streamed = Callable[[str, DemoReply], Iterator[bytes]]
Whole = Callable[[str, DemoReply], dict[str, Any]]


def writers_of(path: str) -> tuple[Streamed, Whole]:
    """Return an API's two writers, for streamed and for complete replies; `path` shows the API."""
    if path.endswith("/messages"):
        return anthropic, whole_anthropic
    return (ollama, whole_ollama) if path.endswith("/api/chat") else (openai, whole_openai)
