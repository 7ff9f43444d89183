"""The step that applies a view's choice to calls after the first section or the first call."""

from __future__ import annotations

from collections.abc import Sequence

from playground.servers.failed_calls import deliver_nothing
from playground.servers.projection import Projection
from playground.servers.segments import ReplySegment


def read_first_sections(reply: Projection) -> None:
    """Read only the first section (View.sections_read).

    Later sections have the fate of text after calls, unless the choice says otherwise.
    """
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
    has_call = is_after_first = False
    for segment in reply.segments:
        is_of_calls = segment.kind in ("call", "failed", "section", "separator")
        opens = not one_call or segment.text.lstrip().startswith(tuple(reply.openers))
        if is_after_first and is_of_calls and opens:
            segments.append(segment)
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
    """Return the segments from the first call, with its section's marker, to `last`, but no
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
