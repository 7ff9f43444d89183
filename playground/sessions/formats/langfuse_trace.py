"""Langfuse's trace exports: a trace with its observations, inputs and outputs as JSON text.

Each framework writes its own form into them (`shapes/framework_chats.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from playground.base.findings import finding
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.formats.chat_lines import rows
from playground.sessions.shapes.fields import list_in, mapping, told_mapping
from playground.sessions.shapes.framework_chats import chat_messages, chat_tools, further_replies
from playground.sessions.shapes.options import options_of
from playground.sessions.shapes.spans import json_value
from playground.sessions.shapes.turns import Turn, read_turns
from playground.sessions.source import Source

_CALLS: Final = {"GENERATION"}


class LangfuseTrace(SessionFormat):
    name = "langfuse-trace"
    left_aside = {
        "trace": "what the observations say, as a whole",
        "**.sdk_http_response": "headers of HTTP",
        "**.scores": "scores, and why they were given",
        "**.metadata": "what a framework noted beside an observation",
    }
    title = "Langfuse trace export"
    keeps = Keeps("yes", "yes", "yes", "no", "observations that are not model calls; scores")

    def recognises(self, source: Source) -> bool:
        document = None if source.is_lines else source.document
        if isinstance(document, dict):
            listed = isinstance(document.get("observations"), list)
            return listed and ("trace" in document or "id" in document)
        found = source.head if source.is_lines else document
        return isinstance(found, list) and any(map(_is_observation, found))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        trace, given = _observations(source)
        observations = list(given)
        title = str(trace.get("name") or source.stem)
        turns = [
            (str(observation.get("type")) in _CALLS, turn)
            for place, observation in observations
            if isinstance(observation, dict)
            for turn in [_turn(observation, place)]
            if turn.before or turn.after
        ]
        found = [turn for is_call, turn in turns if is_call] or [turn for _, turn in turns]
        found.sort(key=lambda turn: turn.at)
        sessions = list(read_turns(_one_of_each(found), title))
        if not sessions:
            builder = SessionBuilder(title=title)
            builder.lost("no observation contains a chat", Place(field="observations"))
            sessions = [builder]
        _tell_unread(sessions[0], observations, {id(turn.place) for turn in found})
        for place, observation in observations:
            told_mapping(sessions[0], observation, place)
        yield from sessions


_NAMED: Final = 100  # places in a finding


def _tell_unread(
    builder: SessionBuilder, observations: list[tuple[Place, Any]], read: set[int]
) -> None:
    """Tell of the observations that are no model calls."""
    others = [(place, each) for place, each in observations if id(place) not in read]
    kinds = Counter(str(each.get("type")) for _, each in others if isinstance(each, dict))
    if kinds:
        told = ", ".join(f"{kind} {count}" for kind, count in kinds.items())
        places = ", ".join(str(place) for place, _ in others[:_NAMED])
        more = ", …" if len(others) > _NAMED else ""
        message = f"observations that are no model calls ({told}), at {places}{more}"
        builder.findings.append(finding("lines-left-out", str(others[0][0]), message))


def _observations(source: Source) -> tuple[dict[str, Any], Iterable[tuple[Place, Any]]]:
    """Return the trace's own fields, and its observations.

    In an export of observations alone they are the file's entries.
    """
    value = None if source.is_lines else source.value
    if not isinstance(value, dict):
        return {}, rows(source)
    within = Place(field="observations")
    listed = [(within.at(i), each) for i, each in enumerate(list_in(source, "observations"))]
    return mapping(value.get("trace")) or value, listed


def _is_observation(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("type")) in _CALLS and "traceId" in value


def _turn(observation: dict[str, Any], place: Place) -> Turn:
    given, gave = json_value(observation.get("input")), json_value(observation.get("output"))
    metadata = json_value(observation.get("metadata"))
    usage = observation.get("usageDetails") or observation.get("usage")
    usage = json_value(usage)
    return Turn(
        before=chat_messages(given, "user"),
        after=chat_messages(gave, "assistant"),
        further=further_replies(gave),
        tools=chat_tools(given, metadata),
        place=place,
        model=str(observation.get("model") or observation.get("providedModelName") or ""),
        at=str(observation.get("startTime") or ""),
        usage=usage if isinstance(usage, dict) else None,
        options=options_of(given, observation.get("modelParameters")),
    )


def _one_of_each(turns: list[Turn]) -> list[Turn]:
    """Frameworks and the clients below them both report a call: equal ones count once."""
    kept: list[Turn] = []
    for turn in turns:
        if not any((t.before, t.after) == (turn.before, turn.after) for t in kept):
            kept.append(turn)
    return kept
