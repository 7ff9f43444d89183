"""The events of a parser, whose spans tile the decoded stream, in order.

Every character lies in exactly one event's span; events that own no characters have an empty span.
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


# A stream has one of the next four for every chunk: they are the leanest events. Their span begins
# at an offset and is as long as the text, so a parser gives the offset alone, and the span is made
# when somebody asks; one that is given is kept as it is. (A frozen dataclass takes five times as
# long to make. Nobody writes into these either.)


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
    """Text between reasoning tags."""

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
    """Characters of the wire form: markers, JSON punctuation, whitespace between them.

    `role` is what they belong to: a section around calls, a call, reasoning, text in which nothing
    is a call; or they stand between calls (separator), end the reply (stop), or belong to nothing
    (stray: a closer without its opener, a token of the alphabet that leaked).
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
        event = new(ArgumentEvent)  # a call of the class would pass all four on once more
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
    setattr(_kind, "span", property(_span_of))  # noqa: B010  # a field to dataclasses and to mypy


@dataclass(frozen=True, slots=True)
class CallStartedEvent:
    """A call begins; `call_id` is ordinal unless the wire brought one."""

    span: Span
    call_index: int
    call_id: str


@dataclass(frozen=True, slots=True)
class CallNamedEvent:
    """The call's name is known; `text` is how it stands in the stream, escapes and all."""

    span: Span
    call_index: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class CallEndedEvent:
    """A complete call; `raw` keeps the argument texts as they stood in the stream."""

    span: Span
    call_index: int
    call_id: str
    name: str
    arguments: dict[str, Any]
    raw: tuple[tuple[str | None, str], ...]


@dataclass(frozen=True, slots=True)
class CallAbortedEvent:
    """A call that is not delivered, with what was read of it; `argument_open` says that the last
    of `raw` was not at its end. What follows up to the call's closer belongs to it: see `extents`.
    """

    span: Span
    call_index: int
    name: str | None
    raw: tuple[tuple[str | None, str], ...]
    reason: str
    argument_open: bool = False


@dataclass(frozen=True, slots=True)
class FindingEvent:
    """A finding at its place; a span that is not empty owns text that became nothing else."""

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
    """Join neighbours that differ only by where the stream was cut."""
    result: list[Event] = []
    more: list[str] = []  # of the last event, joined once: appending strings is quadratic
    last: Event | None = None
    end: Event | None = None  # the last piece of it
    for event in events:
        if last is not None and type(event) is type(last) and _continues(last, event):
            more.append(event.text)  # type: ignore[union-attr]
            end = event
            continue
        if end is not None:
            result[-1], end = _joined(result[-1], more, end), None
            more.clear()
        result.append(event)
        last = event
    if end is not None:
        result[-1] = _joined(result[-1], more, end)
    return result


def _continues(last: Event, event: Event) -> bool:
    match event:  # the commonest first
        case MarkupEvent(role=role):
            return isinstance(last, MarkupEvent) and last.role == role
        case TextEvent() | ReasoningEvent():
            return type(last) is type(event)
        case ArgumentEvent(call_index=index, key=key):
            return isinstance(last, ArgumentEvent) and (last.call_index, last.key) == (index, key)
        case FindingEvent(finding=found, text=text):
            return isinstance(last, FindingEvent) and bool(text) and last.finding == found
        case CallStartedEvent() | CallNamedEvent() | CallEndedEvent() | CallAbortedEvent():
            return False
        case _:
            assert_never(event)


def _joined(first: Event, more: list[str], end: Event) -> Event:
    span = Span(first.span.start, end.span.stop)
    text = "".join([first.text, *more])  # type: ignore[union-attr]
    match first:  # of the leanest ones there are most: `replace` would look at their fields
        case MarkupEvent(role=role):
            return MarkupEvent(span, text, role)
        case TextEvent() | ReasoningEvent():
            return type(first)(span, text)
        case ArgumentEvent(call_index=index, key=key):
            return ArgumentEvent(span, index, key, text)
    return replace(first, span=span, text=text)  # type: ignore[arg-type]


def split(event: Event, offset: int) -> tuple[Event | None, Event]:
    """Cut an event's text at an offset: the part before it, if any, and the rest.

    An event without text of its own is moved past the offset instead.
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
    """Return an event with text of its own, cut at offsets in it: at all of them at once, since
    each half copies what is left.
    """
    start, stop = event.span
    edges = [start, *(offset for offset in offsets if offset > start), stop]
    return [
        replace(event, span=Span(a, b), text=event.text[a - start : b - start])  # type: ignore[arg-type, union-attr]
        for a, b in pairwise(edges)
    ]


def owned_text(event: Event) -> str:
    """Return the characters of an event's span, as they stood in the stream; "" where it owns
    none.
    """
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
    """`CallStartedEvent` → `call started`."""
    name = type(event).__name__.removesuffix("Event")
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()
