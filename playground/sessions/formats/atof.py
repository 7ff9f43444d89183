"""Events of the Agent Trajectory Observability Format (ATOF), as NeMo Relay and Hermes write them.

https://docs.nvidia.com/nemo/relay (version 0.1): scopes begin and end; those of the category `llm`
hold a model's input and output, those of the category `tool` a call's arguments and its result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from playground.base.findings import finding
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.first_look import first_lines
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.formats.model_calls import turn_of
from playground.sessions.shapes.fields import mapping, text_of
from playground.sessions.shapes.parts import result_value
from playground.sessions.shapes.spans import seconds_between
from playground.sessions.shapes.turns import Turn, read_turns
from playground.sessions.source import Source
from playground.sessions.times import utc_time


class Atof(SessionFormat):
    name = "atof"
    title = "Events of an agent (ATOF: NeMo Relay, Hermes)"
    keeps = Keeps("yes", "yes", "where outputs have it", "no", "marks, scopes of agents; headers")

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
        _tools(sessions, [scope for scope in scopes if scope.category == "tool"])
        told = ", ".join(f"{kind} {count}" for kind, count in log.others.items())
        if told:
            sessions[0].findings.append(finding("bookkeeping", "the file", told))
        for builder in sessions:
            builder.set_metadata(name="hermes" if log.is_hermes else "", session=log.session)
            yield builder


@dataclass
class _Scope:
    """A piece of the agent's work: what it was given, and what it gave."""

    category: str
    place: Place
    name: str = ""
    at: str = ""
    end: str = ""
    given: Any = None
    made: Any = None
    profile: dict[str, Any] | None = None  # what is known of the model or the call


@dataclass
class _Log:
    """The scopes by their ids, and how many other events there were of which kind."""

    scopes: dict[str, _Scope]
    others: Counter[str]
    session: str = ""
    is_hermes: bool = False

    def event(self, value: Any, place: Place) -> None:
        event = mapping(value)
        known = mapping(event.get("metadata"))
        self.session = self.session or text_of(known.get("session_id"))
        self.is_hermes = self.is_hermes or text_of(event.get("name")).startswith("hermes.")
        category, step = text_of(event.get("category")), event.get("scope_category")
        if category not in ("llm", "tool") or step not in ("start", "end"):
            self.others[f"{event.get('kind')}/{category or event.get('name')}"] += 1
            return
        key = text_of(event.get("uuid")) or str(place)
        scope = self.scopes.setdefault(key, _Scope(category, place))
        scope.name = text_of(event.get("name"))
        scope.profile = {**known, **(scope.profile or {}), **mapping(event.get("category_profile"))}
        at = utc_time(event.get("timestamp")) or ""
        if step == "start":
            scope.at, scope.given = at, event.get("data")
        else:
            scope.end, scope.made, scope.at = at, event.get("data"), scope.at or at


def _turn(scope: _Scope) -> Turn:
    given, made = mapping(scope.given), mapping(scope.made)
    body = given["content"] if isinstance(given.get("content"), dict) else scope.given  # as sent
    reply = next((made[key] for key in ("assistant_message", "response") if made.get(key)), None)
    turn = turn_of(body, scope.made if reply is None else reply, scope.place)
    profile = scope.profile or {}
    return replace(
        turn,
        model=text_of(profile.get("model_name") or profile.get("model")) or turn.model,
        usage=turn.usage or mapping(made.get("usage")) or None,
        at=scope.at,
        seconds=seconds_between(scope.at, scope.end) if scope.end else None,
    )


def _tools(sessions: list[SessionBuilder], scopes: list[_Scope]) -> None:
    """Results of tools, where no later request of the model repeats them, and calls as well, where
    no answer holds them."""
    asking: dict[str, int] = {}  # the first session that holds each call
    answered: set[tuple[int, str]] = set()
    for number, builder in enumerate(sessions):
        for message in builder.messages:
            for call in message.tool_calls:
                asking.setdefault(call.tool_call_id, number)
            answered.update((number, each.tool_call_id) for each in message.tool_results)
    for scope in scopes:
        call_id = text_of((scope.profile or {}).get("tool_call_id"))
        number = asking.get(call_id, -1) if call_id else -1
        if (number, call_id) in answered:
            continue
        builder = sessions[number]  # the last one, where none asked for it
        if number < 0:
            call_id = call_id or builder.new_id()
            call = builder.call(call_id, scope.name, scope.given, scope.place)
            builder.add_message("assistant", [call], scope.place)
            asking[call_id] = number = len(sessions) - 1
        if scope.made is not None:
            result = builder.result(call_id, result_value(scope.made))
            builder.add_message("tool", [result], scope.place)
            answered.add((number, call_id))
