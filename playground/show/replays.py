"""The data of the player: one stream, with a column for each of up to four readings."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from playground.base.findings import CODES, Finding
from playground.base.fixes import FIXES
from playground.base.wording import as_sentence, keep_order
from playground.nouns.events import (
    ArgumentEvent,
    CallAbortedEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    event_name,
)
from playground.questions.timeline import Timeline
from playground.servers import ServerReading
from playground.show.wire import event_text

Payload = dict[str, Any]
_TEXT_KINDS: Final = ("text", "reasoning", "markup", "call-named", "argument", "finding", "dropped")
_DROPS: Final = "server-drops"  # code of the finding for text that a server drops
_SEVERITIES: Final = ("error", "warning", "info")
_MOST_DELIVERED: Final = 2_000  # the most characters of a delivered text
_QUOTES: Final = ('"', "'", "<|")  # quotes around a value, in some notations
_LABEL: Final = 160  # the most characters of a label


def player(*readings: Timeline) -> Payload:
    """Return readings of one stream as columns of one player.

    The columns share the text and the steps. Each column has its segments of the text, its events
    and the parser's states, to which its steps refer by number. `differences` are the offsets where
    columns begin to differ.
    """
    first = readings[0]
    columns = [_column(each) for each in readings]
    return {
        "text": first.text,
        "timing": first.timing,
        "kinds": list(_TEXT_KINDS),
        "steps": [[step.at, step.text[:_LABEL], step.kind] for step in first.steps],
        "columns": columns,
        "differences": list(_differences([column["segments"] for column in columns])),
        "findings": sorted(
            _findings(*readings), key=lambda found: (_SEVERITIES.index(found[1]), found[3])
        ),
    }


def reading_name(reading: Timeline) -> str:
    """Return the name of a column: the server's or the dialect's."""
    result = reading.result
    return result.name if isinstance(result, ServerReading) else reading.dialect


def _column(reading: Timeline) -> Payload:
    result, events = reading.result, reading.result.events
    first_steps, last_steps = _steps_of_events(reading)
    states: dict[tuple[str, str, str], int] = {}
    steps = []
    for index, step in enumerate(reading.steps):
        state = step.state
        call = "" if state.call_index is None else f"call {state.call_index}"
        named = " · ".join(x for x in (call, state.call_name, state.argument) if x)
        # Thousands of steps share a few states: each state is sent once, and a step has its number.
        state_data = (state.mode, keep_order(named), state.held[:_LABEL])
        number = states.setdefault(state_data, len(states))
        # The last number is that of the events that have begun: `first_steps` only grows.
        steps.append([step.stop, number, bisect_right(first_steps, index)])
    return {
        "name": keep_order(reading_name(reading)),
        "note": keep_order(_note(reading)),
        "dropped": result.dropped_characters if isinstance(result, ServerReading) else 0,
        "segments": [
            [_kind(event), event.span.start, event.span.stop]
            for event in events
            if event.span.stop > event.span.start
        ],
        "events": [
            [_kind(event), *event.span, first, last, keep_order(event_text(event)[:_LABEL])]
            for event, first, last in zip(events, first_steps, last_steps, strict=True)
        ],
        "calls": _calls(reading.result.events, last_steps),
        "steps": steps,
        "states": list(states),
    }


def _note(reading: Timeline) -> str:
    result = reading.result
    if not isinstance(result, ServerReading):
        return "this project's parser"
    source = result.view.source.partition(" ")
    known = "assumed, not known" if result.assumed else f"{source[0]} {source[2].partition(' ')[0]}"
    return f"server's parser, given a {result.reads}: {known}"


def _calls(events: Sequence[Event], steps: Sequence[int]) -> list[Payload]:
    """Return each call: its name, its arguments by offset, the steps at which it began and ended.
    `steps` has the step at which each event ended.

    An argument has its delivered text only if it differs from the stream's, as when a model writes
    a closing marker twice. A call has an "ended" or an "aborted" step; an open call has neither.
    """
    calls: dict[int, Payload] = {}
    for event, step in zip(events, steps, strict=True):
        match event:
            case CallStartedEvent():
                call = {"name": "", "began": step, "ended": None, "aborted": None, "arguments": []}
                calls[event.call_index] = call
            case CallNamedEvent():
                calls[event.call_index]["name"] = keep_order(event.name)
            case ArgumentEvent():
                arguments, key = calls[event.call_index]["arguments"], keep_order(event.key or "")
                if arguments and arguments[-1][0] == key:
                    arguments[-1][2] = event.span.stop
                else:
                    arguments.append([key, event.span.start, event.span.stop])
            case CallEndedEvent():
                calls[event.call_index]["ended"] = step
                raw = dict(event.raw)
                for argument in calls[event.call_index]["arguments"]:
                    value, text = event.arguments.get(argument[0]), raw.get(argument[0], "")
                    if isinstance(value, str) and value != text and not text.startswith(_QUOTES):
                        argument.append(keep_order(value[:_MOST_DELIVERED]))
            case CallAbortedEvent():
                calls[event.call_index]["aborted"] = step
    return list(calls.values())


def _findings(*readings: Timeline) -> Iterator[tuple[str, str, str, int, str, str, str]]:
    """Yield each finding: its columns, severity, code, offset, message, advice, and text.

    A finding that several columns share comes once. If a server hands over a truncated call, only
    the finding that says so is yielded for it.
    """
    columns: dict[tuple[Finding, int, str], list[str]] = {
        (found, len(readings[0].text), ""): ["stream"] for found in readings[0].stream_findings
    }
    for each in readings:
        events = [event for event in each.result.events if isinstance(event, FindingEvent)]
        handed_over = {e.span.start for e in events if e.finding.code == "server-delivers"}
        for event in events:
            start = event.span.start
            if event.finding.code != "truncated-call" or start not in handed_over:
                names = columns.setdefault((event.finding, start, event.text[:_LABEL]), [])
                names += [reading_name(each)] * (reading_name(each) not in names)
    for (found, start, text), names in columns.items():
        meaning = CODES[found.code].meaning if found.code in CODES else ""
        advice = [each for each in (meaning, FIXES.get(found.code, "")) if each]
        advice = [each for each in advice if each not in found.message]
        is_shared = 1 < len(names) == len(readings)
        yield (
            "all columns" if is_shared else keep_order(", ".join(names)),
            found.severity,
            found.code,
            start,
            keep_order(found.message),
            ". ".join(map(as_sentence, advice)),
            text,
        )


def _differences(columns: Sequence[Sequence[Sequence[Any]]]) -> Iterator[int]:
    """Yield each offset at which the columns begin to read the text differently."""
    edges = sorted({edge for column in columns for _, *span in column for edge in span})
    places = [0] * len(columns)
    before: tuple[str, ...] = ()
    for start, _ in pairwise(edges):
        kinds = []
        for number, segments in enumerate(columns):
            while places[number] < len(segments) and segments[places[number]][2] <= start:
                places[number] += 1
            at = places[number]
            inside = at < len(segments) and segments[at][1] <= start
            kinds.append(segments[at][0] if inside else "")
        now = tuple(kinds)
        if now != before and len(set(now)) > 1:
            yield start
        before = now


def _kind(event: Event) -> str:
    if isinstance(event, FindingEvent) and event.finding.code == _DROPS:
        return "dropped"
    return event_name(event).replace(" ", "-")


def _steps_of_events(timeline: Timeline) -> tuple[list[int], list[int]]:
    """Return the steps at which each merged event began, and those at which it ended."""
    # A merged event is a run of raw events, and the order is the same: so one pass goes through
    # both lists.
    raw = [(event, i) for i, step in enumerate(timeline.steps) for event in step.events]
    first: list[int] = []
    last: list[int] = []
    position = 0
    for event in timeline.result.events:
        first.append(raw[position][1])
        while raw[position][0].span.stop < event.span.stop:
            position += 1
        last.append(raw[position][1])
        position += 1
    return first, last
