"""Functions that cut events in two: at the beginning of the reply, and at bad characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from playground.base.findings import finding
from playground.nouns.events import (
    CallAbortedEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    Span,
    cut,
)


def without_prefill(event: Event) -> Event:
    """Return the part of an event that lies in the reply, without the text of the prefill."""
    here = Span(0, max(0, event.span.stop))
    if isinstance(event, CallStartedEvent | CallEndedEvent | CallAbortedEvent):
        return replace(event, span=here)
    return replace(event, span=here, text=event.text[-event.span.start :])


def with_char_findings(event: Event, bad: Sequence[tuple[int, str]]) -> list[Event]:
    """Return an event cut at its bad characters, with a finding before each. A name is not cut: the
    findings come before it."""
    is_name = isinstance(event, CallNamedEvent)
    findings: list[Event] = []
    for place, code in bad:
        here = event.span.start if is_name else place
        findings.append(FindingEvent(Span(here, here), finding(code, f"character {place}")))
    if is_name:
        return [*findings, event]
    pieces = cut(event, [place for place, _code in bad])
    before = [pieces.pop(0)] if len(pieces) > len(findings) else []
    return before + [part for pair in zip(findings, pieces, strict=True) for part in pair]
