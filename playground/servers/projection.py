"""A reply while it is turned into what a server delivers (its projection).

No character vanishes: each is delivered as content, as reasoning or in a call, or is markup, or is
in a `server-drops` finding. The methods are the changes that a step of the projection may make.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from playground.base.findings import finding
from playground.nouns.events import (
    ArgumentEvent,
    CallAbortedEvent,
    CallEndedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    Span,
    TextEvent,
    owned_text,
)
from playground.parsing.switches import Switches
from playground.servers.call_values import ToolsByName
from playground.servers.segments import ReplySegment
from playground.servers.view import View

DROPS: Final = "server-drops"


@dataclass
class Projection:
    """One reply while it is changed into what a server's parser delivers, by the choices of
    `view`."""

    server: str  # its name in findings
    view: View
    reader_switches: Switches
    tools: ToolsByName
    openers: Sequence[str] = ()  # literals that begin sections and calls
    closers: Sequence[str] = ()  # literals that end sections and calls
    all_is_text: bool = False  # the whole reply is content
    segments: list[ReplySegment] = field(default_factory=list)
    calls_as_text: list[CallEndedEvent] = field(default_factory=list)  # complete calls
    doubts: list[str] = field(default_factory=list)  # assumptions, each as a phrase for a finding

    @property
    def has_calls(self) -> bool:
        """True if a complete call has not been dropped or turned into text."""
        return any(segment.ended for segment in self.segments)

    def drop(self, segment: ReplySegment, description: str) -> None:
        """Drop a segment: put all its text into one finding. Findings after the start of its text
        move to the text's end, so that spans do not overlap."""
        text_events = [event for event in segment.events if owned_text(event)]
        notes = [e for e in segment.events if isinstance(e, FindingEvent) and not e.text]
        segment.kind, segment.events = "note", list(notes)
        if text_events:
            text = "".join(map(owned_text, text_events))
            span = Span(text_events[0].span.start, text_events[-1].span.stop)
            before = [note for note in notes if note.span.start <= span.start]
            end = Span(span.stop, span.stop)
            after = [replace(note, span=end) for note in notes[len(before) :]]
            segment.events = [*before, self.drop_finding(span, text, description), *after]

    def drop_finding(self, span: Span, text: str, description: str) -> FindingEvent:
        """Return a finding with dropped text: a warning, or information for white space alone."""
        place = f"characters {span.start} to {span.stop}"
        warning = finding(DROPS, place, f"{self.server} drops {description}")
        about = warning if text.strip() else replace(warning, severity="info")
        return FindingEvent(span, about, text)

    def without_arguments(self, event: Event, keys: Collection[str | None]) -> Event:
        if isinstance(event, ArgumentEvent) and event.key in keys:
            return self.drop_finding(event.span, event.text, f"the argument {event.key!r}")
        return event

    def as_text(self, segment: ReplySegment, keep_calls: bool = False) -> None:
        """Turn all of a segment into content. With `keep_calls` its call is also delivered."""
        if segment.ended is not None and not keep_calls:
            self.calls_as_text.append(segment.ended)
        segment.events = [
            delivered
            for event in segment.events
            if (delivered := _as_text(event, keep_calls)) is not None
        ]
        segment.kind = "text"

    def of_kind(self, *kinds: str) -> list[ReplySegment]:
        return [segment for segment in self.segments if segment.kind in kinds]


def _as_text(event: Event, keep_calls: bool) -> Event | None:
    match event:
        case FindingEvent(text=""):
            return event
        case CallStartedEvent() | CallEndedEvent() | CallAbortedEvent():
            return event if keep_calls else None
        case _:
            text = owned_text(event)
            return TextEvent(event.span, text) if text else None
