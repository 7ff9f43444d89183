"""Which calls a server reads at all: the steps about them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from playground.events import (
    ArgumentEvent,
    CallEndedEvent,
    CallNamedEvent,
    Span,
    owned_text,
)
from playground.servers.failed_calls import ends, fails, whole
from playground.servers.projection import Projection
from playground.servers.stretches import Stretch, cut


def calls(reply: Projection) -> None:
    """Calls are content where the server does not look for them."""
    texts = [s.span.start for s in reply.of_kind("text", "bare") if s.text.strip()]
    calls = [s.span.start for s in reply.of_kind("call", "failed")]
    stops = [s.span.start for s in reply.of_kind("stop") if s.span.start < min(calls, default=0)]
    open_texts = [text for text in texts if text > max(stops, default=-1)]
    unread = {
        "anywhere": False,
        "nowhere": True,
        "whole": bool(texts),
        "marked": bool(texts) and not _marked(reply.stretches),
        "at the start": bool(open_texts and calls) and open_texts[0] < calls[0],
        "at the end": bool(texts and calls) and texts[-1] > calls[-1],
    }
    if unread[reply.view.calls]:
        for stretch in reply.of_kind("call", "failed", "section", "separator"):
            reply.as_text(stretch)


def _marked(found: Sequence[Stretch]) -> bool:
    """Whether the first call stands behind more than a bare bracket: its section's marker, a tag
    or a fence."""
    first = next((i for i, s in enumerate(found) if s.kind in ("call", "failed")), 0)
    before = "".join(stretch.text for stretch in found[:first])
    return bool(re.search(r"(?:>|```\w*|\w\])\s*\[?\s*\Z", before))


def strangers(reply: Projection) -> None:
    """Markers that the server does not know, and calls that begin with one."""
    for stretch in reply.of_kind("section", "call", "failed", "bare"):
        if stretch.text.lstrip().startswith(reply.view.strangers):
            reply.as_text(stretch)


def closed(reply: Projection) -> None:
    """Calls that do not end as the server's calls do; its closer may be a stop token to us."""
    ends = reply.view.ends_with
    for stretch, behind in pairwise([*reply.stretches, None]) if ends else ():
        after = behind.text.lstrip() if behind and behind.kind in ("stop", "stray") else ""
        if stretch is None or stretch.kind != "call" or after.startswith(ends):
            continue
        if not stretch.text.rstrip().endswith(ends):
            reply.as_text(stretch)


def breaking(reply: Projection) -> None:
    """Sections in which a value holds what ends a section for the server."""
    for section in _by_section(reply.stretches) if reply.view.breaks_at else ():
        values = "".join(
            event.text
            for call in section
            for event in call.events
            if isinstance(event, ArgumentEvent)
        )
        if any(literal in values for literal in reply.view.breaks_at):
            for call in section:
                call.kind = "failed"


def _by_section(found: Sequence[Stretch]) -> list[list[Stretch]]:
    """The calls of each section."""
    sections: list[list[Stretch]] = [[]]
    for stretch in found:
        if stretch.kind == "section":
            sections.append([])
        elif stretch.kind == "call":
            sections[-1].append(stretch)
    return sections


def behind(reply: Projection) -> None:
    """Text right behind a call, which the server takes for the rest of it."""
    call: Stretch | None = None
    for stretch in list(reply.stretches) if reply.view.behind != "text" else ():
        if stretch.kind == "call" and stretch.ended is not None:
            call = stretch
        elif call is not None and stretch.kind in ("text", "bare") and stretch.text.strip():
            if reply.stretches[reply.stretches.index(stretch) - 1] is call:
                _taken(reply, call, stretch)
            call = None


def _taken(reply: Projection, call: Stretch, behind: Stretch) -> None:
    """The text becomes part of the call: of its arguments, or of a call that is broken."""
    ended = call.ended
    assert ended is not None
    reply.stretches.remove(behind)
    if reply.view.behind == "broken":
        call.events += behind.events
        call.kind = "failed"
        return
    taken = [
        ArgumentEvent(event.span, ended.call_index, None, owned_text(event))
        for event in behind.events
        if owned_text(event)
    ]
    stop = Span(behind.span.stop, behind.span.stop)
    raw = (*ended.raw, (None, behind.text))
    rest = [event for event in call.events if event is not ended]
    call.events = [*rest, *taken, replace(ended, span=stop, raw=raw)]


def late_closers(reply: Projection) -> None:
    """A call whose closer comes behind other markers reaches up to it."""
    call: Stretch | None = None
    for stretch in reply.stretches if reply.view.late_closers else ():
        if stretch.ended is not None:
            call = stretch
        elif stretch.kind in ("text", "bare") and stretch.text.strip():
            closer = next((c for c in reply.closers if stretch.text.lstrip().startswith(c)), "")
            if call is not None and closer:
                stop = stretch.span.start + stretch.text.index(closer) + len(closer)
                stretch.events, after = cut(stretch.events, stop)
                reply.drop(stretch, "a closer behind other markers")
                stretch.events += after
                stretch.kind = "text"
            call = None


def indexed(reply: Projection) -> None:
    """Calls without an index behind their name, which is no part of it."""
    for stretch in reply.of_kind("call") if reply.view.indexed else ():
        head = ""
        for event in stretch.events:
            if isinstance(event, ArgumentEvent):
                break
            head += owned_text(event)
        if not re.search(r":\d", head):
            reply.drop(stretch, "a call without an index behind its name")
            continue
        stretch.events = [
            replace(event, name=event.name.partition(":")[0])
            if isinstance(event, CallNamedEvent | CallEndedEvent)
            else event
            for event in stretch.events
        ]


def unknown(reply: Projection) -> None:
    """Calls of tools that were not offered."""
    if not reply.tools or reply.view.unknown == "delivered":
        return
    for stretch in reply.of_kind("call"):
        if stretch.ended is None or stretch.ended.name in reply.tools:
            continue
        if reply.view.unknown == "reply":
            whole(reply, keep_calls=False)
            return
        if reply.view.unknown == "error":
            fails(reply)
            return
        if reply.view.unknown == "ends":
            ends(reply, stretch)
            return
        if reply.view.unknown == "text":
            reply.as_text(stretch)
        else:
            reply.drop(stretch, f"a call of a tool that was not offered: {stretch.ended.name!r}")


def bare(reply: Projection) -> None:
    """Calls without arguments."""
    for stretch in reply.of_kind("call") if reply.view.bare == "dropped" else ():
        if stretch.ended is not None and not stretch.ended.arguments:
            reply.drop(stretch, "a call without arguments")
