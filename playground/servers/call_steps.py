"""The steps that decide which calls a server reads. Each names the field of `View` that it
applies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from playground.nouns.events import ArgumentEvent, CallEndedEvent, CallNamedEvent, Span, owned_text
from playground.servers.failed_calls import fail_request, reply_as_text, stop_reading
from playground.servers.projection import Projection
from playground.servers.segments import ReplySegment, cut_events


def read_by_position(reply: Projection) -> None:
    """Turn calls at places where the server reads none into content (View.calls_read)."""
    texts = [s.span.start for s in reply.of_kind("text", "bare") if s.text.strip()]
    calls = [s.span.start for s in reply.of_kind("call", "failed")]
    stops = [s.span.start for s in reply.of_kind("stop") if s.span.start < min(calls, default=0)]
    open_texts = [text for text in texts if text > max(stops, default=-1)]
    is_unread = {
        "anywhere": False,
        "nowhere": True,
        "whole reply": bool(texts),
        "whole reply or marked": bool(texts) and not _is_marked(reply.segments),
        "at the start": bool(open_texts and calls) and open_texts[0] < calls[0],
        "at the end": bool(texts and calls) and texts[-1] > calls[-1],
    }
    if is_unread[reply.view.calls_read]:
        for segment in reply.of_kind("call", "failed", "section", "separator"):
            reply.as_text(segment)


def _is_marked(reply: Sequence[ReplySegment]) -> bool:
    """Return True if a section's marker, a tag or a fence comes right before the first call. A
    bracket may follow it, but is not enough alone."""
    first = next((i for i, s in enumerate(reply) if s.kind in ("call", "failed")), 0)
    before = "".join(segment.text for segment in reply[:first])
    return bool(re.search(r"(?:>|```\w*|\w\])\s*\[?\s*\Z", before))


def leave_unknown_markers(reply: Projection) -> None:
    """Turn markers that the server does not know, and their calls, into content
    (View.unknown_markers)."""
    for segment in reply.of_kind("section", "call", "failed", "bare"):
        if segment.text.lstrip().startswith(reply.view.unknown_markers):
            reply.as_text(segment)


def require_endings(reply: Projection) -> None:
    """Turn calls into content if they lack the ending that the server requires
    (View.call_must_end_with). The ending may be a separate segment, because our parser may have
    read it as a stop token."""
    endings = reply.view.call_must_end_with
    for segment, following in pairwise([*reply.segments, None]) if endings else ():
        if segment is None or segment.kind != "call":
            continue
        if (
            following is not None
            and following.kind in ("stop", "stray")
            and following.text.lstrip().startswith(endings)
        ):
            segment.events += following.events  # the ending is treated like the call
            reply.segments.remove(following)
        elif not segment.text.rstrip().endswith(endings):
            reply.as_text(segment)


def break_sections(reply: Projection) -> None:
    """Fail the calls of a section if a value has a literal at which the server ends the section
    (View.values_must_not_hold)."""
    literals = reply.view.values_must_not_hold
    for calls in _calls_by_section(reply.segments) if literals else ():
        values = "".join(
            event.text
            for call in calls
            for event in call.events
            if isinstance(event, ArgumentEvent)
        )
        if any(literal in values for literal in literals):
            for call in calls:
                call.kind = "failed"


def _calls_by_section(reply: Sequence[ReplySegment]) -> list[list[ReplySegment]]:
    sections: list[list[ReplySegment]] = [[]]
    for segment in reply:
        if segment.kind == "section":
            sections.append([])
        elif segment.kind == "call":
            sections[-1].append(segment)
    return sections


def take_text_after_calls(reply: Projection) -> None:
    """Make text that directly follows a call a part of it (View.text_right_after_call)."""
    call: ReplySegment | None = None
    takes = reply.view.text_right_after_call in ("argument", "malformed call")
    for segment in list(reply.segments) if takes else ():
        if segment.ended is not None:
            call = segment
        elif call is not None and segment.kind in ("text", "bare") and segment.text.strip():
            if reply.segments[reply.segments.index(segment) - 1] is call:
                _join_to_call(reply, call, segment)
            call = None


def _join_to_call(reply: Projection, call: ReplySegment, text: ReplySegment) -> None:
    """Add text to a call's arguments, or make the call malformed."""
    ended = call.ended
    assert ended is not None
    reply.segments.remove(text)
    if reply.view.text_right_after_call == "malformed call":
        call.events += text.events
        call.kind = "failed"
        return
    arguments = [
        ArgumentEvent(event.span, ended.call_index, None, owned_text(event))
        for event in text.events
        if owned_text(event)
    ]
    stop = Span(text.span.stop, text.span.stop)
    raw = (*ended.raw, (None, text.text))
    rest = [event for event in call.events if event is not ended]
    call.events = [*rest, *arguments, replace(ended, span=stop, raw=raw)]


def extend_to_late_closers(reply: Projection) -> None:
    """Drop a closer that comes after other markers (View.closer_after_stray_markers)."""
    call: ReplySegment | None = None
    for segment in reply.segments if reply.view.closer_after_stray_markers else ():
        if segment.ended is not None:
            call = segment
        elif segment.kind in ("text", "bare") and segment.text.strip():
            closer = next((c for c in reply.closers if segment.text.lstrip().startswith(c)), "")
            if call is not None and closer:
                stop = segment.span.start + segment.text.index(closer) + len(closer)
                segment.events, after = cut_events(segment.events, stop)
                reply.drop(segment, "a closer after other markers")
                segment.events += after
                segment.kind = "text"
            call = None


def require_index(reply: Projection) -> None:
    """Drop calls without an index after their name, and remove the index from the other names
    (View.index_after_name_required)."""
    for segment in reply.of_kind("call") if reply.view.index_after_name_required else ():
        head = ""
        for event in segment.events:
            if isinstance(event, ArgumentEvent):
                break
            head += owned_text(event)
        if not re.search(r":\d", head):
            reply.drop(segment, "a call without an index after its name")
            continue
        segment.events = [
            replace(event, name=event.name.partition(":")[0])
            if isinstance(event, CallNamedEvent | CallEndedEvent)
            else event
            for event in segment.events
        ]


def place_unknown_tools(reply: Projection) -> None:
    """Deliver, drop or convert calls of tools that were not offered (View.on_unknown_tool)."""
    fate = reply.view.on_unknown_tool
    if not reply.tools or fate == "delivered":
        return
    for segment in reply.of_kind("call"):
        if segment.ended is None or segment.ended.name in reply.tools:
            continue
        match fate:
            case "reply as text":
                reply_as_text(reply, keep_calls=False)
                return
            case "error":
                fail_request(reply)
                return
            case "reading stops":
                stop_reading(reply, segment)
                return
            case "text":
                reply.as_text(segment)
            case "dropped":
                name = segment.ended.name
                reply.drop(segment, f"a call of a tool that was not offered: {name!r}")


def drop_calls_without_arguments(reply: Projection) -> None:
    """Drop calls without arguments (View.calls_without_arguments)."""
    drops = reply.view.calls_without_arguments == "dropped"
    for segment in reply.of_kind("call") if drops else ():
        if segment.ended is not None and not segment.ended.arguments:
            reply.drop(segment, "a call without arguments")
