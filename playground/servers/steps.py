"""The steps of a projection, in order: which parsers run, then calls, text and values.

A step changes what an event is, never its span.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from playground.nouns.events import ArgumentEvent, Event
from playground.servers import call_steps, failed_calls, text_steps
from playground.servers.call_values import delivered_call
from playground.servers.failed_calls import deliver_nothing
from playground.servers.projection import Projection
from playground.servers.segments import ReplySegment, segments
from playground.servers.unclosed_calls import run_on_unclosed_calls


def project(reply: Projection, events: Iterable[Event]) -> list[Event]:
    """Return the events as the server delivers or drops them, over the same spans."""
    reply.segments = segments(events)
    for step in STEPS:
        step(reply)
    return [event for segment in reply.segments for event in segment.events]


def _place_reasoning(reply: Projection) -> None:
    """Deliver reasoning as reasoning or as content, or drop it (View.reasoning)."""
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
        # a dropped argument that has no event of its own (it is in a JSON body, or empty)
        notes = [
            reply.drop_finding(ended.span, "", f"the argument {key!r}")
            for key in sorted(dropped_keys - own_events)
        ]
        events = [reply.without_arguments(event, dropped_keys) for event in segment.events]
        place = events.index(ended)
        segment.events = [*events[:place], *notes, call, *events[place + 1 :]]


def _read_first_sections(reply: Projection) -> None:
    """Read only the first section (View.sections_read). Later sections are treated as text after
    calls, unless the choice says otherwise."""
    choice = reply.view.sections_read
    if choice == "all":
        return
    later = _later_sections(reply)
    if choice == "only one call" and any(s.kind != "separator" for s in later):
        deliver_nothing(reply)
    elif choice == "first to last as one" and later and _first_has_arguments(reply):
        for segment in _from_first_call_to(reply, later[-1]):
            reply.drop(segment, "calls that it takes for one and cannot read")
    elif choice == "first, dropped to last closer":
        _drop_to_last_closer(reply, later)
    for segment in later:
        if reply.view.text_after_calls == "dropped" or choice == "first, rest dropped":
            reply.drop(segment, "a section of calls after the first")
        elif segment.kind != "note":
            reply.as_text(segment)


def _later_sections(reply: Projection) -> list[ReplySegment]:
    """Return the calls and markers after the first section, or after the first call."""
    segments: list[ReplySegment] = []
    one_call = reply.view.sections_read in ("first call", "only one call")
    has_call = is_after_first = opens = False
    for segment in reply.segments:
        is_of_calls = segment.kind in ("call", "failed", "section", "separator")
        if is_after_first and is_of_calls:
            opened = segment.text.lstrip().startswith(tuple(reply.openers))
            opens = opens or not one_call or opened
            segments += [segment] * opens
        has_call = has_call or segment.kind in ("call", "failed")
        is_end = one_call or segment.kind == "section"
        is_after_first = is_after_first or (has_call and is_end)
    return segments


def _first_has_arguments(reply: Projection) -> bool:
    """Return True if a call of the first section has arguments."""
    for segment in reply.segments[reply.segments.index(_first_call(reply)) :]:
        if segment.kind == "section":
            return False
        if segment.ended is not None and segment.ended.arguments:
            return True
    return False


def _first_call(reply: Projection) -> ReplySegment:
    return next(segment for segment in reply.segments if segment.kind in ("call", "failed"))


def _from_first_call_to(reply: Projection, last: ReplySegment) -> list[ReplySegment]:
    """Return the segments from the first call, with its section's marker, to `last`, without the
    notes."""
    start, stop = (reply.segments.index(segment) for segment in (_first_call(reply), last))
    start -= start > 0 and reply.segments[start - 1].kind == "section"
    return [segment for segment in reply.segments[start : stop + 1] if segment.kind != "note"]


def _drop_to_last_closer(reply: Projection, later: Sequence[ReplySegment]) -> None:
    """Drop everything after the first section up to the last closer."""
    last = next((s for s in reversed(later) if s.kind == "section"), None)
    for segment in _from_first_call_to(reply, last) if last else ():
        if segment.span.start >= _end_of_first_section(reply):
            reply.drop(segment, "the text before a second closer")


def _end_of_first_section(reply: Projection) -> int:
    """Return the offset at which the first section ends."""
    start = reply.segments.index(_first_call(reply))
    ends = (s.span.stop for s in reply.segments[start:] if s.kind == "section")
    return next(ends, reply.segments[-1].span.stop)


STEPS: Final[tuple[Callable[[Projection], None], ...]] = (
    _place_reasoning,
    call_steps.read_by_position,
    call_steps.leave_unknown_markers,
    call_steps.require_endings,
    failed_calls.leave_calls_outside_sections,
    _read_first_sections,
    call_steps.take_text_after_calls,
    call_steps.break_sections,
    run_on_unclosed_calls,
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
