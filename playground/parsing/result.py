"""A whole reply: the sum of a parser's events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from playground.base.display import Shown
from playground.base.findings import Finding
from playground.base.wording import counted
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
    merged,
)
from playground.parsing.parser import DialectParser
from playground.parsing.switches import Switches


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A complete call. `raw` has a pair for each argument: its name, or None for all arguments as
    one text, and its text in the stream."""

    name: str
    arguments: dict[str, Any]
    call_id: str
    raw: tuple[tuple[str | None, str], ...]


@dataclass(frozen=True, slots=True)
class ParseResult(Shown):
    """A reply that was read to its end. Shown as a table, it has a row for each event.

    `events` are merged, so that they are the same for any cutting of the stream. `switches` are the
    settings by which the reply was read.
    """

    content: str
    reasoning: str
    tool_calls: list[ToolCall]
    aborted: list[CallAbortedEvent]
    findings: list[Finding]
    events: list[Event]
    switches: Switches = field(default_factory=Switches)

    def _summary(self) -> str:
        names = ", ".join(call.name for call in self.tool_calls[:3])
        counts = [
            f"{counted(len(self.tool_calls), 'call')}{names and f' ({names:.30})'}",
            f"{len(self.aborted)} aborted" if self.aborted else "",
            counted(len(self.content), "character") + " of content",
            counted(len(self.findings), "finding"),
        ]
        return ", ".join(filter(None, counts))


def read_to_end(parser: DialectParser, batches: Iterable[Iterable[Event]]) -> ParseResult:
    """Collect all events of a parser, end the stream, and sum the events up.

    `batches` yields the events of each feeding. It is lazy: iterating over it feeds the parser.
    """
    events = [event for batch in batches for event in batch]
    return gather([*events, *parser.finish()], parser.switches)


def gather(events: Iterable[Event], switches: Switches | None = None) -> ParseResult:
    """Sum up the events of a stream. `switches` are those of its parser."""
    merged_events, switches = merged(events), switches or Switches()
    return ParseResult(
        content="".join(_content(merged_events, switches.broken_calls == "text")),
        reasoning="".join(
            event.text for event in merged_events if isinstance(event, ReasoningEvent)
        ),
        tool_calls=[
            ToolCall(event.name, event.arguments, event.call_id, event.raw)
            for event in merged_events
            if isinstance(event, CallEndedEvent)
        ],
        aborted=[event for event in merged_events if isinstance(event, CallAbortedEvent)],
        findings=[event.finding for event in merged_events if isinstance(event, FindingEvent)],
        events=merged_events,
        switches=switches,
    )


def with_finding(result: ParseResult, about: Finding) -> ParseResult:
    """Return the result with a finding about the whole reply added at its end."""
    end = result.events[-1].span.stop if result.events else 0
    events = [*result.events, FindingEvent(Span(end, end), about)]
    return replace(result, events=events, findings=[*result.findings, about])


def _content(events: Iterable[Event], with_broken_calls: bool) -> Iterator[str]:
    """Yield the texts and, with `with_broken_calls`, all characters of aborted calls, markers
    included."""
    call_texts: list[str] = []
    is_broken = False  # True after an aborted call: the text up to its closer belongs to it
    for event in events:
        match event:
            case TextEvent():
                call_texts, is_broken = [], False
                yield event.text
            case CallEndedEvent() | ReasoningEvent():
                call_texts, is_broken = [], False
            case CallStartedEvent():  # the opener may have come as an earlier event
                is_broken = False
            case CallAbortedEvent():
                if with_broken_calls:
                    yield "".join(call_texts)
                    call_texts, is_broken = [], True
            case MarkupEvent(role="reasoning" | "text" | "stop" | "stray"):
                pass  # not a part of a call
            case MarkupEvent() | ArgumentEvent() | CallNamedEvent() | FindingEvent():
                if is_broken:
                    yield event.text
                else:
                    call_texts.append(event.text)
            case _:
                assert_never(event)
