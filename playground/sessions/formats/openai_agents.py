"""The state of a run of OpenAI's Agents SDK, as `RunState.to_json` writes it.

https://openai.github.io/openai-agents-python: what was asked (`original_input`), the model's
responses, each with its usage, and the items that the run made, tools' outputs among them.
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
        usage="yes", missing="tools and instructions are not in it; approvals, guardrails, traces"
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
        responses = list(
            objects_or_findings(
                builder, state.get("model_responses"), Place(field="model_responses")
            )
        )
        made = _Made(builder, state, [response.get("output") for _, response in responses])
        for place, response in responses:
            _response(builder, response, place, made)
        for place, item in made.rest():  # what no response here holds
            read_message(builder, item, place)
        yield builder


_Entry = tuple[Place, dict[str, Any]]


class _Made:
    """The items that the run made, in order.

    They are the model's items, which its responses also hold, and outputs of tools, which they do
    not. An item is known by its call's id or its own; if several share theirs (with other APIs
    each message has the same one) or have none, by its content.
    """

    def __init__(self, builder: SessionBuilder, state: dict[str, Any], outputs: list[Any]) -> None:
        key = "generated_items" if state.get("generated_items") else "session_items"
        found: list[_Entry] = []
        for place, each in objects_or_findings(builder, state.get(key), Place(field=key)):
            item = each.get("raw_item")
            if isinstance(item, dict):
                is_told = not each.get("output") or bool(item.keys() & {"output", "result"})
                known = item if is_told else {**item, "output": each["output"]}
                found.append((place.at("raw_item"), known))
            else:
                builder.note_loss(
                    f"an entry of the type {each.get('type')!r} without its item", place
                )
        answered = [item for output in outputs for item in _objects(output)]
        self._shared = _several(answered) | _several([item for _, item in found])
        self._found = found
        self._waiting: dict[str, deque[int]] = {}  # numbers of those that nobody took
        for number, (_, item) in enumerate(found):
            self._waiting.setdefault(self._key(item), deque()).append(number)

    def again(self, item: dict[str, Any]) -> _Entry | None:
        """Return the same item among those that the run made, which is taken from them."""
        return self._taken(self._key(item))

    def output_of(self, call: dict[str, Any]) -> _Entry | None:
        """Take the output of a call's tool from the run's items."""
        is_call = not _is_output(call) and bool(_name(call))
        return self._taken(f"output of {_name(call)}") if is_call else None

    def rest(self) -> Iterator[_Entry]:
        """Return the items that nobody took, in the order of the run."""
        for number in sorted(chain.from_iterable(self._waiting.values())):
            yield self._found[number]

    def _key(self, item: dict[str, Any]) -> str:
        name = _name(item)
        if not name or (name in self._shared and not item.get("call_id")):
            return f"saying {dump_again(item)}"
        return f"output of {name}" if _is_output(item) else f"named {name}"

    def _taken(self, key: str) -> _Entry | None:
        waiting = self._waiting.get(key)
        return self._found[waiting.popleft()] if waiting else None


def _name(item: dict[str, Any]) -> str:
    return str(item.get("call_id") or item.get("id") or "")


def _is_output(item: dict[str, Any]) -> bool:
    return str(item.get("type")).endswith("_output")


def _several(items: list[dict[str, Any]]) -> set[str]:
    """Return the ids that several items have."""
    counts = Counter(_name(item) for item in items if not item.get("call_id"))
    return {name for name, count in counts.items() if count > 1}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in listed(value) if isinstance(each, dict)]


def _response(builder: SessionBuilder, response: dict[str, Any], place: Place, made: _Made) -> None:
    """Read one answer, and the outputs of the tools that it called."""
    where = place.at("output")
    items = list_or_finding(builder, response.get("output"), where)
    read_items(builder, items, where)
    if items:
        usage = mapping(response.get("usage"))
        builder.add_request(usage=usage if any(usage.values()) else None)
    for item in _objects(items):
        again = made.again(item)
        if again is not None and again[1] != item:
            builder.note_loss("an item that is another one in its response", again[0])
    for item in _objects(items):
        if output := made.output_of(item):
            read_message(builder, output[1], output[0])
