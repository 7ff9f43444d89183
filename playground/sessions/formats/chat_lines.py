"""Read JSON lines of chats: a conversation in each line (fine-tuning), or a message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from playground.base.findings import finding
from playground.nouns.messages import Part, Role, ToolResultPart
from playground.nouns.tools import ToolMetadata
from playground.sessions.building import Place, SessionBuilder, json_or_text
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.formats.chat_requests import looks_like_messages, read_body
from playground.sessions.lines import read_lines
from playground.sessions.shapes.facts import add_answer_facts
from playground.sessions.shapes.messages import (
    merge_reasoning,
    read_message,
    read_messages,
    role_of,
)
from playground.sessions.shapes.parts import read_parts
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source

# fields of a row that may have its messages
BODIES: Final = ("messages", "contents", "chosen_messages", "input", "prompt")


class FineTuning(SessionFormat):
    name = "openai-lines"
    title = "Chats in rows: a conversation in each line or list entry (fine-tuning, logs)"
    keeps = Keeps(tools="yes", usage="of a reply in the row", missing="weights are not read")
    session_per_line = True

    def recognises(self, source: Source) -> bool:
        rows = source.head if source.is_lines else source.document
        return isinstance(rows, list) and bool(rows) and _is_row(rows[0])

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        known_tools: dict[bytes, list[tuple[int, ToolMetadata]]] = {}
        for place, value in rows(source):
            number = place.line if place.line is not None else place.field
            own_title = value.get("title") if isinstance(value, dict) else None
            builder = SessionBuilder(f"{source.stem} line {number}", known_tools=known_tools)
            builder.set_metadata(title=own_title if isinstance(own_title, str) else "")
            if _is_row(value):
                read_row(builder, value, place)
            else:
                builder.findings.append(finding("mixed-formats", str(place)))
            del value  # the row may be large, and the session is built
            yield builder


def _is_row(value: Any) -> bool:
    """Return True if a row holds a conversation, or is a list of messages."""
    if isinstance(value, list):
        return looks_like_messages(value)
    if not isinstance(value, dict):
        return False
    match value.get("messages"):
        case [{"role": "system" | "user" | "assistant", "content": str()}, *_]:  # most rows
            return True
    is_pair = isinstance(value.get("prompt"), str) and isinstance(value.get("completion"), str)
    return is_pair or any(looks_like_messages(_messages(value, key)) for key in BODIES)


def _messages(value: dict[str, Any], key: str) -> Any:
    """Return the messages under a key. In files of preferences, the key's value may be a request's
    body that holds the messages."""
    found = json_or_text(value.get(key))
    return found.get("messages") if isinstance(found, dict) else found


def read_row(builder: SessionBuilder, value: Any, place: Place) -> None:
    """Read a row's conversation. If it has two answers, read the one that was preferred."""
    if isinstance(value, dict):
        value = {**value, **_inner_request(value)}
        for key in _REJECTED & value.keys():
            builder.note_loss("the answer that was not chosen", place.at(key))
        if "chosen_messages" in value:
            value["messages"] = value["chosen_messages"]
    read_body(builder, value, place)
    answer = next((value[k] for k in _CHOSEN if value.get(k)), None) if _is_pair(value) else None
    if answer is not None:
        messages = (
            answer if isinstance(answer, list) else [{"role": "assistant", "content": answer}]
        )
        read_messages(builder, messages, place.at("answer"))


_CHOSEN: Final = ("chosen", "preferred_output", "output")  # fields with the preferred answer
_REJECTED: Final = {"rejected", "rejected_messages", "non_preferred_output"}  # … with the other one


def _inner_request(value: dict[str, Any]) -> dict[str, Any]:
    """Return the request's body that a row has under `input`, or else an empty object."""
    body = value.get("input")
    return body if isinstance(body, dict) and "messages" in body else {}


def _is_pair(value: Any) -> bool:
    """Return True if a row has a prompt, and may have a chosen answer, but no complete response."""
    if not isinstance(value, dict) or "choices" in value or "response" in value:
        return False
    if isinstance(value.get("output"), list) and "input" in value:
        return False
    return any(key in value for key in ("prompt", "input")) and "completion" not in value


def rows(source: Source) -> Iterator[tuple[Place, Any]]:
    """Yield each line of a file, or entry of its list, or its document, with its place."""
    if source.is_lines:
        for line, value in source.lines():
            yield Place(line), value
        return
    value = source.value
    for index, item in enumerate(value if isinstance(value, list) else [value]):
        yield Place(field=str(index)), item


