"""Events with their places in the reply: cut at its beginning and at characters that are amiss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from playground.events import (
    CallAbortedEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    Span,
    cut,
)
from playground.findings import finding


def without_prefill(event: Event) -> Event:
    """What of an event is the reply's: its text up to the reply's beginning is the prefill's."""
    here = Span(0, max(0, event.span.stop))
    if isinstance(event, CallStartedEvent | CallEndedEvent | CallAbortedEvent):
        return replace(event, span=here)
    return replace(event, span=here, text=event.text[-event.span.start :])


def with_char_findings(event: Event, bad: Sequence[tuple[int, str]]) -> list[Event]:
    """An event with findings about characters in it; of a name, which is one event, before it."""
    whole = isinstance(event, CallNamedEvent)
    found: list[Event] = []
    for place, code in bad:
        here = event.span.start if whole else place
        found.append(FindingEvent(Span(here, here), finding(code, f"character {place}")))
    if whole:
        return [*found, event]
    pieces = cut(event, [place for place, _code in bad])
    before = [pieces.pop(0)] if len(pieces) > len(found) else []
    return before + [each for pair in zip(found, pieces, strict=True) for each in pair]
