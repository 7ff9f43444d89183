"""Recordings of replies that were not streamed, so that they can be replayed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.shapes.fields import listed, mapping
from playground.sessions.shapes.requests import read_reply


def recording_of_reply(reply: dict[str, Any], name: str) -> Recording | None:
    """Return a recording of a whole reply, or None if there is no message in it."""
    builder = SessionBuilder(title=name)
    return recording_of_parts(builder, reply) if read_reply(builder, reply, Place()) else None


def recording_of_parts(builder: SessionBuilder, reply: dict[str, Any]) -> Recording:
    """Return a recording of a reply, the only one in the builder: a chunk for each part."""
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
                kept = {"type": "tool_result", "tool_use_id": call_id, "content": result}
                chunks.append(SignalChunk(OF_PROVIDER + dump_json(kept)))
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
    """Yield the id of each call, its arguments ("" unless they are text), and the field by which a
    chunk marks arguments that are free text."""
    choice = mapping(next(iter(listed(reply.get("choices"))), reply))
    calls = listed(mapping(choice.get("message")).get("tool_calls"))
    for call in map(mapping, [*listed(reply.get("output")), *calls]):
        item = {**call, **mapping(call.get("custom") or call.get("function"))}
        text = item.get("arguments") or item.get("input") or item.get("code")
        text = text if isinstance(text, str) and text.strip() else ""
        is_free = text and call.get("type") in ("custom", *FREE_CALLS)
        arguments = text, {"type": "custom"} if is_free else {}
        yield str(call.get("call_id") or call.get("id") or ""), arguments
