"""Find which events of a recording change if it is cut, damaged or read differently.

`recordings/recutting.py` makes the changed recordings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, Final, Literal, assert_never

from playground.dialects import Dialect, get_dialect
from playground.dialects.reading import with_final_findings
from playground.nouns.events import (
    ArgumentEvent,
    CallAbortedEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    MarkupEvent,
    ReasoningEvent,
    Span,
    TextEvent,
    event_name,
    owned_text,
)
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.parsing.batches import BatchedParser
from playground.parsing.result import ParseResult, read_to_end
from playground.parsing.switches import Switches
from playground.questions.every_dialect import read_in_every_dialect
from playground.questions.server_view import dropped_by_servers
from playground.recordings.feeding import feed
from playground.recordings.recording import Recording
from playground.recordings.recutting import CUTTINGS, cut_in_two, recut, text_size

_MOST_CUTS: Final = 2_000  # places at which a text is cut in two; each takes one reading


def read_recording(
    recording: Recording,
    dialect: str | Dialect,
    tools: Sequence[ToolMetadata] = (),
    switches: Switches | None = None,
) -> ParseResult:
    """Read a recording; chunks are read in batches, so that neighbouring events are merged."""
    data, chosen = PromptData(tool_metadata=list(tools)), get_dialect(dialect)
    parser = BatchedParser(chosen.create_parser(data, recording.prefill, switches))
    result = read_to_end(parser, (feed(parser, chunk) for chunk in recording.chunks))
    return with_final_findings(result, chosen, data)


# what changes


@dataclass(frozen=True, slots=True)
class EventChange:
    """An event that only one of the two readings has."""

    change: Literal["removed", "added"]
    event: Event


def difference(
    before: Sequence[Event], after: Sequence[Event], *, spans: bool = True
) -> list[EventChange]:
    """Return the events by which two readings differ, in order; [] if they are the same.

    Without `spans` only the events' content is compared, because after a lost chunk all offsets
    differ.
    """
    first, second = list(before), list(after)
    if first == second:
        return []
    # A matcher needs hashable keys, and arguments may be lists: so events are matched by their
    # repr. Autojunk is off, because it would ignore frequent events (deltas).
    matcher = SequenceMatcher(
        a=[_key(event, spans) for event in first],
        b=[_key(event, spans) for event in second],
        autojunk=False,
    )
    changes: list[EventChange] = []
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        changes += [EventChange("removed", event) for event in first[a1:a2]]
        changes += [EventChange("added", event) for event in second[b1:b2]]
    return changes


def _key(event: Event, spans: bool) -> str:
    return repr(event if spans else replace(event, span=Span(0, 0)))


@dataclass(frozen=True, slots=True)
class CutSearch:
    """The result of a search for a cutting that changes the events.

    `tried` is the number of cuttings that were tried, `of` the number of all cuttings.
    """

    tried: int
    of: int
    cutting: str = ""  # the first cutting that changes an event
    changes: tuple[EventChange, ...] = ()

    @property
    def found(self) -> bool:
        return bool(self.changes)


def find_changing_cut(
    recording: Recording,
    dialect: str,
    tools: Sequence[ToolMetadata] = (),
    switches: Switches | None = None,
    limit: int = _MOST_CUTS,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> CutSearch:
    """Look for a cutting into chunks whose events differ from the recording's own.

    It tries chunks of 1 byte, chunks of 7 bytes, three random cuttings, and then every cut of the
    text in two (for a long text, `limit` of these at equal distances).
    """
    original = read_recording(recording, dialect, tools, switches).events
    size = text_size(recording)
    every_place = max(0, size - 1)  # the places between two bytes
    distance = max(1, -(-every_place // max(1, limit)))
    places = range(1, size, distance)
    recuttings = len(CUTTINGS) + 2  # "random" is tried with three seeds
    count, total = recuttings + len(places), recuttings + every_place
    for number, (name, other) in enumerate(_cuttings(recording, places), 1):
        changes = difference(original, _read_as_cut(other, dialect, tools, switches))
        progress(number, count)
        if changes:
            return CutSearch(number, total, name, tuple(changes))
    return CutSearch(count, total)


def _read_as_cut(
    recording: Recording, dialect: str, tools: Sequence[ToolMetadata], switches: Switches | None
) -> list[Event]:
    """Return the events of a recording, read chunk by chunk; batches would undo the cuts."""
    data, chosen = PromptData(tool_metadata=list(tools)), get_dialect(dialect)
    parser = chosen.create_parser(data, recording.prefill, switches)
    result = read_to_end(parser, (feed(parser, chunk) for chunk in recording.chunks))
    return with_final_findings(result, chosen, data).events


def _cuttings(recording: Recording, places: range) -> Iterator[tuple[str, Recording]]:
    yield "1 byte", recut(recording, "1 byte")
    yield "7 bytes", recut(recording, "7 bytes")
    for seed in range(3):
        yield f"random, seed {seed}", recut(recording, "random", seed)
    for place in places:
        yield f"in two before byte {place}", cut_in_two(recording, place)


# every dialect at once


@dataclass(frozen=True, slots=True)
class CrossReading:
    """A recording as one dialect reads it."""

    dialect: str
    calls: int
    same_calls: bool  # True if the recording's own dialect reads the same names and arguments
    aborted: int
    text: int  # characters shown to the user
    markup: int
    arguments: int
    findings: dict[str, int]
    servers: dict[str, int | None]
    """The characters that each server drops; None for a server without a parser for the dialect."""


def cross_read(
    recording: Recording, tools: Sequence[ToolMetadata] = (), own: str = ""
) -> list[CrossReading]:
    """Read the recording in every dialect, first in its own (`own`, or else the dialect that the
    recording names); compare what each reads and loses."""
    own_calls: list[tuple[str, dict[str, Any]]] | None = None
    rows: list[CrossReading] = []
    readings = read_in_every_dialect(
        lambda name: read_recording(recording, name, tools), first=own or recording.dialect
    )
    for reading in readings:
        calls = [(call.name, call.arguments) for call in reading.result.tool_calls]
        own_calls = calls if own_calls is None else own_calls
        rows.append(
            CrossReading(
                dialect=reading.dialect,
                calls=reading.calls,
                same_calls=calls == own_calls,
                aborted=reading.aborted,
                text=reading.text,
                markup=reading.markup,
                arguments=reading.arguments,
                findings=reading.findings,
                servers=dropped_by_servers(reading.result, reading.dialect, tools),
            )
        )
    return rows


def change_words(change: EventChange) -> tuple[str, str, str, str]:
    """Return a change as a table's cells: removed or added, the event, its span, its text."""
    event = change.event
    span = f"{event.span.start}-{event.span.stop}"
    return change.change, event_name(event), span, _text_of(event)


def _text_of(event: Event) -> str:
    match event:
        case FindingEvent():
            return f"{event.finding.code}: {event.finding.message}"
        case CallNamedEvent() | CallEndedEvent() | CallAbortedEvent():
            return owned_text(event) or event.name or ""
        case TextEvent() | ReasoningEvent() | MarkupEvent() | ArgumentEvent() | CallStartedEvent():
            return owned_text(event)
        case _:
            assert_never(event)
