"""Read JSON of an unknown format that holds lists of messages somewhere.

This format is tried last. Each list in which most entries have a role is a session; so is a
document that is one message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.base.findings import finding
from playground.base.wording import counted
from playground.sessions.building import Place, SessionBuilder, json_or_text
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.formats.chat_requests import looks_like_messages
from playground.sessions.places import numberless
from playground.sessions.shapes.facts import add_answer_facts
from playground.sessions.shapes.framework_chats import printed_calls
from playground.sessions.shapes.messages import read_message
from playground.sessions.source import Source

_DEPTH: Final = 5  # a list of messages nested more deeply is not looked for


class AnyChat(SessionFormat):
    name = "any-chat"
    title = "JSON with lists of messages in it, of any tool"
    keeps = Keeps(
        tools="next to the messages", times="yes", usage="yes", missing="other data is not read"
    )

    def recognises(self, source: Source) -> bool:
        values = source.head if source.is_lines else [source.document]
        return any(
            next(_chats(value, Place(), {}, 0), None) or _single_message(value) for value in values
        )

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        for number, (place, messages, holder) in enumerate(_chats_of(source), 1):
            builder = SessionBuilder(title=f"{source.stem} {number}")
            title, model = holder.get("title"), holder.get("model")
            builder.set_metadata(
                title=title if isinstance(title, str) else "",
                model=model if isinstance(model, str) else "",
            )
            system = holder.get("system") or holder.get("system_prompt")
            if isinstance(system, str) and system:
                read_message(builder, {"role": "system", "content": system}, place)
            if holder.get("tools"):
                builder.add_tools(holder["tools"], place.at("tools"))
            for index, message in enumerate(messages):
                start = len(builder.messages)
                if isinstance(message, dict) and (calls := printed_calls(message.get("content"))):
                    message = {**message, "role": "assistant", "content": "", "tool_calls": calls}
                read_message(builder, message, place.at(index))
                add_answer_facts(builder, start, message)
            if number == 1 and not source.is_lines:
                _report_unread(builder, source.value)
            yield builder


_Path = tuple[str | int, ...]
# fields next to a chat that are read
_READ_FIELDS: Final = {"title", "model", "system", "system_prompt", "tools"}
_MESSAGE_FIELDS: Final = frozenset({
    "role", "from", "content", "parts", "value", "text", "message", "body", "tool_calls",
    "toolCalls", "tool_call_id", "function_call", "reasoning", "reasoning_content", "thinking",
    "refusal", "usage", "attachments", "images", "files", "audio", "annotations", "citations",
})  # fmt: skip
_SHORTEST: Final = 24  # characters: shorter texts are not reported


def _report_unread(builder: SessionBuilder, document: Any) -> None:
    """Add findings for the texts and token counts of a document that are outside of its chats."""
    noted: dict[str, tuple[str, int, int]] = {}
    waiting: list[tuple[Any, _Path]] = [(document, ())]
    while waiting:
        value, path = waiting.pop()
        if isinstance(value, str) and len(value) >= _SHORTEST and " " in value:
            _note(noted, path, len(value))
        elif isinstance(value, int) and "token" in str(path[-1:]).lower():
            _note(noted, path[:-1], 0)
        else:
            waiting += _within(value, path)
    for name, (first, times, characters) in noted.items():
        size = f" of {characters:,} characters" if characters else ""
        message = f"{counted(times, 'text' if characters else 'count')}{size} at {name}"
        builder.findings.append(finding("not-in-session", first, message))


def _within(value: Any, path: _Path) -> Iterator[tuple[Any, _Path]]:
    """Yield the values inside a value, without the messages of chats; in reverse, for a stack."""
    if isinstance(value, dict):
        is_chat = any(map(looks_like_messages, value.values()))
        for name in reversed(value):
            if not (is_chat and name in _READ_FIELDS):
                yield value[name], (*path, name)
    elif isinstance(value, list):
        known = _MESSAGE_FIELDS if looks_like_messages(value) else None
        for index, item in reversed([*enumerate(value)]):
            if known is None:
                yield item, (*path, index)
            elif isinstance(item, dict):
                for name in [name for name in item if name not in known]:
                    yield item[name], (*path, index, name)


def _note(noted: dict[str, tuple[str, int, int]], path: _Path, characters: int) -> None:
    """Count in `noted` a text of so many characters, or a token count if `characters` is 0."""
    place = ".".join(map(str, path)) or "the file"
    first, times, before = noted.get(numberless(place), (place, 0, 0))
    noted[numberless(place)] = first, times + 1, before + characters


def _chats_of(source: Source) -> Iterator[tuple[Place, list[Any], dict[str, Any]]]:
    """Yield the chats of a document or of each line, as `_chats` does. For a line without a chat,
    yield None as its only message, which gives a finding when it is read."""
    if not source.is_lines:
        yield from list(_chats(source.value, Place(), {}, 0)) or _single_message(source.value)
        return
    for line, value in source.lines():
        chats = list(_chats(value, Place(line), {}, 0))
        yield from chats or [(Place(line), [None], {})]


def _single_message(value: Any) -> list[tuple[Place, list[Any], dict[str, Any]]]:
    """Return the chat of a document that is one message, or []."""
    is_message = isinstance(value, dict) and "content" in value and looks_like_messages([value])
    return [(Place(), [value], {})] if is_message else []


def _chats(
    value: Any, place: Place, holder: dict[str, Any], depth: int
) -> Iterator[tuple[Place, list[Any], dict[str, Any]]]:
    """Yield for every list of messages: its place, the list, and the object that holds it."""
    if depth > _DEPTH:
        return
    value = json_or_text(value)
    if isinstance(value, list):
        if looks_like_messages(value):
            yield place, value, holder
            return
        for index, item in enumerate(value):
            yield from _chats(item, place.at(index), holder, depth + 1)
    elif isinstance(value, dict):
        for key, field in value.items():
            yield from _chats(field, place.at(key), value, depth + 1)
