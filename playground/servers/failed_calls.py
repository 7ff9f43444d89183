"""What becomes of calls that fail: the steps about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from playground.events import (
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
from playground.findings import finding
from playground.servers.call_values import as_far_as_read
from playground.servers.projection import Projection
from playground.servers.stretches import Stretch
from playground.servers.view import Failed


def failed(reply: Projection) -> None:
    _unmended(reply)
    for stretch in reply.of_kind("failed"):
        aborted = stretch.aborted
        if aborted is None and stretch.ended is None:
            continue  # content by now, with the whole reply
        reason = aborted.reason if aborted else _reason(reply, stretch)
        fate = reply.view.failed(reason, reply.switches)
        _FATES[fate](reply, stretch)


def _reason(reply: Projection, mended: Stretch) -> str:
    """Why the server cannot read a call that was mended here."""
    if "missing-closer" not in _codes(mended):
        return "unmended"
    behind = reply.stretches[reply.stretches.index(mended) + 1 :]
    after = next((stretch for stretch in behind if stretch.kind != "note"), None)
    if after is None or after.kind != "section":
        return "truncated-call"
    closes = after.text.lstrip().startswith(tuple(reply.closers))
    return "unended-call" if closes else "truncated-call"


def _codes(stretch: Stretch) -> set[str]:
    return {e.finding.code for e in stretch.events if isinstance(e, FindingEvent)}


def _unmended(reply: Projection) -> None:
    """Calls that our reading has mended, and the server does not."""
    for stretch in reply.of_kind("call") if reply.view.unmended else ():
        if _codes(stretch) & set(reply.view.unmended):
            stretch.kind = "failed"


def sectionless(reply: Projection) -> None:
    """Calls that stand in no section."""
    inside = False
    for stretch in reply.stretches if reply.view.sectionless == "text" else ():
        if stretch.kind in ("section", "bare"):  # an opener that text follows is bare
            opened = max((stretch.text.rfind(opener) for opener in reply.openers), default=-1)
            closed = max((stretch.text.rfind(closer) for closer in reply.closers), default=-1)
            inside = opened > closed if opened != closed else inside
        elif stretch.kind in ("call", "failed") and not inside:
            reply.as_text(stretch)


def unclosed(reply: Projection) -> None:
    """A section without its closer, in which nothing counts."""
    codes = {
        event.finding.code
        for stretch in reply.stretches
        for event in stretch.events
        if isinstance(event, FindingEvent)
    }
    if "unclosed-section" not in codes:
        return
    if reply.view.unclosed == "reply":
        whole(reply, keep_calls=False)
    elif reply.view.unclosed == "error":
        fails(reply)
    elif reply.view.unclosed == "dropped":
        for call in _last_section(reply):
            if call.kind == "call":
                reply.drop(call, "a call of a section without its closer")
    elif reply.view.unclosed == "text":
        for stretch in _last_section(reply):
            reply.as_text(stretch)


def _last_section(reply: Projection) -> list[Stretch]:
    """The opener and the calls of the section that is still open at the end: a blank marker, or one
    that begins a closer, opens none."""
    found: list[Stretch] = []
    for stretch in reply.stretches:
        marker = stretch.text.strip()
        if stretch.kind == "section" and not any(c.startswith(marker) for c in reply.closers):
            found = [stretch]
        elif stretch.kind in ("call", "section", "separator"):
            found.append(stretch)
    return found


def _failed_dropped(reply: Projection, stretch: Stretch) -> None:
    reply.drop(stretch, "a call that it cannot read")


def _failed_text(reply: Projection, stretch: Stretch) -> None:
    reply.as_text(stretch)


def _failed_arguments(reply: Projection, stretch: Stretch) -> None:
    """The arguments are content, without the markers around them and the name."""
    kept: list[Event] = []
    whole_call = stretch.ended is not None
    for event in stretch.events:
        match event:
            case ArgumentEvent():
                kept.append(TextEvent(event.span, event.text))
            case CallNamedEvent() if whole_call:
                kept.append(reply.lost(event.span, event.text, "the name of a call"))
            case CallNamedEvent():
                kept.append(MarkupEvent(event.span, event.text))
            case CallStartedEvent() | CallAbortedEvent() | CallEndedEvent():
                pass  # no call any more
            case _:
                kept.append(event)
    stretch.kind, stretch.events = "text", kept


def _failed_call(reply: Projection, stretch: Stretch) -> None:
    _delivered(reply, stretch, with_open=False)


def _failed_open_call(reply: Projection, stretch: Stretch) -> None:
    _delivered(reply, stretch, with_open=True)


def _failed_whole_call(reply: Projection, stretch: Stretch) -> None:
    aborted = stretch.aborted
    if aborted is None or (aborted.name in reply.tools and not aborted.argument_open):
        _delivered(reply, stretch, with_open=False)
    else:
        _failed_error(reply, stretch)


def _delivered(reply: Projection, stretch: Stretch, with_open: bool) -> None:
    """The call is delivered as far as it was read, which is told."""
    aborted = stretch.aborted
    if aborted is None:  # what was mended is whole
        stretch.kind = "call"
        return
    if not aborted.name:
        reply.drop(stretch, "a call that it cannot read")
        return
    delivered, code = as_far_as_read(stretch, reply.tools, with_open), "server-delivers"
    at = Span(aborted.span.start, aborted.span.start)
    told = FindingEvent(
        at,
        finding(
            code,
            f"call {aborted.call_index}",
            f"{reply.who} hands over the call of {delivered.name!r} as far as it was read",
        ),
    )
    changed = [(told, delivered) if event is aborted else (event,) for event in stretch.events]
    stretch.events = [event for events in changed for event in events]
    stretch.kind = "call"


def _failed_if_alone(reply: Projection, stretch: Stretch) -> None:
    if any(other.ended and other.kind == "call" for other in reply.stretches):
        reply.drop(stretch, "a call that it cannot read")
    else:
        whole(reply, keep_calls=False)


def _failed_reply(reply: Projection, _: Stretch) -> None:
    whole(reply, keep_calls=False)


def _failed_reply_and_calls(reply: Projection, _: Stretch) -> None:
    whole(reply, keep_calls=True)


def _failed_error(reply: Projection, _: Stretch) -> None:
    fails(reply)


def fails(reply: Projection) -> None:
    """The request ends with an error: a client that waits for the whole reply gets nothing."""
    start = reply.stretches[0].span.start
    told = finding("server-fails", "the reply", f"{reply.who} answers with an error")
    for stretch in reply.stretches:
        reply.drop(stretch, "a reply, with an error")
    at_start = FindingEvent(Span(start, start), told)
    reply.stretches.insert(0, Stretch("note", [at_start]))


def _failed_ends(reply: Projection, stretch: Stretch) -> None:
    ends(reply, stretch)


def ends(reply: Projection, at: Stretch) -> None:
    """Reading ends where this stands: it is dropped with all that is behind it."""
    behind = reply.stretches[reply.stretches.index(at) :]
    for stretch in behind:
        reply.drop(stretch, "what does not fit, and all behind it")


def _failed_nothing(reply: Projection, _: Stretch) -> None:
    nothing(reply)


def nothing(reply: Projection) -> None:
    """Of all but reasoning nothing is handed over."""
    for stretch in reply.stretches:
        if stretch.kind not in ("reasoning", "note", "stop"):
            reply.drop(stretch, "a reply with a call that it cannot read")


def whole(reply: Projection, keep_calls: bool) -> None:
    """All but reasoning is content."""
    reply.whole = True
    for stretch in reply.stretches:
        if stretch.kind not in ("reasoning", "note", "stop"):
            reply.as_text(stretch, keep_calls and stretch.kind == "call")


_FATES: Final[dict[Failed, Callable[[Projection, Stretch], None]]] = {
    "": _failed_dropped,
    "dropped": _failed_dropped,
    "text": _failed_text,
    "arguments": _failed_arguments,
    "call": _failed_call,
    "open call": _failed_open_call,
    "whole call or error": _failed_whole_call,
    "reply": _failed_reply,
    "reply if alone": _failed_if_alone,
    "reply and calls": _failed_reply_and_calls,
    "ends": _failed_ends,
    "error": _failed_error,
    "nothing": _failed_nothing,
}
