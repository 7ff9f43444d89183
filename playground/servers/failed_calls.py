"""The steps that apply a view's choices to failed calls, and what each choice does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from playground.base.findings import finding
from playground.nouns.events import (
    ArgumentEvent,
    CallAbortedEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    MarkupEvent,
    Span,
    TextEvent,
)
from playground.servers.call_values import complete_call
from playground.servers.projection import Projection
from playground.servers.segments import ReplySegment
from playground.servers.view import CallFate


def place_failed_calls(reply: Projection) -> None:
    """Apply to each failed call the view's choice for it (View.on_truncated, on_malformed,
    on_missing_body, on_missing_closer)."""
    _fail_mended_calls(reply)
    for segment in reply.of_kind("failed"):
        aborted = segment.aborted
        if aborted is None and segment.ended is None:
            continue  # an earlier failed call has decided on this segment too
        reason = aborted.reason if aborted else _failure_of_mended_call(reply, segment)
        _FATES[reply.view.fate_of(reason, reply.reader_switches)](reply, segment)


def _fail_mended_calls(reply: Projection) -> None:
    """Fail calls that need a repair which the server does not make (View.unsupported_repairs)."""
    repairs = set(reply.view.unsupported_repairs)
    for segment in reply.of_kind("call") if repairs else ():
        if _codes(segment) & repairs:
            segment.kind = "failed"


def _failure_of_mended_call(reply: Projection, call: ReplySegment) -> str:
    """Return the reason why the server cannot read a call that our reading has mended."""
    bodies_joined = any(key is None for key, _ in call.ended.raw[1:]) if call.ended else False
    if bodies_joined or "missing-closer" not in _codes(call):
        return "unmended"
    rest = reply.segments[reply.segments.index(call) + 1 :]
    following = next((segment for segment in rest if segment.kind != "note"), None)
    if following is None or following.kind != "section":
        return "truncated-call"
    closes = following.text.lstrip().startswith(tuple(reply.closers))
    return "unended-call" if closes else "truncated-call"


def _codes(segment: ReplySegment) -> set[str]:
    return {e.finding.code for e in segment.events if isinstance(e, FindingEvent)}


def leave_calls_outside_sections(reply: Projection) -> None:
    """Turn calls outside of sections into content (View.calls_outside_sections)."""
    is_inside = False
    for segment in reply.segments if reply.view.calls_outside_sections == "text" else ():
        if segment.kind in ("section", "bare"):  # a marker, or an opener with text but no call
            last_opener = max((segment.text.rfind(opener) for opener in reply.openers), default=-1)
            last_closer = max((segment.text.rfind(closer) for closer in reply.closers), default=-1)
            is_inside = last_opener > last_closer if last_opener != last_closer else is_inside
        elif segment.kind in ("call", "failed") and not is_inside:
            reply.as_text(segment)


def place_unclosed_section(reply: Projection) -> None:
    """Decide on the calls of a section without its closer (View.on_unclosed_section)."""
    if not any("unclosed-section" in _codes(segment) for segment in reply.segments):
        return
    match reply.view.on_unclosed_section:
        case "reply as text":
            reply_as_text(reply, keep_calls=False)
        case "error":
            fail_request(reply)
        case "dropped":
            for segment in _last_section(reply):
                if segment.kind == "call":
                    reply.drop(segment, "a call of a section without its closer")
        case "text":
            for segment in _last_section(reply):
                reply.as_text(segment)
        case "delivered":
            pass


def _last_section(reply: Projection) -> list[ReplySegment]:
    """Return the opener and the calls of the section that is still open at the end. A blank marker,
    or the beginning of a closer, does not open a section."""
    section: list[ReplySegment] = []
    for segment in reply.segments:
        marker = segment.text.strip()
        if segment.kind == "section" and not any(c.startswith(marker) for c in reply.closers):
            section = [segment]
        elif segment.kind in ("call", "section", "separator"):
            section.append(segment)
    return section


def fail_request(reply: Projection) -> None:
    """End the request with an error: drop the whole reply."""
    start = reply.segments[0].span.start
    error = finding("server-fails", "the reply", f"{reply.server} answers with an error")
    for segment in reply.segments:
        reply.drop(segment, "a reply, with an error")
    reply.segments.insert(0, ReplySegment("note", [FindingEvent(Span(start, start), error)]))


def stop_reading(reply: Projection, at: ReplySegment) -> None:
    """Drop a segment and everything after it."""
    for segment in reply.segments[reply.segments.index(at) :]:
        reply.drop(segment, "text that it cannot read, and everything after it")


def deliver_nothing(reply: Projection) -> None:
    """Drop everything except reasoning and stop tokens."""
    for segment in reply.segments:
        if segment.kind not in ("reasoning", "note", "stop"):
            reply.drop(segment, "a reply with a call that it cannot read")


def reply_as_text(reply: Projection, keep_calls: bool) -> None:
    """Turn all except reasoning and stop tokens into content; `keep_calls` also delivers calls."""
    reply.all_is_text = True
    for segment in reply.segments:
        if segment.kind not in ("reasoning", "note", "stop"):
            reply.as_text(segment, keep_calls and segment.kind == "call")


# what happens to a failed call, by the choice's name in a view


def _drop(reply: Projection, segment: ReplySegment) -> None:
    reply.drop(segment, "a call that it cannot read")


def _as_text(reply: Projection, segment: ReplySegment) -> None:
    reply.as_text(segment)


def _arguments_as_text(reply: Projection, segment: ReplySegment) -> None:
    """Turn the arguments into content, without the name and the markers around them."""
    events: list[Event] = []
    is_complete = segment.ended is not None
    for event in segment.events:
        match event:
            case ArgumentEvent():
                events.append(TextEvent(event.span, event.text))
            case CallNamedEvent() if is_complete:
                events.append(reply.drop_finding(event.span, event.text, "the name of a call"))
            case CallNamedEvent():
                events.append(MarkupEvent(event.span, event.text))
            case CallStartedEvent() | CallAbortedEvent() | CallEndedEvent():
                pass  # the segment is not a call any more
            case _:
                events.append(event)
    segment.kind, segment.events = "text", events


def _deliver(reply: Projection, segment: ReplySegment) -> None:
    _deliver_call(reply, segment, with_open=False)


def _deliver_with_open(reply: Projection, segment: ReplySegment) -> None:
    _deliver_call(reply, segment, with_open=True)


def _deliver_if_closed(reply: Projection, segment: ReplySegment) -> None:
    aborted = segment.aborted
    if aborted is None or (aborted.name in reply.tools and not aborted.argument_open):
        _deliver_call(reply, segment, with_open=False)
    else:
        fail_request(reply)


def _deliver_call(reply: Projection, segment: ReplySegment, with_open: bool) -> None:
    """Deliver a call as far as it was read, with a finding. `with_open` includes an argument that
    has no closer; otherwise it is dropped."""
    aborted = segment.aborted
    if aborted is None:  # a mended call is complete
        segment.kind = "call"
        return
    if not aborted.name:
        _drop(reply, segment)
        return
    call = complete_call(segment, reply.tools, with_open)
    ours = f"this project's parser aborts the call of {call.name!r}"
    message = f"{ours}, {reply.server} hands it over as far as it was read"
    start = Span(aborted.span.start, aborted.span.start)
    note = FindingEvent(start, finding("server-delivers", f"call {aborted.call_index}", message))
    # an argument with the key None is the whole body of a call, and is never lost
    lost = {key for key, _ in aborted.raw} - {*call.arguments, None}
    kept_events = [reply.without_arguments(event, lost) for event in segment.events]
    changed = [(note, call) if event is aborted else (event,) for event in kept_events]
    segment.events = [event for events in changed for event in events]
    segment.kind = "call"


def _reply_as_text_unless_call(reply: Projection, segment: ReplySegment) -> None:
    if any(other.ended and other.kind == "call" for other in reply.segments):
        _drop(reply, segment)
    else:
        reply_as_text(reply, keep_calls=False)


def _reply_as_text(reply: Projection, _: ReplySegment) -> None:
    reply_as_text(reply, keep_calls=False)


def _reply_as_text_and_calls(reply: Projection, _: ReplySegment) -> None:
    reply_as_text(reply, keep_calls=True)


def _fail_request(reply: Projection, _: ReplySegment) -> None:
    fail_request(reply)


def _deliver_nothing(reply: Projection, _: ReplySegment) -> None:
    deliver_nothing(reply)


_FATES: Final[dict[CallFate, Callable[[Projection, ReplySegment], None]]] = {
    "": _drop,
    "dropped": _drop,
    "text": _as_text,
    "arguments as text": _arguments_as_text,
    "delivered": _deliver,
    "delivered with open argument": _deliver_with_open,
    "delivered if closed, else error": _deliver_if_closed,
    "reply as text": _reply_as_text,
    "reply as text unless another call was read": _reply_as_text_unless_call,
    "reply as text and calls": _reply_as_text_and_calls,
    "reading stops": stop_reading,
    "error": _fail_request,
    "nothing delivered": _deliver_nothing,
}
