"""Zed's agent threads as JSON: of version 0.3.0, and as they were before (0.1, 0.2, without one).

Zed keeps them in a database, packed; it and its readers unpack them to this JSON.
Source: Zed's crates agent/src/db.rs, thread.rs and legacy_thread.rs (2026).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.nouns.messages import Part, ReasoningPart, TextPart
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.message_order import last_answer
from playground.sessions.shapes.fields import list_in, list_or_finding, object_in
from playground.sessions.shapes.messages import role_of
from playground.sessions.shapes.parts import read_parts, result_value
from playground.sessions.source import Source


class ZedThread(SessionFormat):
    name = "zed-thread"
    title = "Zed agent thread (JSON)"
    keeps = Keeps(
        usage="of version 0.3.0",
        missing="tools and system prompt are not in it; times but the last, states of the project",
    )

    def recognises(self, source: Source) -> bool:
        value = None if source.is_lines else source.document
        messages = value.get("messages") if isinstance(value, dict) else None
        if not isinstance(messages, list):
            return False
        return any(_newer(each) is not None or _is_older(each) for each in messages)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        value = object_in(source)
        builder = SessionBuilder(title=source.stem)
        model = value.get("model")
        builder.set_metadata(
            name="zed",
            title=value.get("title") or value.get("summary"),
            model=model.get("model") if isinstance(model, dict) else "",
        )
        usages = value.get("request_token_usage")
        asked = ""
        for index, message in enumerate(list_in(source, "messages")):
            place = Place(field=f"messages.{index}")
            newer = _newer(message)
            if newer is not None:
                kind, inner = newer
                asked = str(inner.get("id") or "") if kind == "User" else asked
                _newer_message(builder, kind, inner, place)
                if kind == "Agent" and isinstance(usages, dict):
                    _note_usage(builder, usages.get(asked))
            elif _is_older(message):
                _older_message(builder, message, place)
            elif message != "Resume":
                builder.note_loss(f"a message of an unknown form: {str(message)[:60]}", place)
        yield builder


def _newer(message: Any) -> tuple[str, dict[str, Any]] | None:
    """Return role and content of a message of version 0.3.0; None for another form."""
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


def _note_usage(builder: SessionBuilder, usage: Any) -> None:
    """The usage of the last request that a user's message led to; earlier ones are not kept."""
    reply = last_answer(builder.messages)
    if not isinstance(usage, dict) or reply < 0 or builder.messages[reply].role != "assistant":
        return
    if builder.requests and builder.requests[-1].usage == usage:
        builder.requests.pop()  # the message before was not the last one
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
    given = list(results.values()) if isinstance(results, dict) else results
    _results(builder, list_or_finding(builder, given, place.at("tool_results")), place)


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
    """Segments and calls of a speaker; results stand with the call's message or the one after."""
    parts: list[Part] = []
    segments = message.get("segments", message.get("text"))
    for index, segment in enumerate(segments if isinstance(segments, list) else [segments]):
        if isinstance(segment, dict) and segment.get("type") == "RedactedThinking":
            segment = {**segment, "type": "redacted_thinking"}
        parts += read_parts(builder, segment, place.at("segments", index))
    if isinstance(context := message.get("context"), str) and context:
        parts.append(TextPart(context))
    uses = message.get("tool_uses")
    for index, use in enumerate(uses if isinstance(uses, list) else ()):
        parts += read_parts(builder, {"type": "tool_use", **use}, place.at("tool_uses", index))
    results = list_or_finding(builder, message.get("tool_results"), place.at("tool_results"))
    user = role_of(message) == "user"
    if user:  # of the calls before what the user says
        _results(builder, results, place)
    if parts:
        builder.add_message(role_of(message) or "assistant", parts, place)
    if not user:
        _results(builder, results, place)


def _results(builder: SessionBuilder, results: Any, place: Place) -> None:
    for index, result in enumerate(results):
        if not isinstance(result, dict):
            builder.note_loss(f"a result that is a {type(result).__name__}", place.at(index))
            continue
        content = result.get("content")
        given = [_result_content(item) for item in content] if isinstance(content, list) else None
        given = _result_content(content) if given is None else given
        failed = bool(result.get("is_error"))
        name = result.get("tool_name")
        part = builder.result(result.get("tool_use_id"), result_value(given), name, is_error=failed)
        builder.add_message("tool", [part], place.at("tool_results"))


def _result_content(content: Any) -> Any:
    match content:
        case {"Text": str(text)}:
            return text
    return content
