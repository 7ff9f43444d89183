"""A whole reply read at once: what the events add up to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from playground.events import (
    CallAbortedEvent,
    CallEndedEvent,
    Event,
    FindingEvent,
    ReasoningEvent,
    TextEvent,
    merged,
)
from playground.findings import Finding


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A complete call; `raw` keeps its argument texts as they stood in the stream."""

    name: str
    arguments: dict[str, Any]
    call_id: str
    raw: tuple[tuple[str | None, str], ...]


@dataclass(frozen=True, slots=True)
class ParseResult:
    """What a reply says. `events` are merged: the same for any cutting of the stream."""

    content: str
    reasoning: str
    tool_calls: list[ToolCall]
    aborted: list[CallAbortedEvent]
    findings: list[Finding]
    events: list[Event]


def gather(events: Iterable[Event]) -> ParseResult:
    """Add up the events of a stream, in order."""
    whole = merged(events)
    return ParseResult(
        content="".join(event.text for event in whole if isinstance(event, TextEvent)),
        reasoning="".join(event.text for event in whole if isinstance(event, ReasoningEvent)),
        tool_calls=[
            ToolCall(event.name, event.arguments, event.call_id, event.raw)
            for event in whole
            if isinstance(event, CallEndedEvent)
        ],
        aborted=[event for event in whole if isinstance(event, CallAbortedEvent)],
        findings=[event.finding for event in whole if isinstance(event, FindingEvent)],
        events=whole,
    )
