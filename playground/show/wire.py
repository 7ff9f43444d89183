"""Events as plain values: for JSON output, tables, and the page components."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from playground.events import Event, FindingEvent


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


def event_json(event: Event) -> dict[str, Any]:
    """An event with its name and its span as two offsets."""
    data = asdict(event)
    start, stop = data.pop("span")
    return {"event": event_name(event), "start": start, "stop": stop, **data}
