"""The events of a parser. Their spans cover the decoded stream in order, without gaps.

Every character lies in exactly one event's span; events without characters have an empty span.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple, assert_never

from playground.base.findings import Finding


class Span(NamedTuple):
    """Half-open character offsets into the whole decoded stream."""

    start: int
    stop: int


# Nearly every chunk of a stream makes one of the next four events, so they must be cheap to make. A
# parser passes an offset in place of a span; the property `span` then computes the span from the
# offset and the text. The events are never changed, but not declared frozen, because making a
# frozen event takes five times as long.


@dataclass(init=False, unsafe_hash=True)
class TextEvent:
    """Text for the user."""

    __slots__ = ("_span", "text")
    span: Span
    text: str

    def __init__(self, span: Span | int, text: str) -> None:
        self._span = span
        self.text = text


@dataclass(init=False, unsafe_hash=True)
class ReasoningEvent:
    """Text of the model's reasoning: between tags, or from an API's own field for it."""

    __slots__ = ("_span", "text")
    span: Span
    text: str

    def __init__(self, span: Span | int, text: str) -> None:
        self._span = span
        self.text = text


@dataclass(init=False, unsafe_hash=True)
class ArgumentEvent:
    """Raw text of one argument (`key`), or of the whole JSON object (`key` None)."""

    __slots__ = ("_span", "call_index", "key", "text")
    span: Span
    call_index: int
    key: str | None
    text: str

    def __init__(self, span: Span | int, call_index: int, key: str | None, text: str) -> None:
        self._span = span
        self.call_index = call_index
        self.key = key
        self.text = text


Role = Literal["section", "call", "reasoning", "text", "separator", "stop", "stray"]


@dataclass(init=False, unsafe_hash=True)
class MarkupEvent:
    """Characters of the wire form: markers, JSON punctuation, white space between them.

    `role` says what they belong to: a section around calls, a call, reasoning, or tags around text
    in which nothing is a call ("text"). A separator comes between calls, a stop ends the reply. A
    stray marker belongs to no element: a closer without its opener, or a leaked token of the model.
    """

    __slots__ = ("_span", "role", "text")
    span: Span
    text: str
    role: Role

    def __init__(self, span: Span | int, text: str, role: Role = "call") -> None:
        self._span = span
        self.text = text
        self.role = role


def argument_maker(call_index: int, key: str | None) -> Callable[[int, str], ArgumentEvent]:
    """Return a function that makes events of one argument, each from an offset and a text."""
    new = object.__new__

    def make(offset: int, text: str) -> ArgumentEvent:
        event = new(ArgumentEvent)  # faster than calling the class, which passes all values twice
        event._span = offset
        event.call_index = call_index
        event.key = key
        event.text = text
        return event

    return make


def _span_of(event: TextEvent | ReasoningEvent | ArgumentEvent | MarkupEvent) -> Span:
    span = event._span
    return Span(span, span + len(event.text)) if isinstance(span, int) else span


for _kind in (TextEvent, ReasoningEvent, ArgumentEvent, MarkupEvent):
    setattr(_kind, "span", property(_span_of))  # noqa: B010  # dataclasses and mypy see a field


@dataclass(frozen=True, slots=True)
class CallStartedEvent:
    """The beginning of a call; `call_id` is read from the stream, or made from `call_index`."""

    span: Span
    call_index: int
    call_id: str


@dataclass(frozen=True, slots=True)
class CallNamedEvent:
    """The name of a call; `text` is the name as the stream writes it, with escapes."""

    span: Span
    call_index: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class CallEndedEvent:
    """The end of a complete call. `raw` has `key` and text of each argument (see ArgumentEvent)."""

    span: Span
    call_index: int
    call_id: str
    name: str
    arguments: dict[str, Any]
    raw: tuple[tuple[str | None, str], ...]


@dataclass(frozen=True, slots=True)
class CallAbortedEvent:
    """The end of a call that is not delivered, because of the finding with the code `reason`. `raw`
    has `key` and text of each argument that was read; with `argument_open` the last text is
    incomplete. After this event come the call's unread text, in findings, and its closer."""

    span: Span
    call_index: int
    name: str | None
    raw: tuple[tuple[str | None, str], ...]
    reason: str
    argument_open: bool = False


