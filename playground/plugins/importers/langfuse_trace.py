"""Read Langfuse's trace exports: a trace with observations, with inputs and outputs as JSON.

Inputs and outputs have the form of the framework that wrote them (`shapes/framework_chats.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from playground.base.findings import finding
from playground.plugins.importers.shapes.options import options_of
from playground.plugins.importers.shapes.turns import Turn, read_turns
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.formats.chat_lines import rows
from playground.sessions.inner_json import json_value
from playground.sessions.shapes.fields import dict_or_finding, list_in, mapping
from playground.sessions.shapes.framework_chats import chat_messages, chat_tools, further_replies
from playground.sessions.source import Source

_CALLS: Final = {"GENERATION"}


class LangfuseTrace(SessionFormat):
    name = "langfuse-trace"
    left_aside = {
        "trace": "a copy of texts in the observations",
        "**.sdk_http_response": "headers of HTTP",
        "**.scores": "scores and their reasons",
        "**.metadata": "a framework's notes on an observation",
    }
    title = "Langfuse trace export"
    keeps = Keeps(
        "yes", "yes", "yes", missing="only observations of model calls are read; scores are not"
    )

    def recognises(self, source: Source) -> bool:
        document = None if source.is_lines else source.document
        if isinstance(document, dict):
            has_list = isinstance(document.get("observations"), list)
            return has_list and ("trace" in document or "id" in document)
        entries = source.head if source.is_lines else document
        return isinstance(entries, list) and any(map(_is_observation, entries))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        trace, entries = _observations(source)
        observations = list(entries)
        title = str(trace.get("name") or source.stem)
        turns = [
            (str(observation.get("type")) in _CALLS, turn)
            for place, observation in observations
            if isinstance(observation, dict)
            for turn in [_turn(observation, place)]
            if turn.before or turn.after
        ]
        chosen = [turn for is_call, turn in turns if is_call] or [turn for _, turn in turns]
        chosen.sort(key=lambda turn: turn.at)
        unique, repeats = _without_repeats(chosen)
        sessions = list(read_turns(unique, title))
        if not sessions:
            builder = SessionBuilder(title=title)
            builder.note_loss("no observation contains a chat", Place(field="observations"))
            sessions = [builder]
        for turn in repeats:
            sessions[0].note_loss("a repeated report of a billed call is left out", turn.place)
        _report_unread(sessions[0], observations, {id(turn.place) for turn in chosen})
        for place, observation in observations:
            dict_or_finding(sessions[0], observation, place)
        yield from sessions


_NAMED: Final = 100  # the most places that a finding lists


def _report_unread(
    builder: SessionBuilder, observations: list[tuple[Place, Any]], read_ids: set[int]
) -> None:
    """Add a finding about the observations whose place's `id` (Python's) is not in `read_ids`."""
    others = [(place, each) for place, each in observations if id(place) not in read_ids]
    kinds = Counter(str(each.get("type")) for _, each in others if isinstance(each, dict))
    if kinds:
        numbers = ", ".join(f"{kind} {count}" for kind, count in kinds.items())
        places = ", ".join(str(place) for place, _ in others[:_NAMED])
        more = ", …" if len(others) > _NAMED else ""
        message = f"observations that are not read as model calls ({numbers}), at {places}{more}"
        builder.findings.append(finding("lines-left-out", str(others[0][0]), message))


def _observations(source: Source) -> tuple[dict[str, Any], Iterable[tuple[Place, Any]]]:
    """Return the trace's own fields ({} if the export has none), and its observations."""
    value = None if source.is_lines else source.value
    if not isinstance(value, dict):
        return {}, rows(source)
    within = Place(field="observations")
    entries = [(within.at(i), each) for i, each in enumerate(list_in(source, "observations"))]
    return mapping(value.get("trace")) or value, entries


def _is_observation(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("type")) in _CALLS and "traceId" in value


def _turn(observation: dict[str, Any], place: Place) -> Turn:
    request, reply = json_value(observation.get("input")), json_value(observation.get("output"))
    metadata = json_value(observation.get("metadata"))
    usage = json_value(observation.get("usageDetails") or observation.get("usage"))
    return Turn(
        before=chat_messages(request, "user"),
        after=chat_messages(reply, "assistant"),
        further=further_replies(reply),
        tools=chat_tools(request, metadata),
        place=place,
        model=str(observation.get("model") or observation.get("providedModelName") or ""),
        at=str(observation.get("startTime") or ""),
        usage=usage if isinstance(usage, dict) else None,
        options=options_of(request, observation.get("modelParameters")),
    )


def _without_repeats(turns: list[Turn]) -> tuple[list[Turn], list[Turn]]:
    """Return the turns without repeats, and those repeats that have a bill if the repeated turn has
    one, too. A framework and its client may both report the same call. Equal turns with different
    bills are different calls."""
    unique: list[Turn] = []
    others: list[Turn] = []
    for turn in turns:
        same = next((i for i, one in enumerate(unique) if _is_same_call(one, turn)), None)
        if same is None:
            unique.append(turn)
        elif turn.usage and unique[same].usage:
            others.append(turn)
        elif turn.usage:
            unique[same] = turn
    return unique, others


def _is_same_call(one: Turn, other: Turn) -> bool:
    """Return True if two turns may report the same call. One of their bills may have more counts,
    such as sums."""
    if (one.before, one.after) != (other.before, other.after):
        return False
    counts, others = _counts(one), _counts(other)
    return counts <= others or others <= counts


def _counts(turn: Turn) -> set[int]:
    return {n for n in (turn.usage or {}).values() if type(n) is int and n > 0}
