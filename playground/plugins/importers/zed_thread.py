"""Read Zed's agent threads as JSON, of version 0.3.0 and of earlier versions.

Zed stores threads compressed in a database; Zed itself and other tools export them as this JSON.
Source: Zed's crates agent/src/db.rs, thread.rs and legacy_thread.rs (2026).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.nouns.messages import Part, ReasoningPart, TextPart
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.message_order import last_answer
from playground.sessions.shapes.fields import list_in, list_or_finding, listed, mapping, object_in
from playground.sessions.shapes.messages import role_of
from playground.sessions.shapes.parts import read_parts, result_value
from playground.sessions.source import Source


class ZedThread(SessionFormat):
    name = "zed-thread"
    title = "Zed agent thread (JSON)"
    keeps = Keeps(
        usage="of version 0.3.0",
        missing="the file has no tools and no system prompt; only the last time is read; states of "
        "the project are not read",
    )

    def recognises(self, source: Source) -> bool:
        value = None if source.is_lines else source.document
        messages = listed(mapping(value).get("messages"))
        return any(_newer(each) is not None or _is_older(each) for each in messages)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        value = object_in(source)
        builder = SessionBuilder(title=source.stem)
        builder.set_metadata(
            name="zed",
            title=value.get("title") or value.get("summary"),
            model=mapping(value.get("model")).get("model"),
        )
        usages = value.get("request_token_usage")
        user_id = ""  # id of the last message by the user
        for index, message in enumerate(list_in(source, "messages")):
            place = Place(field=f"messages.{index}")
            newer = _newer(message)
            if newer is not None:
                kind, inner = newer
                user_id = str(inner.get("id") or "") if kind == "User" else user_id
                _newer_message(builder, kind, inner, place)
                if kind == "Agent" and isinstance(usages, dict):
                    _add_usage(builder, usages.get(user_id))
            elif _is_older(message):
                _older_message(builder, message, place)
            elif message != "Resume":
                builder.note_loss(f"a message of an unknown form: {str(message)[:60]}", place)
        yield builder


def _newer(message: Any) -> tuple[str, dict[str, Any]] | None:
    """Return a message's role and content, if it is of version 0.3.0, or else None."""
    match message:
        case {"User": dict(inner)} if len(message) == 1:
            return "User", inner
        case {"Agent": dict(inner)} if len(message) == 1:
            return "Agent", inner
    return None


def _is_older(message: Any) -> bool:
    return isinstance(message, dict) and (
        "segments" in message or {"role", "text", "tool_uses"} <= message.keys()
    )


def _add_usage(builder: SessionBuilder, usage: Any) -> None:
    """Add the usage of the last request after a user's message; Zed stores no other usage."""
    reply = last_answer(builder.messages)
    if not isinstance(usage, dict) or reply < 0 or builder.messages[reply].role != "assistant":
        return
    if builder.requests and builder.requests[-1].usage == usage:
        builder.requests.pop()  # the usage belongs to this later answer
    builder.add_request(reply=reply, usage=usage)


def _newer_message(
    builder: SessionBuilder, kind: str, message: dict[str, Any], place: Place
) -> None:
    content = message.get("content")
    parts = [
        part
        for index, item in enumerate(content if isinstance(content, list) else [content])
        for part in _part(builder, item, place.at("content", index))
    ]
    if parts:
        builder.add_message("assistant" if kind == "Agent" else "user", parts, place)
    results = message.get("tool_results")
    results = list(results.values()) if isinstance(results, dict) else results
    _results(builder, list_or_finding(builder, results, place.at("tool_results")), place)


def _part(builder: SessionBuilder, item: Any, place: Place) -> list[Part]:
    match item:
        case {"Text": str(text)}:
            return [TextPart(text)] if text else []
        case {"Thinking": {"text": str(text), **more}}:
            signature = more.get("signature")
            return [ReasoningPart(text, signature if isinstance(signature, str) else None)]
        case {"RedactedThinking": str(data)}:
            return [*read_parts(builder, {"type": "redacted_thinking", "data": data}, place)]
        case {"ToolUse": dict(call)}:
            arguments = call.get("input")
            arguments = call.get("raw_input") if arguments is None else arguments
            return [builder.call(call.get("id"), call.get("name"), arguments, place)]
        case {"Mention": {"content": str(text)}}:
            return [TextPart(text)]
        case {"Image": {"source": str(data)}}:
            image = {"type": "image", "source": {"data": data, "media_type": "image/png"}}
            return read_parts(builder, image, place)
        case {"text": _} | {"type": _}:
            return read_parts(builder, item, place)
    builder.note_loss(f"a part of an unknown form: {str(item)[:60]}", place)
    return []


def _older_message(builder: SessionBuilder, message: dict[str, Any], place: Place) -> None:
    """Read segments, calls and results of a message of an earlier version.

    A result belongs to a call of the same message. In a user's message, it belongs to a call of the
    previous answer.
    """
    parts: list[Part] = []
    segments = message.get("segments", message.get("text"))
    for index, segment in enumerate(segments if isinstance(segments, list) else [segments]):
        if isinstance(segment, dict) and segment.get("type") == "RedactedThinking":
            segment = {**segment, "type": "redacted_thinking"}
        parts += read_parts(builder, segment, place.at("segments", index))
    if isinstance(context := message.get("context"), str) and context:
        parts.append(TextPart(context))
    for index, use in enumerate(listed(message.get("tool_uses"))):
        call = {"type": "tool_use", **use} if isinstance(use, dict) else use
        parts += read_parts(builder, call, place.at("tool_uses", index))
    results = list_or_finding(builder, message.get("tool_results"), place.at("tool_results"))
    role = role_of(message) or "assistant"
    if role == "user":
        _results(builder, results, place)
    if parts:
        builder.add_message(role, parts, place)
    if role != "user":
        _results(builder, results, place)


def _results(builder: SessionBuilder, results: Any, place: Place) -> None:
    for index, result in enumerate(results):
        if not isinstance(result, dict):
            builder.note_loss(f"a result that is a {type(result).__name__}", place.at(index))
            continue
        content, name = _result_content(result.get("content")), result.get("tool_name")
        is_error = bool(result.get("is_error"))
        call_id = result.get("tool_use_id")
        part = builder.result(call_id, result_value(content), name, is_error=is_error)
        builder.add_message("tool", [part], place.at("tool_results"))


def _result_content(content: Any) -> Any:
    match content:
        case {"Text": str(text)}:
            return text
        case list():
            return [_result_content(item) for item in content]
    return content
