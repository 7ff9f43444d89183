"""The steps of a projection, in order: which parsers run, then calls, text and values.

A step changes what an event is, never its span.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from playground.nouns.events import ArgumentEvent, Event
from playground.servers import call_steps, failed_calls, text_steps
from playground.servers.call_values import delivered_call
from playground.servers.projection import Projection
from playground.servers.section_steps import read_first_sections
from playground.servers.segments import segments


def project(reply: Projection, events: Iterable[Event]) -> list[Event]:
    """Return the events as the server delivers or drops them, over the same spans."""
    reply.segments = segments(events)
    for step in STEPS:
        step(reply)
    return [event for segment in reply.segments for event in segment.events]


def _place_reasoning(reply: Projection) -> None:
    """Separate, drop or keep the reasoning (View.reasoning)."""
    has_calls = reply.has_calls
    for segment in reply.of_kind("reasoning"):
        match reply.view.reasoning:
            case "separate":
                pass
            case "dropped beside calls" if not has_calls:
                pass
            case "dropped" | "dropped beside calls":
                reply.drop(segment, "reasoning")
            case "content" | "content with opener":
                reply.as_text(segment)


def _convert_values(reply: Projection) -> None:
    """Replace the arguments of delivered calls by those that the server delivers."""
    for segment in reply.segments:
        ended = segment.ended
        if ended is None:
            continue
        call, dropped_keys = delivered_call(ended, reply.view, reply.tools)
        own_events = {e.key for e in segment.events if isinstance(e, ArgumentEvent)}
        # some arguments have no event of their own: they stand in one body, or are empty
        notes = [
            reply.drop_finding(ended.span, "", f"the argument {key!r}")
            for key in sorted(dropped_keys - own_events)
        ]
        events = [_without_arguments(reply, event, dropped_keys) for event in segment.events]
        place = events.index(ended)
        segment.events = [*events[:place], *notes, call, *events[place + 1 :]]


def _without_arguments(reply: Projection, event: Event, dropped_keys: set[str]) -> Event:
    if isinstance(event, ArgumentEvent) and event.key in dropped_keys:
        return reply.drop_finding(event.span, event.text, f"the argument {event.key!r}")
    return event


STEPS: Final[tuple[Callable[[Projection], None], ...]] = (
    _place_reasoning,
    call_steps.read_by_position,
    call_steps.leave_unknown_markers,
    call_steps.require_endings,
    failed_calls.leave_calls_outside_sections,
    read_first_sections,
    call_steps.take_text_after_calls,
    call_steps.break_sections,
    text_steps.place_stray_markers,
    call_steps.extend_to_late_closers,
    call_steps.require_index,
    call_steps.place_unknown_tools,
    call_steps.drop_calls_without_arguments,
    failed_calls.place_failed_calls,
    failed_calls.place_unclosed_section,
    text_steps.drop_header,
    text_steps.drop_after_opener,
    text_steps.require_text_endings,
    text_steps.keep_one_text,
    text_steps.skip_separators,
    text_steps.place_text_around_calls,
    text_steps.drop_half_opener,
    text_steps.erase_literals,
    text_steps.leave_section_markers,
    _convert_values,
)
