"""Read lists of OpenAI's API: items, messages of a thread, stored chats, outputs of evaluations.

A page begins with its newest item unless the request asks for the other order. Pages that begin
with the newest item are read backwards. https://platform.openai.com/docs/api-reference
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.facts import add_answer_facts
from playground.sessions.shapes.fields import list_in, mapping
from playground.sessions.shapes.messages import read_message, read_messages, role_of
from playground.sessions.shapes.requests import read_items, read_reply
from playground.sessions.source import Source

_EVALUATION: Final = "eval.run.output_item"
_ITEM_ENDINGS: Final = ("_call", "_call_output", "reasoning", "message")


class OpenAILists(SessionFormat):
    name = "openai-lists"
    title = "List of OpenAI's API (items, threads, stored chats, evaluations)"
    keeps = Keeps(
        times="if entries have them", usage="yes", missing="grades of evaluations are not read"
    )

    def recognises(self, source: Source) -> bool:
        value = None if source.is_lines else source.document
        if not isinstance(value, dict) or value.get("object") != "list":
            return False
        data = value.get("data")
        return isinstance(data, list) and any(_is_reply(each) or _is_item(each) for each in data)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        data = list_in(source, "data")
        if not any(_is_reply(each) for each in data):
            yield _items(data, source.stem)
            return
        for index, value in enumerate(data):
            builder = SessionBuilder(title=f"{source.stem} {index + 1}")
            place = Place(field=f"data.{index}")
            if not isinstance(value, dict):
                builder.note_loss(f"an entry that is a {type(value).__name__}", place)
            elif value.get("object") == _EVALUATION:
                _evaluation(builder, value, place)
            elif not read_reply(builder, value, place):
                builder.note_loss("an entry without a reply", place)
            yield builder


def _is_reply(value: Any) -> bool:
    """Return True if an entry is a complete exchange or reply, which becomes a session."""
    kinds = ("chat.completion", "response", _EVALUATION)
    return isinstance(value, dict) and value.get("object") in kinds


def _is_item(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    is_of_thread = value.get("object") == "thread.message"
    return is_of_thread or str(value.get("type")).endswith(_ITEM_ENDINGS)


def _items(data: list[Any], title: str) -> SessionBuilder:
    builder = SessionBuilder(title=title)
    placed = [(Place(field=f"data.{index}"), value) for index, value in enumerate(data)]
    for place, value in reversed(placed) if _newest_first(data) else placed:
        start = len(builder.messages)
        read_message(builder, value, place)
        add_answer_facts(builder, start, value)
    return builder


def _newest_first(data: list[Any]) -> bool:
    """Return True if a page begins with the newest entry.

    The entries' times decide; without different times, a result before its call decides, or an
    answer at the beginning and none at the end.
    """
    objects = [value for value in data if isinstance(value, dict)]
    times = [value["created_at"] for value in objects if type(value.get("created_at")) is int]
    if len(times) > 1 and times[0] != times[-1]:
        return bool(times[0] > times[-1])
    call_ids: set[str] = set()
    for value in objects:
        kind = str(value.get("type"))
        if kind.endswith("_call"):
            call_ids.add(str(value.get("call_id")))
        elif kind.endswith("_call_output"):
            return str(value.get("call_id")) not in call_ids
    roles = [role_of(value) for value in objects if value.get("role")]
    return len(roles) > 1 and roles[0] == "assistant" and roles[-1] != "assistant"


def _evaluation(builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
    """Read one row of an evaluation's data: the model's input and output."""
    sample, where = mapping(value.get("sample")), place.at("sample")
    read_messages(builder, sample.get("input") or [], where.at("input"))
    start = len(builder.messages)
    output = sample.get("output")
    read_items(builder, output if isinstance(output, list) else [output], where.at("output"))
    add_answer_facts(builder, start, sample, value)