class MessageLines(SessionFormat):
    name = "message-lines"
    title = "One message, or one part of a message, in each line (any tool)"
    keeps = Keeps(
        tools="in a line of their own",
        times="yes",
        usage="yes",
        missing="fields next to a line's message are not read, except facts about the answer",
    )

    def recognises(self, source: Source) -> bool:
        lines = source.head if source.is_lines else source.document
        return isinstance(lines, list) and any(_inner(value) is not None for value in lines)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        read_lines(source, builder, lambda value, place: _line(builder, value, place))
        yield builder


def _line(builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
    """Read a line: a message, a part of a message, or facts about the whole session."""
    found = _inner(value)
    if found is None:
        _add_session_facts(builder, value, place)
        return
    message, key = found
    start = len(builder.messages)
    where = place.at(key) if key else place
    if role_of(message) is not None:
        read_message(builder, message, where)
        add_answer_facts(builder, merge_reasoning(builder, start), message, value)
        return
    parts = read_parts(builder, message, where)
    role: Role = "tool" if any(isinstance(p, ToolResultPart) for p in parts) else "assistant"
    if role == "assistant" and builder.messages and builder.messages[-1].role == "assistant":
        builder.add_parts(parts)
    elif parts:
        add_with_results(builder, role, parts, where)
        add_answer_facts(builder, start, message, value)


def _add_session_facts(builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
    model = value.get("model") or value.get("modelId") or value.get("model_id")
    builder.set_metadata(
        title=value.get("title") if isinstance(value.get("title"), str) else "",
        model=model if isinstance(model, str) else "",
        version=value.get("version") if isinstance(value.get("version"), str) else "",
    )
    system = value.get("system_prompt") or value.get("systemPrompt")
    if isinstance(system, str) and system:
        parts: list[Part] = read_parts(builder, system, place)
        builder.add_message("system", parts, place)
    if isinstance(value.get("tools"), list):
        builder.add_tools(value["tools"], place.at("tools"))


_ENVELOPES: Final = ("message", "payload", "data", "item", "event", "raw", "msg")
_CONTENT: Final = ("content", "parts", "text", "value", "tool_calls", "toolCalls", "toolRequests")
_PART_KINDS: Final = (
    "tool_use",
    "tool_call",
    "tool_result",
    "function_call",
    "thinking",
    "reasoning",
)


def _inner(value: Any) -> tuple[dict[str, Any], str] | None:
    """Return the message or part in a line, and its field ("" for the line itself); or None."""
    if not isinstance(value, dict):
        return None
    return (
        _under_message(value)
        or _first_fitting(value, _is_message)
        or (_is_whole_message(value) and (value, ""))
        or _first_fitting(value, _is_part)
        or None
    )


def _under_message(value: dict[str, Any]) -> tuple[dict[str, Any], str] | None:
    message = value.get("message")
    if not isinstance(message, dict):
        return None
    if "role" in value:
        return {**message, "role": value["role"]}, "message"
    if message.get("content") is not None and role_of(message) is not None:
        return message, "message"
    return None


def _is_whole_message(value: dict[str, Any]) -> bool:
    """Return True if a line is itself a message whose type is its role. The text is next to the
    type or, in LangChain's form, in `data`."""
    if role_of(value) is None:
        return False
    data = value.get("data")
    inside = isinstance(data, dict) and "content" in data
    texts = (value.get(key) for key in ("message", "content", "text"))
    return inside or any(isinstance(text, str | list) and text for text in texts)


def _first_fitting(
    value: dict[str, Any], fits: Callable[[dict[str, Any]], bool]
) -> tuple[dict[str, Any], str] | None:
    """Return the line, or the first object in it, for which `fits` is True, with its field."""
    for key in ("", *_ENVELOPES):
        found = value.get(key) if key else value
        if isinstance(found, dict) and fits(found):
            return found, key
    return None


def _is_message(line: dict[str, Any]) -> bool:
    if role_of(line) is None:
        return False
    return any(line.get(key) is not None for key in _CONTENT) or role_of(line) == "tool"


def _is_part(line: dict[str, Any]) -> bool:
    kind = line.get("type")
    return isinstance(kind, str) and (
        kind in _PART_KINDS or kind.endswith(("_call", "_output", "_tool_use", "_tool_result"))
    )
