"""Read LibreChat's export of a conversation: messages in a tree, or in a list with parent ids.

Each branch is a session with all messages from the root. Source: LibreChat's importers.js, its
message schema and the exports in its tests (2024 to 2026).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.base.findings import finding
from playground.nouns.messages import Part, ReasoningPart, Role, TextPart
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import (
    as_list,
    list_in,
    list_or_finding,
    mapping,
    object_in,
    text_of,
)
from playground.sessions.shapes.parts import read_parts
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source

_FIELDS: Final = ("messagesTree", "messages")


class LibreChat(SessionFormat):
    name = "librechat"
    title = "LibreChat export (JSON)"
    keeps = Keeps(times="yes", missing="the file has no tools; parts that are files are not read")

    def recognises(self, source: Source) -> bool:
        value = None if source.is_lines else source.document
        if not isinstance(value, dict) or "conversationId" not in value:
            return False
        messages = next((value[key] for key in _FIELDS if isinstance(value.get(key), list)), None)
        return any(isinstance(each, dict) and "isCreatedByUser" in each for each in messages or ())

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        value = object_in(source)
        field = "messagesTree" if isinstance(value.get("messagesTree"), list) else "messages"
        branches = list(_branches(list_in(source, field), Place(field=field)))
        title = str(value.get("title") or source.stem)
        options = mapping(value.get("options"))
        for number, branch in enumerate(branches, 1):
            name = title if number == 1 else f"{title} (branch {number})"
            builder = SessionBuilder(title=name)
            model = options.get("model")
            builder.set_metadata(name="librechat", session=value.get("conversationId"), model=model)
            if len(branches) > 1 and number == 1:
                words = f"the conversation has {len(branches)} branches"
                builder.findings.append(finding("other-branches", field, words))
            if system := text_of(options.get("promptPrefix")):
                where = Place(field="options.promptPrefix")
                builder.add_message("system", [TextPart(system)], where)
            for place, message in branch:
                _message(builder, message, place)
            yield builder


_CONTENT_FIELDS = {"text", "content", "files"}
_Branch = list[tuple[Place, Any]]


def _branches(messages: list[Any], place: Place) -> Iterator[_Branch]:
    """Yield the branches, the branch with the newest last message first."""
    placed = list(_flat(messages, place, ""))
    by_id = {str(each.get("messageId") or i): i for i, (_, each) in enumerate(placed)}
    parents = {str(each.get("parentMessageId")) for _, each in placed}
    ends = [key for key in by_id if key not in parents] or list(by_id)[-1:]
    ends.sort(key=lambda key: str(placed[by_id[key]][1].get("createdAt") or ""), reverse=True)
    for end in ends:
        branch: _Branch = []
        seen: set[str] = set()
        key = end
        while key in by_id and key not in seen:  # parents may form a circle
            seen.add(key)
            branch.append(placed[by_id[key]])
            key = str(placed[by_id[key]][1].get("parentMessageId"))
        yield branch[::-1]


def _flat(messages: list[Any], place: Place, parent: str) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield all messages of a tree; messages in `children` get their parent's id."""
    waiting = [(place.at(i), each, parent) for i, each in reversed(list(enumerate(messages)))]
    while waiting:
        where, message, parent_id = waiting.pop()
        if not isinstance(message, dict):
            message = {"text": None, "content": message}
        if parent_id:
            message = {**message, "parentMessageId": parent_id}
        yield where, message
        children = list(enumerate(as_list(message.get("children"))))
        own_id = str(message.get("messageId") or "")
        waiting += [(where.at("children", i), each, own_id) for i, each in reversed(children)]


def _message(builder: SessionBuilder, message: dict[str, Any], place: Place) -> None:
    role: Role = "user" if message.get("isCreatedByUser") else "assistant"
    content = message.get("content")
    parts = (
        [
            part
            for index, item in enumerate(content)
            for part in _part(builder, item, place.at("content", index))
        ]
        if isinstance(content, list) and content
        else read_parts(builder, message.get("text") or content, place.at("text"))
    )
    for index, file in enumerate(list_or_finding(builder, message.get("files"), place.at("files"))):
        builder.note_loss(f"a file: {str(file)[:60]}", place.at("files", index))
    if not parts:
        if not message.keys() & _CONTENT_FIELDS:
            builder.note_loss("a message without text or content", place)
        return
    start = len(builder.messages)
    add_with_results(builder, role, parts, place)
    if role == "assistant":
        model = message.get("model")
        builder.add_request(reply=start, model=model, at=message.get("createdAt"))


def _part(builder: SessionBuilder, item: Any, place: Place) -> list[Part]:
    match item:
        case {"type": "think", "think": str(text) | {"value": str(text)}}:
            return [ReasoningPart(text)] if text else []
        case {"type": "tool_call", "tool_call": dict(call)}:
            return _call(builder, call, place.at("tool_call"))
        case {"type": "error", "error": str(text)}:
            return [TextPart(text)]
        case {"type": "agent_update"}:
            return []
    return read_parts(builder, item, place)


def _call(builder: SessionBuilder, call: dict[str, Any], place: Place) -> list[Part]:
    """Return a call and its result. The Assistants API puts both under `function`."""
    inner = call["function"] if isinstance(call.get("function"), dict) else call
    arguments = inner.get("args", inner.get("arguments"))
    call_id = call.get("id") or builder.new_id()
    parts: list[Part] = [builder.call(call_id, inner.get("name"), arguments, place)]
    if (output := inner.get("output")) is not None:
        parts.append(builder.result(call_id, output))
    return parts
