"""Read Goose's sessions: JSON lines after a head line (up to 1.9), or `goose session export`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.first_look import first_lines
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import read_lines
from playground.sessions.shapes.facts import add_answer_facts
from playground.sessions.shapes.fields import list_in, listed, mapping, object_in
from playground.sessions.shapes.messages import read_message
from playground.sessions.shapes.parts import note_left_out
from playground.sessions.source import Source

_COMPACTION_KINDS = ("conversationCompacted", "summarizationRequested")  # of parts of a message


class Goose(SessionFormat):
    name = "goose"
    title = "Goose session (lines, or `goose session export --format json`)"
    keeps = Keeps(
        times="yes",
        missing="the file has no tools and no system prompt; totals of tokens and confirmations "
        "are not read",
    )

    def recognises(self, source: Source) -> bool:
        if not source.is_lines:
            document = source.document
            return (
                isinstance(document, dict)
                and isinstance(document.get("conversation"), list)
                and ("working_dir" in document or "extension_data" in document)
            )
        lines = first_lines(source)
        return any("working_dir" in line and "role" not in line for line in lines[:1]) or any(
            part.get("type") in ("toolRequest", "toolResponse")
            for line in lines
            if isinstance(line.get("content"), list)
            for part in line["content"]
            if isinstance(part, dict)
        )

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        builder.set_metadata(name="goose")
        if source.is_lines:
            read_lines(source, builder, lambda value, place: _line(builder, value, place))
        else:
            _head(builder, object_in(source), Place())
            for index, message in enumerate(list_in(source, "conversation")):
                _line(builder, message, Place(field=f"conversation.{index}"))
        yield builder


def _head(builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
    note_left_out(builder, value, place, [k for k in value if str(k).endswith("_tokens")])
    builder.set_metadata(
        title=value.get("description") or value.get("name") or builder.title,
        model=mapping(value.get("model_config")).get("model_name"),
        session=value.get("id"),
    )


def _line(builder: SessionBuilder, value: Any, place: Place) -> None:
    if isinstance(value, dict) and "role" not in value and "working_dir" in value:
        _head(builder, value, place)
        return
    parts = listed(mapping(value).get("content"))
    rest = [part for part in parts if mapping(part).get("type") not in _COMPACTION_KINDS]
    if len(rest) < len(parts):
        builder.add_compaction(value.get("created"), place=place)
        if not rest:
            return
        value = {**value, "content": rest}
    start = len(builder.messages)
    read_message(builder, value, place)
    add_answer_facts(builder, start, value)
