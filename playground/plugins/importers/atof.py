"""Read events in the Agent Trajectory Observability Format (ATOF) of NeMo Relay and Hermes.

A scope has two events, for its beginning and its end. Scopes of the category `llm` have a model's
input and output; scopes of `tool` have a call's arguments and result.
https://docs.nvidia.com/nemo/relay (version 0.1)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from playground.base.findings import finding
from playground.plugins.importers.model_calls import turn_of
from playground.plugins.importers.shapes.spans import seconds_between
from playground.plugins.importers.shapes.turns import Turn, read_turns
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.first_look import first_lines
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import mapping, text_of
from playground.sessions.shapes.parts import result_value
from playground.sessions.source import Source
from playground.sessions.times import utc_time


class Atof(SessionFormat):
    name = "atof"
    title = "Events of an agent (ATOF: NeMo Relay, Hermes)"
    keeps = Keeps(
        tools="yes",
        times="yes",
        usage="if the outputs have it",
        missing="marks, scopes of agents and headers are not read",
    )

    def recognises(self, source: Source) -> bool:
        return any("atof_version" in line for line in first_lines(source))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        log = _Log({}, Counter())
        for line, value in source.lines():
            log.event(value, Place(line))
        scopes = sorted(log.scopes.values(), key=lambda scope: scope.at)
        turns = [_turn(scope) for scope in scopes if scope.category == "llm"]
        turns = [turn for turn in turns if turn.before or turn.after]
        sessions = list(read_turns(turns, source.stem)) or [SessionBuilder(title=source.stem)]
        _add_results(sessions, [scope for scope in scopes if scope.category == "tool"])
        if others := ", ".join(f"{kind} {count}" for kind, count in log.others.items()):
            sessions[0].findings.append(finding("bookkeeping", "the file", others))
        for builder in sessions:
            builder.set_metadata(name="hermes" if log.is_hermes else "", session=log.session)
            yield builder


@dataclass
class _Scope:
    """A call of a model or a tool, with its input and output."""

    category: str
    place: Place
    name: str = ""
    at: str = ""
    end: str = ""
    input: Any = None
    output: Any = None
    profile: dict[str, Any] | None = None  # metadata of the model or the call


@dataclass
class _Log:
    """A log: its scopes by id, and the number of other events of each kind."""

    scopes: dict[str, _Scope]
    others: Counter[str]
    session: str = ""
    is_hermes: bool = False

    def event(self, value: Any, place: Place) -> None:
        event = mapping(value)
        metadata = mapping(event.get("metadata"))
        self.session = self.session or text_of(metadata.get("session_id"))
        self.is_hermes = self.is_hermes or text_of(event.get("name")).startswith("hermes.")
        category, step = text_of(event.get("category")), event.get("scope_category")
        if category not in ("llm", "tool") or step not in ("start", "end"):
            self.others[f"{event.get('kind')}/{category or event.get('name')}"] += 1
            return
        key = text_of(event.get("uuid")) or str(place)
        scope = self.scopes.setdefault(key, _Scope(category, place))
        scope.name = text_of(event.get("name"))
        profile = mapping(event.get("category_profile"))
        scope.profile = {**metadata, **(scope.profile or {}), **profile}
        at = utc_time(event.get("timestamp")) or ""
        if step == "start":
            scope.at, scope.input = at, event.get("data")
        else:
            scope.end, scope.output, scope.at = at, event.get("data"), scope.at or at


def _turn(scope: _Scope) -> Turn:
    content, output = mapping(scope.input).get("content"), mapping(scope.output)
    body = content if isinstance(content, dict) else scope.input
    reply = output.get("assistant_message") or output.get("response") or scope.output
    turn = turn_of(body, reply, scope.place)
    profile = scope.profile or {}
    return replace(
        turn,
        model=text_of(profile.get("model_name") or profile.get("model")) or turn.model,
        usage=turn.usage or mapping(output.get("usage")) or None,
        at=scope.at,
        seconds=seconds_between(scope.at, scope.end) if scope.end else None,
    )


def _add_results(sessions: list[SessionBuilder], scopes: list[_Scope]) -> None:
    """Add what only the tools' scopes show: results that no later request repeats, and calls that
    no answer contains."""
    callers: dict[str, int] = {}  # call id → index of the first session that holds the call
    answered: set[tuple[int, str]] = set()
    for number, builder in enumerate(sessions):
        for message in builder.messages:
            for call in message.tool_calls:
                callers.setdefault(call.tool_call_id, number)
            answered.update((number, each.tool_call_id) for each in message.tool_results)
    for scope in scopes:
        call_id = text_of((scope.profile or {}).get("tool_call_id"))
        number = callers.get(call_id, -1) if call_id else -1
        if (number, call_id) in answered:
            continue
        builder = sessions[number]  # -1 (the last session) if no session has the call
        if number < 0:
            call_id = call_id or builder.new_id()
            call = builder.call(call_id, scope.name, scope.input, scope.place)
            builder.add_message("assistant", [call], scope.place)
            callers[call_id] = number = len(sessions) - 1
        if scope.output is not None:
            result = builder.result(call_id, result_value(scope.output))
            builder.add_message("tool", [result], scope.place)
            answered.add((number, call_id))
