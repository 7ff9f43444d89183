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
        reason = aborted.reason if aborted else _reason(stretch)
        fate = reply.view.failed(reason, reply.switches)
        _FATES[fate](reply, stretch)


def _reason(mended: Stretch) -> str:
    """Why the server cannot read a call that was mended here."""
    return "truncated-call" if "missing-closer" in _codes(mended) else "unmended"


def _codes(stretch: Stretch) -> set[str]:
    return {e.finding.code for e in stretch.events if isinstance(e, FindingEvent)}


def _unmended(reply: Projection) -> None:
    """Calls that our reading has mended, and the server does not."""
    for stretch in reply.of_kind("call") if reply.view.unmended else ():
        if _codes(stretch) & set(reply.view.unmended):
            stretch.kind = "failed"


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
    elif reply.view.unclosed == "dropped":
        for call in _last_section(reply):
            if call.kind == "call":
                reply.drop(call, "a call of a section without its closer")
    elif reply.view.unclosed == "text":
        for stretch in _last_section(reply):
            reply.as_text(stretch)


def _last_section(reply: Projection) -> list[Stretch]:
    """The opener and the calls of the section that is still open at the end."""
    found: list[Stretch] = []
    for stretch in reply.stretches:
        if stretch.kind == "section" and stretch.text.strip():
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
    "reply": _failed_reply,
    "reply if alone": _failed_if_alone,
    "reply and calls": _failed_reply_and_calls,
    "nothing": _failed_nothing,
}
