"""A reply cut into stretches: neighbouring events that a server keeps or loses together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from playground.events import (
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

Kind = Literal["text", "bare", "reasoning", "call", "failed", "note"] | Role


@dataclass(slots=True)
class Stretch:
    """Events in a row. `kind` is what they are: a call that was delivered or failed, reasoning with
    its tags, text, text that begins with a bare opener, a marker by its role, or a note: findings
    that own no characters."""

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
        """The end of a delivered call."""
        return next((e for e in self.events if isinstance(e, CallEndedEvent)), None)

    @property
    def aborted(self) -> CallAbortedEvent | None:
        return next((e for e in self.events if isinstance(e, CallAbortedEvent)), None)


def stretches(events: Iterable[Event]) -> list[Stretch]:
    """The stretches of merged events, in order. A failed call reaches up to its closer, and a call
    holds the half of a closer that the end of the stream left of it."""
    result: list[Stretch] = []
    open_call = False  # told once: a call may have as many events as there are arguments
    for event in events:
        if result and (open_call or _belongs(event, result[-1])):
            result[-1].events.append(event)
            if isinstance(event, CallAbortedEvent):
                result[-1].kind = "failed"
        else:
            result.append(Stretch(_kind(event), [event]))
            open_call = result[-1].kind == "call"
        if isinstance(event, CallEndedEvent | CallAbortedEvent):
            open_call = False
    return result


def _belongs(event: Event, last: Stretch) -> bool:
    """Whether an event goes on with what stands before it, which is no open call."""
    if last.kind in ("call", "failed"):
        return not isinstance(event, CallStartedEvent) and _trails(event, last)
    kind = _kind(event)
    if last.kind == "note" or kind in ("bare", "call"):
        return False
    return kind in (last.kind, "note") or (last.kind == "bare" and kind == "text")


def _trails(event: Event, call: Stretch) -> bool:
    """Whether what follows a call's end is the rest of it."""
    match event:
        case MarkupEvent(role="call"):
            return True
        case FindingEvent(finding=found, text=text) if call.kind == "failed":
            return not text or found.code == "unexpected-text"
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
        case FindingEvent(finding=found, text=text):
            return "text" if text else "bare" if found.code == "bare-opener" else "note"
        case _:
            return "call"


def cut(events: Iterable[Event], offset: int) -> tuple[list[Event], list[Event]]:
    """Events before an offset of the stream, and those after it."""
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


def extents(events: Sequence[Event]) -> dict[int, Span]:
    """From where to where each call of merged events reaches, by its index."""
    return {
        event.call_index: stretch.span
        for stretch in stretches(events)
        for event in stretch.events
        if isinstance(event, CallStartedEvent)
    }
