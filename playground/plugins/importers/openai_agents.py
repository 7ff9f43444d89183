"""Read the state of a run of OpenAI's Agents SDK, as `RunState.to_json` writes it.

The file has the `original_input`, the model's responses with their usage, and the items of the
run, including the outputs of tools (https://openai.github.io/openai-agents-python).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from playground.base.json_numbers import dump_again
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import (
    list_or_finding,
    listed,
    mapping,
    object_in,
    objects_or_findings,
)
from playground.sessions.shapes.messages import read_message, read_messages
from playground.sessions.shapes.requests import read_items
from playground.sessions.source import Source

_MARKS: Final = {"$schemaVersion", "original_input", "model_responses", "generated_items"}


class OpenAIAgentsRun(SessionFormat):
    name = "openai-agents-run"
    title = "Run of OpenAI's Agents SDK (`RunState.to_json`)"
    keeps = Keeps(
        usage="yes",
        missing="the file has no tools and no instructions; approvals, guardrails and traces are "
        "not read",
    )

    def recognises(self, source: Source) -> bool:
        value = None if source.is_lines else source.document
        return isinstance(value, dict) and len(value.keys() & _MARKS) > 2

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        state = object_in(source)
        builder = SessionBuilder(title=source.stem)
        agent = mapping(state.get("current_agent")).get("name")
        builder.set_metadata(name="openai-agents", session=state.get("conversation_id"))
        builder.purpose = f"agent: {agent}" if isinstance(agent, str) and agent else ""
        if state.get("original_input"):
            read_messages(builder, state["original_input"], Place(field="original_input"))
        place = Place(field="model_responses")
        responses = list(objects_or_findings(builder, state.get(place.field), place))
        run_items = _RunItems(builder, state, [response.get("output") for _, response in responses])
        for place, response in responses:
            _response(builder, response, place, run_items)
        for place, item in run_items.remaining():
            read_message(builder, item, place)
        yield builder


_Entry = tuple[Place, dict[str, Any]]


class _RunItems:
    """The items of a run (answers of the model, outputs of tools) that match no response so far.

    An item is looked up by the id of its call, or by its own id. An item without an id is looked up
    by its content, and so is one whose id others have, too, as all messages do with some APIs.
    """

    def __init__(self, builder: SessionBuilder, state: dict[str, Any], outputs: list[Any]) -> None:
        key = "generated_items" if state.get("generated_items") else "session_items"
        found: list[_Entry] = []
        for place, each in objects_or_findings(builder, state.get(key), Place(field=key)):
            item = each.get("raw_item")
            if isinstance(item, dict):
                if each.get("output") and not item.keys() & {"output", "result"}:
                    item = {**item, "output": each["output"]}
                found.append((place.at("raw_item"), item))
            else:
                builder.note_loss(
                    f"an entry of the type {each.get('type')!r} without its item", place
                )
        of_responses = [item for output in outputs for item in _objects(output)]
        self._shared_ids = _shared_ids(of_responses) | _shared_ids([item for _, item in found])
        self._items = found
        self._waiting: dict[str, deque[int]] = {}  # key -> indexes of unmatched items
        for number, (_, item) in enumerate(found):
            self._waiting.setdefault(self._key(item), deque()).append(number)

    def take(self, item: dict[str, Any]) -> _Entry | None:
        """Remove and return the run's item that has the same key as an item of a response."""
        return self._pop(self._key(item))

    def take_output(self, call: dict[str, Any]) -> _Entry | None:
        """Remove and return the item with the output of a call; None if there is none."""
        is_call = not _is_output(call) and bool(_id(call))
        return self._pop(f"output of {_id(call)}") if is_call else None

    def remaining(self) -> Iterator[_Entry]:
        """Yield the items without a matching response, in the order of the run."""
        for number in sorted(chain.from_iterable(self._waiting.values())):
            yield self._items[number]

    def _key(self, item: dict[str, Any]) -> str:
        item_id = _id(item)
        if not item_id or (item_id in self._shared_ids and not item.get("call_id")):
            return f"content {dump_again(item)}"
        return f"output of {item_id}" if _is_output(item) else f"id {item_id}"

    def _pop(self, key: str) -> _Entry | None:
        waiting = self._waiting.get(key)
        return self._items[waiting.popleft()] if waiting else None


def _id(item: dict[str, Any]) -> str:
    return str(item.get("call_id") or item.get("id") or "")


def _is_output(item: dict[str, Any]) -> bool:
    return str(item.get("type")).endswith("_output")


def _shared_ids(items: list[dict[str, Any]]) -> set[str]:
    counts = Counter(_id(item) for item in items if not item.get("call_id"))
    return {item_id for item_id, count in counts.items() if count > 1}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in listed(value) if isinstance(each, dict)]


def _response(
    builder: SessionBuilder, response: dict[str, Any], place: Place, run_items: _RunItems
) -> None:
    """Read one answer, and the outputs of the tools that it called."""
    where = place.at("output")
    items = list_or_finding(builder, response.get("output"), where)
    read_items(builder, items, where)
    if items:
        usage = mapping(response.get("usage"))
        builder.add_request(usage=usage if any(usage.values()) else None)
    for item in _objects(items):
        run_item = run_items.take(item)
        if run_item is not None and run_item[1] != item:
            builder.note_loss("an item that differs from its copy in the response", run_item[0])
    for item in _objects(items):
        if output := run_items.take_output(item):
            read_message(builder, output[1], output[0])
