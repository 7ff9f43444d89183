"""A reply that is being projected, and what a step may do with a stretch of it.

Every character keeps its place: it is handed over as content, as reasoning or in a call, it is
markup, or it lies in a `server-drops` finding. So nothing can get lost here without being named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from playground.events import (
    CallAbortedEvent,
    CallEndedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    Span,
    TextEvent,
    owned_text,
)
from playground.findings import finding
from playground.parsing.switches import Switches
from playground.servers.call_values import ToolsByName
from playground.servers.stretches import Stretch
from playground.servers.view import View

DROPS: Final = "server-drops"


@dataclass
class Projection:
    """One reply under one view. `who` is what findings call the server; `openers` and `closers` are
    the literals with which sections and calls of the dialect begin and end. `whole` says that the
    reply is content as it came."""

    who: str
    view: View
    switches: Switches
    tools: ToolsByName
    openers: Sequence[str] = ()
    closers: Sequence[str] = ()
    whole: bool = False
    stretches: list[Stretch] = field(default_factory=list)
    unread: list[CallEndedEvent] = field(default_factory=list)  # whole calls that are content

    def drop(self, stretch: Stretch, what: str) -> None:
        """Nothing of the stretch is handed over: all that it owns is in one finding. What was told
        in the midst of it is told behind it, for spans tile."""
        owned = [event for event in stretch.events if owned_text(event)]
        notes = [e for e in stretch.events if isinstance(e, FindingEvent) and not e.text]
        stretch.kind, stretch.events = "note", list(notes)
        if owned:
            text = "".join(map(owned_text, owned))
            span = Span(owned[0].span.start, owned[-1].span.stop)
            before = [note for note in notes if note.span.start <= span.start]
            at_end = Span(span.stop, span.stop)
            behind = [replace(note, span=at_end) for note in notes[len(before) :]]
            stretch.events = [*before, self.lost(span, text, what), *behind]

    def lost(self, span: Span, text: str, what: str) -> FindingEvent:
        """The finding that holds what is not handed over; of white space alone it is no warning."""
        place = f"characters {span.start} to {span.stop}"
        found = finding(DROPS, place, f"{self.who} drops {what}")
        return FindingEvent(span, found if text.strip() else replace(found, severity="info"), text)

    def as_text(self, stretch: Stretch, keep_calls: bool = False) -> None:
        """All of the stretch is content; with `keep_calls` what it calls is delivered too."""
        if stretch.ended is not None and not keep_calls:
            self.unread.append(stretch.ended)
        stretch.events = [
            changed
            for event in stretch.events
            if (changed := _as_text(event, keep_calls)) is not None
        ]
        stretch.kind = "text"

    def of_kind(self, *kinds: str) -> list[Stretch]:
        return [stretch for stretch in self.stretches if stretch.kind in kinds]


def _as_text(event: Event, keep_calls: bool) -> Event | None:
    match event:
        case FindingEvent(text=""):
            return event
        case CallStartedEvent() | CallEndedEvent() | CallAbortedEvent():
            return event if keep_calls else None
        case _:
            text = owned_text(event)
            return TextEvent(event.span, text) if text else None
