"""SWE-agent's and mini-swe-agent's trajectories; https://swe-agent.com/latest/usage/trajectories/."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import list_in, mapping, told_mapping
from playground.sessions.shapes.messages import read_message
from playground.sessions.source import Source


class SweAgent(SessionFormat):
    name = "swe-agent"
    title = "SWE-agent trajectory"
    keeps = Keeps(
        usage="no", missing="state of the environment, execution times; tools are not in it"
    )

    def recognises(self, source: Source) -> bool:
        document = source.document
        return (
            isinstance(document, dict)
            and isinstance(document.get("history"), list)
            and (source.suffix == ".traj" or "trajectory" in document)
        )

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        for index, message in enumerate(list_in(source, "history")):
            place = Place(field=f"history.{index}")
            read_message(builder, _with_id(message), place)
        info = told_mapping(builder, source.value.get("info"), Place(field="info"))
        if info.get("exit_status"):
            builder.purpose = f"exit status: {info['exit_status']}"
        yield builder


class MiniSweAgent(SessionFormat):
    name = "mini-swe-agent"
    title = "mini-swe-agent trajectory"
    keeps = Keeps(missing="costs; its one tool, the shell, is written as text")

    def recognises(self, source: Source) -> bool:
        document = source.document
        if isinstance(document, list):
            return source.name.endswith(".traj.json")
        return isinstance(document, dict) and "trajectory_format" in document

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem.removesuffix(".traj"))
        value = source.value
        place = Place(field="messages" if isinstance(value, dict) else "")
        messages = list_in(source, "messages") if isinstance(value, dict) else list_in(source)
        info = told_mapping(builder, mapping(value).get("info"), Place(field="info"))
        builder.known(name="mini-swe-agent", version=info.get("mini_version"))
        for index, message in enumerate(messages):
            read_message(builder, _with_id(message), place.at(index))
        yield builder


def _with_id(message: Any) -> Any:
    """A result names the calls that it answers in a list of one."""
    ids = message.get("tool_call_ids") if isinstance(message, dict) else None
    if isinstance(ids, list) and len(ids) == 1 and not message.get("tool_call_id"):
        return {**message, "tool_call_id": ids[0]}
    return message
