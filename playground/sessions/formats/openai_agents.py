"""The state of a run of OpenAI's Agents SDK, as `RunState.to_json` writes it.

https://openai.github.io/openai-agents-python: what was asked (`original_input`), the model's
responses, each with its usage, and the items that the run made, tools' outputs among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import mapping, object_in, told_list, told_objects
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
        builder.known(name="openai-agents", session=state.get("conversation_id"))
        builder.purpose = f"agent: {agent}" if isinstance(agent, str) and agent else ""
        if state.get("original_input"):
            read_messages(builder, state["original_input"], Place(field="original_input"))
        made = _made(builder, state)
        for place, response in told_objects(
            builder, state.get("model_responses"), Place(field="model_responses")
        ):
            _response(builder, response, place, made)
        for place, item in made.values():  # what no response here holds
            read_message(builder, item, place)
        yield builder


_Key = tuple[str, bool]  # the id of a call or item, and whether it is a tool's output
_Made = dict[_Key, tuple[Place, dict[str, Any]]]


def _made(builder: SessionBuilder, state: dict[str, Any]) -> _Made:
    """What the run made, in order: the model's items, which its responses hold too, and outputs of
    tools, which they do not."""
    found: _Made = {}
    key = "generated_items" if state.get("generated_items") else "session_items"
    for place, each in told_objects(builder, state.get(key), Place(field=key)):
        item = each.get("raw_item")
        if isinstance(item, dict):
            is_told = not each.get("output") or bool(item.keys() & {"output", "result"})
            known = item if is_told else {**item, "output": each["output"]}
            found[_key(item, place)] = place.at("raw_item"), known
        else:
            builder.lost(f"an entry of the type {each.get('type')!r} without its item", place)
    return found


def _key(item: dict[str, Any], place: Place) -> _Key:
    is_output = str(item.get("type")).endswith("_output")
    return str(item.get("call_id") or item.get("id") or place), is_output


def _response(builder: SessionBuilder, response: dict[str, Any], place: Place, made: _Made) -> None:
    """One answer, and the outputs of the tools that it called."""
    where = place.at("output")
    items = told_list(builder, response.get("output"), where)
    read_items(builder, items, where)
    if items:
        usage = mapping(response.get("usage"))
        builder.request(usage=usage if any(usage.values()) else None)
    keys = []
    for index, item in enumerate(items):
        if isinstance(item, dict):
            keys.append(key := _key(item, where.at(index)))
            again = made.pop(key, None)
            if again is not None and again[1] != item:
                builder.lost("an item that is another one in its response", again[0])
    for name, is_output in keys:
        if not is_output and (name, True) in made:
            output_place, output = made.pop((name, True))
            read_message(builder, output, output_place)
