"""Read complete (not streamed) replies without their requests: one, or the results of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.base.characters import replace_half_surrogates
from playground.nouns.messages import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from playground.parsing.values import dump_json
from playground.recordings.apis.openai_responses import FREE_CALLS
from playground.recordings.recording import (
    OF_PROVIDER,
    Chunk,
    ReasoningChunk,
    Recording,
    SignalChunk,
    TextChunk,
    ToolCallChunk,
)
from playground.sessions.building import Place, SessionBuilder, json_or_text
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.formats.chat_lines import rows
from playground.sessions.shapes.fields import listed, mapping
from playground.sessions.shapes.requests import read_reply
from playground.sessions.source import Source

# Paths of the reply in a batch's result (OpenAI and Groq; Anthropic), and in an HTTP answer.
_PATHS: Final = (("response", "body"), ("result", "message"), ("message",), ("body",))


class WholeReply(SessionFormat):
    name = "reply"
    title = "Whole (not streamed) reply of a chat API, or the results of a batch"
    keeps = Keeps(
        usage="yes", chunks="one for each part of a reply", missing="the file has no request"
    )

    def recognises(self, source: Source) -> bool:
        document = None if source.is_lines else source.document
        if isinstance(document, dict):
            results = [document, *listed(document.get("results"))]
            return _is_reply(document) or any(map(_inner_reply, results))
        entries = source.head if source.is_lines else document
        return any(_inner_reply(value) is not None for value in listed(entries))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        document = None if source.is_lines else source.value
        if isinstance(document, dict) and _is_reply(document):
            yield _session(source.stem, document, Place())
            return
        results = listed(mapping(document).get("results"))
        inner = [(Place(field=f"results.{i}"), value) for i, value in enumerate(results)]
        if _inner_reply(document) is not None:
            inner = [(Place(), document)]
        for number, (place, value) in enumerate(inner or rows(source), 1):
            name = mapping(value).get("custom_id") or number
            yield _session(f"{source.stem} {name}", _inner_reply(value) or {}, place)


def _session(title: str, reply: dict[str, Any], place: Place) -> SessionBuilder:
    builder = SessionBuilder(title=title)
    if read_reply(builder, reply, place):
        builder.recordings.append(_recording(builder, reply))
    else:
        builder.note_loss("no reply in it", place)
    return builder


def _recording(builder: SessionBuilder, reply: dict[str, Any]) -> Recording:
    """Return a recording of the reply that was read, to replay it: a chunk for each part."""
    parts = [part for message in builder.messages for part in message.parts]
    answered = {part.tool_call_id for part in parts if isinstance(part, ToolResultPart)}
    sent: dict[str, list[tuple[str, dict[str, Any]]]] = {}  # several, where calls share an id
    for call_id, arguments in _sent_arguments(reply):
        sent.setdefault(call_id, []).append(arguments)
    chunks: list[Chunk] = []
    for index, part in enumerate(parts):
        match part:
            case TextPart(text):
                chunks.append(TextChunk(text))
            case ReasoningPart(text):
                chunks.append(ReasoningChunk(text))
            case ToolCallPart(call_id, name, args):
                text, marks = sent[call_id].pop(0) if sent.get(call_id) else ("", {})
                function = {"name": name, "arguments": text or dump_json(args)}
                marks = {**marks, "server": True} if call_id in answered else marks
                delta = {"index": index, "id": call_id, "function": function}
                chunks.append(ToolCallChunk(delta | marks))
            case ToolResultPart(call_id, _, result):
                block = {"type": "tool_result", "tool_use_id": call_id, "content": result}
                chunks.append(SignalChunk(OF_PROVIDER + dump_json(block)))
            case _:
                chunks.append(SignalChunk(part.type))
    request = builder.requests[-1]
    error = builder.finite(reply.get("error"), Place(field="error"))
    recording = Recording(
        name=builder.title,
        dialect="native",
        chunks=tuple(chunks),
        model=request.model,
        note="Not streamed: a whole reply, with a chunk for each of its parts.",
        stop_reason="" if error else request.stop_reason,
        usage=request.usage,
        error=error if error is None or isinstance(error, dict) else {"message": str(error)},
    )
    return replace_half_surrogates(recording, "recordings", [])


def _sent_arguments(reply: dict[str, Any]) -> Iterator[tuple[str, tuple[str, dict[str, Any]]]]:
    """Yield for each call its id, its arguments ("" unless they are text), and the field that marks
    free text."""
    choice = mapping(next(iter(listed(reply.get("choices"))), reply))
    calls = listed(mapping(choice.get("message")).get("tool_calls"))
    for call in map(mapping, [*listed(reply.get("output")), *calls]):
        item = {**call, **mapping(call.get("custom") or call.get("function"))}
        text = item.get("arguments") or item.get("input") or item.get("code")
        text = text if isinstance(text, str) and text.strip() else ""
        is_free = text and call.get("type") in ("custom", *FREE_CALLS)
        arguments = text, {"type": "custom"} if is_free else {}
        yield str(call.get("call_id") or call.get("id") or ""), arguments


def _inner_reply(value: Any) -> dict[str, Any] | None:
    """Return the reply in a batch's result; None if it has none (a failed request)."""
    for path in _PATHS:
        found = value
        for step in path:
            found = json_or_text(found.get(step)) if isinstance(found, dict) else None
        if isinstance(found, dict) and (_is_reply(found) or _is_chat(found)):
            return found
    return None


def _is_reply(value: dict[str, Any]) -> bool:
    """Return True for a reply of Anthropic, OpenAI (chat, Responses), Bedrock or Cohere."""
    if "messages" in value:
        return False
    is_message = value.get("type") == "message" and value.get("role") == "assistant"
    is_chat = any("message" in mapping(choice) for choice in listed(value.get("choices")))
    if is_message or is_chat or (value.get("object") == "response" and "output" in value):
        return True
    inner, end = (
        (value, "finish_reason") if "message" in value else (value.get("output"), "stopReason")
    )
    message = inner.get("message") if isinstance(inner, dict) else None
    return end in value and isinstance(message, dict) and message.get("role") == "assistant"


def _is_chat(value: dict[str, Any]) -> bool:
    return "choices" in value or ("candidates" in value and "usageMetadata" in value)
