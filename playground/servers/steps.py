"""The steps of a projection, in their order: which parsers run, then calls, text and values.

A step changes what an event is, never where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from playground.events import (
    ArgumentEvent,
    Event,
)
from playground.servers import calls_read, texts
from playground.servers.call_values import handed_over
from playground.servers.failed_calls import failed, sectionless, unclosed
from playground.servers.headers import header
from playground.servers.projection import Projection
from playground.servers.sections import sections
from playground.servers.stretches import stretches


def project(reply: Projection, events: Iterable[Event]) -> list[Event]:
    """What the server hands over of merged events, and what it drops, over the same spans."""
    reply.stretches = stretches(events)
    for step in STEPS:
        step(reply)
    return [event for stretch in reply.stretches for event in stretch.events]


def _reasoning(reply: Projection) -> None:
    called = any(stretch.ended for stretch in reply.stretches)
    for stretch in reply.of_kind("reasoning"):
        match reply.view.reasoning:
            case "apart":
                pass
            case "dropped with calls" if not called:
                pass
            case "dropped" | "dropped with calls":
                reply.drop(stretch, "reasoning")
            case "content" | "content after opener":
                reply.as_text(stretch)


def _values(reply: Projection) -> None:
    """Arguments of calls that are delivered, as the server gives them."""
    for stretch in reply.stretches:
        ended = stretch.ended
        if ended is None:
            continue
        call, gone = handed_over(ended, reply.view, reply.tools)
        apart = {e.key for e in stretch.events if isinstance(e, ArgumentEvent)}
        # what has no event of its own: of a body that holds them all, or an empty one
        told = [reply.lost(ended.span, "", f"the argument {k!r}") for k in sorted(gone - apart)]
        events = [_without(reply, event, gone) for event in stretch.events]
        place = events.index(ended)
        stretch.events = [*events[:place], *told, call, *events[place + 1 :]]


def _without(reply: Projection, event: Event, gone: set[str]) -> Event:
    if isinstance(event, ArgumentEvent) and event.key in gone:
        return reply.lost(event.span, event.text, f"the argument {event.key!r}")
    return event


STEPS: Final[tuple[Callable[[Projection], None], ...]] = (
    _reasoning,
    calls_read.calls,
    calls_read.strangers,
    calls_read.closed,
    sectionless,
    sections,
    calls_read.behind,
    calls_read.breaking,
    texts.orphans,
    calls_read.late_closers,
    calls_read.indexed,
    calls_read.unknown,
    calls_read.bare,
    failed,
    unclosed,
    header,
    texts.until,
    texts.ended_texts,
    texts.texts,
    texts.skips,
    texts.around,
    texts.partial,
    texts.erases,
    texts.leaks,
    _values,
)
