"""Segments of a reply: consecutive events that a server keeps or drops together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from playground.nouns.events import (
    CallAbortedEvent,
    CallEndedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    MarkupEvent,
    ReasoningEvent,
    Role,
    Span,
    TextEvent,
    owned_text,
    split,
)

Kind = (
    Literal[
        "text",
        "bare",  # text after an opener without a call, with the opener
        "reasoning",  # with its tags
        "call",  # a complete call
        "failed",  # a call that is incomplete, or that the server cannot read
        "note",  # findings without characters of their own
    ]
    | Role  # a marker, by its role
)


@dataclass(slots=True)
class ReplySegment:
    """Consecutive events that belong together."""

    kind: Kind
    events: list[Event] = field(default_factory=list)

    @property
    def span(self) -> Span:
        return Span(self.events[0].span.start, self.events[-1].span.stop)

    @property
    def text(self) -> str:
        return "".join(map(owned_text, self.events))

    @property
    def ended(self) -> CallEndedEvent | None:
        """The event that ends a complete call, delivered or not; None in other segments."""
        return next((e for e in self.events if isinstance(e, CallEndedEvent)), None)

    @property
    def aborted(self) -> CallAbortedEvent | None:
        """The event that ends an aborted call; None in other segments."""
        return next((e for e in self.events if isinstance(e, CallAbortedEvent)), None)


def segments(events: Iterable[Event]) -> list[ReplySegment]:
    """Group merged events into segments, in order. A failed call extends to its closer. A call
    includes the beginning of a closer that the end of the stream cuts off."""
    result: list[ReplySegment] = []
    in_call = False  # a variable, because searching a call's events at each of them is quadratic
    for event in events:
        if result and (in_call or _continues(event, result[-1])):
            result[-1].events.append(event)
            if isinstance(event, CallAbortedEvent):
                result[-1].kind = "failed"
        else:
            result.append(ReplySegment(_kind(event), [event]))
            in_call = result[-1].kind == "call"
        if isinstance(event, CallEndedEvent | CallAbortedEvent):
            in_call = False
    return result


def _continues(event: Event, last: ReplySegment) -> bool:
    """Return True if an event belongs to the segment before it, which is not an open call."""
    if last.kind in ("call", "failed"):
        return not isinstance(event, CallStartedEvent) and _is_rest_of_call(event, last)
    kind = _kind(event)
    if last.kind == "note" or kind in ("bare", "call"):
        return False
    return kind in (last.kind, "note") or (last.kind == "bare" and kind == "text")


def _is_rest_of_call(event: Event, call: ReplySegment) -> bool:
    match event:
        case MarkupEvent(role="call"):
            return True
        case FindingEvent(finding=finding, text=text) if call.kind == "failed":
            return not text or finding.code == "unexpected-text"
        case _:
            return False


def _kind(event: Event) -> Kind:
    match event:
        case TextEvent():
            return "text"
        case ReasoningEvent():
            return "reasoning"
        case MarkupEvent(role=role):
            return role
        case CallStartedEvent() | CallEndedEvent():
            return "call"
        case FindingEvent(finding=finding, text=text):
            return "text" if text else "bare" if finding.code == "bare-opener" else "note"
        case _:
            return "call"


def cut_events(events: Iterable[Event], offset: int) -> tuple[list[Event], list[Event]]:
    """Split events at an offset of the stream."""
    before: list[Event] = []
    after: list[Event] = []
    for event in events:
        if event.span.stop <= offset:
            before.append(event)
            continue
        head, tail = split(event, offset)
        before += [head] if head else []
        after.append(tail)
    return before, after