@dataclass(frozen=True, slots=True)
class FindingEvent:
    """A finding at its place in the stream. `text`, if any, belongs to no other event."""

    span: Span
    finding: Finding
    text: str = ""


Event = (
    TextEvent
    | ReasoningEvent
    | MarkupEvent
    | CallStartedEvent
    | CallNamedEvent
    | ArgumentEvent
    | CallEndedEvent
    | CallAbortedEvent
    | FindingEvent
)


def merged(events: Iterable[Event]) -> list[Event]:
    """Join neighbouring events that differ only because the stream was cut between them."""
    result: list[Event] = []
    # The texts to append to `last`. They are joined only once, so that the time stays linear.
    further_texts: list[str] = []
    last: Event | None = None
    end: Event | None = None  # the last event that continues `last`
    for event in events:
        if last is not None and type(event) is type(last) and _continues(last, event):
            further_texts.append(event.text)  # type: ignore[union-attr]
            end = event
            continue
        if end is not None:
            result[-1], end = _join(result[-1], further_texts, end), None
            further_texts.clear()
        result.append(event)
        last = event
    if end is not None:
        result[-1] = _join(result[-1], further_texts, end)
    return result


def _continues(last: Event, event: Event) -> bool:
    match event:  # the most frequent events come first
        case MarkupEvent(role=role):
            return isinstance(last, MarkupEvent) and last.role == role
        case TextEvent() | ReasoningEvent():
            return type(last) is type(event)
        case ArgumentEvent(call_index=index, key=key):
            return isinstance(last, ArgumentEvent) and (last.call_index, last.key) == (index, key)
        case FindingEvent(finding=about, text=text):
            return isinstance(last, FindingEvent) and bool(text) and last.finding == about
        case CallStartedEvent() | CallNamedEvent() | CallEndedEvent() | CallAbortedEvent():
            return False
        case _:
            assert_never(event)


def _join(first: Event, further_texts: list[str], end: Event) -> Event:
    span = Span(first.span.start, end.span.stop)
    text = "".join([first.text, *further_texts])  # type: ignore[union-attr]
    match first:  # the most frequent events are built here, because `replace` is slow
        case MarkupEvent(role=role):
            return MarkupEvent(span, text, role)
        case TextEvent() | ReasoningEvent():
            return type(first)(span, text)
        case ArgumentEvent(call_index=index, key=key):
            return ArgumentEvent(span, index, key, text)
    return replace(first, span=span, text=text)  # type: ignore[arg-type]


def split(event: Event, offset: int) -> tuple[Event | None, Event]:
    """Cut an event's text at an offset. Return the part before it (None if empty), and the rest.

    An event that starts, names, ends or aborts a call is moved to the offset instead.
    """
    start, stop = event.span
    if start >= offset:
        return None, event
    match event:
        case TextEvent() | ReasoningEvent() | MarkupEvent() | ArgumentEvent() | FindingEvent():
            head, rest = cut(event, [offset])
            return head, rest
        case CallStartedEvent() | CallNamedEvent() | CallEndedEvent() | CallAbortedEvent():
            return None, replace(event, span=Span(offset, max(offset, stop)))
        case _:
            assert_never(event)


def cut(event: Event, offsets: Sequence[int]) -> list[Event]:
    """Return the parts of an event with text, cut at all the offsets at once. (Cutting at one
    offset after the other would copy the rest of the text each time.)"""
    start, stop = event.span
    edges = [start, *(offset for offset in offsets if offset > start), stop]
    return [
        replace(event, span=Span(a, b), text=event.text[a - start : b - start])  # type: ignore[arg-type, union-attr]
        for a, b in pairwise(edges)
    ]


def owned_text(event: Event) -> str:
    """Return the characters of the stream in an event's span; "" if the span is empty."""
    match event:
        case TextEvent() | ReasoningEvent() | MarkupEvent() | ArgumentEvent():
            return event.text
        case CallNamedEvent() | FindingEvent():
            return event.text
        case CallStartedEvent() | CallEndedEvent() | CallAbortedEvent():
            return ""
        case _:
            assert_never(event)


def event_name(event: Event) -> str:
    """Return an event's name for people: `CallStartedEvent` → `call started`."""
    name = type(event).__name__.removesuffix("Event")
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()
