"""Read Claude.ai's data export: `conversations.json`, a list of objects with `chat_messages`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.nouns.messages import Part, TextPart
from playground.plugins.importers.export_members import export_rows, first_row
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import list_or_finding, listed
from playground.sessions.shapes.messages import role_of
from playground.sessions.shapes.parts import read_parts
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source

_MARKS: Final = {"token_budget", "flag"}  # parts that only the interface uses


class ClaudeAiExport(SessionFormat):
    name = "claude-ai-export"
    title = "Claude.ai data export (conversations.json, or its zip)"
    keeps = Keeps(
        times="yes", missing="the file has no model, no tools and no usage; files are not read"
    )

    def recognises(self, source: Source) -> bool:
        first = first_row(source)
        return isinstance(first, dict) and isinstance(first.get("chat_messages"), list)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        for number, (place, value) in enumerate(export_rows(source), 1):
            builder = SessionBuilder(title=f"{source.stem} {number}")
            messages = value.get("chat_messages") if isinstance(value, dict) else None
            if isinstance(messages, list):
                builder.set_metadata(title=value.get("name"), model=value.get("model"))
                builder.set_metadata(name="claude.ai", session=value.get("uuid"))
                for index, message in enumerate(messages):
                    _message(builder, message, place.at("chat_messages", index))
            else:
                builder.note_loss("a conversation without messages", place)
            yield builder


def _message(builder: SessionBuilder, message: Any, place: Place) -> None:
    role = role_of(message) if isinstance(message, dict) else None
    if role is None:
        builder.note_loss("a message without a sender", place)
        return
    start = len(builder.messages)
    parts = _parts(builder, message, place)
    add_with_results(builder, role, parts, place)
    for index in range(start, len(builder.messages)):
        # the time is that of the first answer; the message may have others, after results
        if builder.messages[index].role == "assistant":
            builder.add_request(at=message.get("created_at"), reply=index)
            break


def _parts(builder: SessionBuilder, message: dict[str, Any], place: Place) -> list[Part]:
    parts: list[Part] = []
    content = message.get("content")
    for index, item in enumerate(list_or_finding(builder, content, place.at("content"))):
        if isinstance(item, dict) and str(item.get("type")) in _MARKS:
            continue
        where = place.at("content", index)
        if isinstance(item, dict) and item.get("type") in ("tool_use", "tool_result"):
            item = _with_id(builder, item)
        parts += read_parts(builder, item, where)
    if not parts:
        parts += read_parts(builder, message.get("text"), place.at("text"))
    for key in ("attachments", "files", "files_v2"):
        for index, file in enumerate(listed(message.get(key))):
            text = file.get("extracted_content") if isinstance(file, dict) else None
            if isinstance(text, str) and text:
                parts.append(TextPart(text))
            elif key != "files_v2":
                builder.note_loss(f"a file: {str(file)[:60]}", place.at(key, index))
    return parts


def _with_id(builder: SessionBuilder, item: dict[str, Any]) -> dict[str, Any]:
    """Return a call or result with an id. In older exports, which have no ids, a result follows its
    call."""
    if item["type"] == "tool_use":
        return item if item.get("id") else {**item, "id": builder.new_id()}
    if item.get("tool_use_id"):
        return item
    return {**item, "tool_use_id": builder.open_call(str(item.get("name") or ""))}
