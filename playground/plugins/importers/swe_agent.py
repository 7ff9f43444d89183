"""Read trajectories of SWE-agent and mini-swe-agent.

https://swe-agent.com/latest/usage/trajectories/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.nouns.messages import Part
from playground.sessions.building import Place, SessionBuilder, text_part
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import (
    dict_or_finding,
    list_in,
    list_or_finding,
    listed,
    mapping,
    object_in,
    objects_or_findings,
    text_of,
)
from playground.sessions.shapes.messages import read_message
from playground.sessions.source import Source

_LAST: Final = 12  # the number of messages and steps at the end that are compared
_YAML: Final = (".yaml", ".yml")


class SweAgent(SessionFormat):
    name = "swe-agent"
    title = "SWE-agent trajectory"
    left_aside = {
        "replay_config": "settings of the agent",
        "info": "the outcome of the run: its patch, and files as the agent saw them",
        "environment": "settings of the environment",
    }
    keeps = Keeps(
        usage="no",
        missing="the file has no tools; environment states and execution times are not read",
    )

    def recognises(self, source: Source) -> bool:
        if source.suffix in _YAML:  # a demonstration made from a trajectory
            start = source.start(4096)
            return b"\nhistory:\n" in start and b"trajectory file:" in start
        document = source.document
        return (
            isinstance(document, dict)
            and isinstance(document.get("history"), list)
            and (source.suffix == ".traj" or "trajectory" in document)
        )

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        in_yaml = source.suffix in _YAML
        value = mapping(source.yaml) if in_yaml else object_in(source)
        history = list_or_finding(builder, value.get("history"), Place(field="history"))
        for index, message in enumerate(history):
            place = Place(field=f"history.{index}")
            read_message(builder, _with_id(message), place)
        _report_missing_steps(builder, value)
        info = dict_or_finding(builder, value.get("info"), Place(field="info"))
        if info.get("exit_status"):
            builder.purpose = f"exit status: {info['exit_status']}"
        yield builder


def _report_missing_steps(builder: SessionBuilder, value: dict[str, Any]) -> None:
    """Add a finding for each of the last steps whose answer or result is not in the history."""
    texts = [message.text for message in builder.messages[-_LAST:]]
    texts += [str(r.result) for m in builder.messages[-_LAST:] for r in m.tool_results]
    history = "\n".join(texts)
    steps = listed(value.get("trajectory"))
    for index, step in enumerate(steps[-_LAST:], max(0, len(steps) - _LAST)):
        for name in ("response", "observation") if isinstance(step, dict) else ():
            text = step.get(name)
            if isinstance(text, str) and text.strip() not in history:
                builder.note_loss(f"a step's {name}", Place(field=f"trajectory.{index}.{name}"))


class MiniSweAgent(SessionFormat):
    name = "mini-swe-agent"
    title = "mini-swe-agent trajectory"
    keeps = Keeps(missing="costs are not read; the only tool, the shell, is written as text")

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
        info = dict_or_finding(builder, mapping(value).get("info"), Place(field="info"))
        builder.set_metadata(name="mini-swe-agent", version=info.get("mini_version"))
        for index, message in enumerate(messages):
            read_message(builder, _with_id(message), place.at(index))
        yield builder


class SweAgentDemo(SessionFormat):
    name = "swe-agent-demo"
    title = "SWE-agent's trajectories for its demonstration (web_trajs.json)"
    keeps = Keeps(
        missing="the file has no tools, actions are text; patch and test outcome are not read"
    )

    def recognises(self, source: Source) -> bool:
        document = source.document
        return isinstance(document, list) and any(map(_is_demo, document[:1]))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        for index, value in enumerate(list_in(source)):
            builder = SessionBuilder(title=f"{source.stem} {index + 1}")
            place = Place(field=str(index))
            run = dict_or_finding(builder, value, place)
            builder.set_metadata(
                title=run.get("instance_id"), model=run.get("model"), name="swe-agent"
            )
            if issue := text_of(run.get("issue_text")):
                builder.add_message("user", [text_part(issue)], place.at("issue_text"))
            steps = objects_or_findings(builder, run.get("history"), place.at("history"))
            for where, step in steps:
                _step(builder, step, where)
            yield builder


_STEPS: Final = {"thought", "action", "output"}


def _is_demo(value: Any) -> bool:
    steps = value.get("history") if isinstance(value, dict) else None
    first = steps[0] if isinstance(steps, list) and steps else None
    return isinstance(first, dict) and first.get("type") in _STEPS and "role" not in first


def _step(builder: SessionBuilder, step: dict[str, Any], place: Place) -> None:
    """Read a step. A thought and the action after it are one answer; the output is the action's
    result."""
    kind, last = step.get("type"), builder.messages[-1] if builder.messages else None
    if kind == "output":
        fields = {name: field for name, field in step.items() if name != "type" and field}
        result = fields.get("output_terminal", "") if len(fields) < 2 else fields
        builder.add_message("tool", [builder.result(builder.open_call(), result or fields)], place)
    elif kind in ("thought", "action"):
        text = text_of(step.get(kind))
        parts: list[Part] = [text_part(text)] if text and kind == "thought" else []
        if kind == "action":
            parts = [builder.call(builder.new_id(), "action", {"command": text}, place)]
        if last is not None and last.role == "assistant" and not last.tool_calls:
            builder.add_parts(parts)
        elif parts:
            builder.add_message("assistant", parts, place)
    else:
        builder.note_loss(f"a step of type {kind!r}", place)


def _with_id(message: Any) -> Any:
    """Return a message with its call's id in `tool_call_id` if `tool_call_ids` lists only that id;
    otherwise return it unchanged."""
    ids = message.get("tool_call_ids") if isinstance(message, dict) else None
    if isinstance(ids, list) and len(ids) == 1 and not message.get("tool_call_id"):
        return {**message, "tool_call_id": ids[0]}
    return message
