"""Values as pandas tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from playground.events import Event, FindingEvent

if TYPE_CHECKING:
    from playground.cache_placement import CachePlacement
    from playground.compare import Comparison
    from playground.replay import Timeline


def comparison(value: Comparison) -> pd.DataFrame:
    """One row a dialect; a column for each kind of text holds its characters."""
    rows = [
        {
            "dialect": column.dialect.name,
            "messages": len(column.rendering.messages),
            "characters": sum(column.characters.values()),
            **column.characters,
            "findings": len(column.findings),
        }
        for column in value.columns
    ]
    frame = pd.DataFrame(rows).fillna(0)
    numbers = frame.columns.drop("dialect")
    frame[numbers] = frame[numbers].astype(int)
    return frame


def placement(value: CachePlacement) -> pd.DataFrame:
    """One row a part of a message."""
    rows = [
        {
            "message": part.message,
            "part": part.part,
            "role": part.role,
            "characters": len(part.text),
            "marked": part.decision.marked,
            "reason": part.decision.reason,
            "explanation": part.decision.explanation,
        }
        for part in value.parts
    ]
    columns = ["message", "part", "role", "characters", "marked", "reason", "explanation"]
    return pd.DataFrame(rows, columns=columns)


def timeline(value: Timeline) -> pd.DataFrame:
    """One row an event, in order, with the step that gave it."""
    rows = [
        {
            "step": index,
            "at": step.at,
            "event": event_name(event),
            "start": event.span.start,
            "stop": event.span.stop,
            "text": event_text(event),
        }
        for index, step in enumerate(value.steps)
        for event in step.events
    ]
    return pd.DataFrame(rows, columns=["step", "at", "event", "start", "stop", "text"])


def event_name(event: Event) -> str:
    """`CallStartedEvent` → `call started`."""
    name = type(event).__name__.removesuffix("Event")
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()


def event_text(event: Event) -> str:
    """What an event says, in one line of a table."""
    if isinstance(event, FindingEvent):
        return f"{event.finding.code}: {event.finding.message}"
    for field in ("text", "name", "reason", "call_id"):
        found = getattr(event, field, None)
        if found:
            return str(found)
    return ""
