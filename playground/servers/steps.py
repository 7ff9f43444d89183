"""The steps of a projection, in their order: which parsers run, then calls, text and values.

A step changes what an event is, never where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from playground.events import (
    ArgumentEvent,
    CallEndedEvent,
    CallNamedEvent,
    Event,
    TextEvent,
    owned_text,
    split,
)
from playground.servers.call_values import handed_over
from playground.servers.failed_calls import ends, failed, fails, sectionless, unclosed, whole
from playground.servers.headers import header
from playground.servers.projection import Projection
from playground.servers.stretches import Stretch, cut, stretches


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


def _calls(reply: Projection) -> None:
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


def _strangers(reply: Projection) -> None:
    """Markers that the server does not know, and calls that begin with one."""
    for stretch in reply.of_kind("section", "call", "failed", "bare"):
        if stretch.text.lstrip().startswith(reply.view.strangers):
            reply.as_text(stretch)


def _sections(reply: Projection) -> None:
    """Calls behind the first section, which have the fate of text behind a call."""
    called = over = False
    for stretch in reply.stretches if reply.view.sections == "first" else ():
        if over and stretch.kind in ("call", "failed", "section", "separator"):
            if reply.view.after == "dropped":
                reply.drop(stretch, "a section of calls behind the first")
            else:
                reply.as_text(stretch)
        called = called or stretch.kind in ("call", "failed")
        over = over or (called and stretch.kind == "section")


def _breaking(reply: Projection) -> None:
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
                reply.drop(call, "a section of calls that it cannot read")


def _by_section(found: Sequence[Stretch]) -> list[list[Stretch]]:
    """The calls of each section."""
    sections: list[list[Stretch]] = [[]]
    for stretch in found:
        if stretch.kind == "section":
            sections.append([])
        elif stretch.kind == "call":
            sections[-1].append(stretch)
    return sections


def _indexed(reply: Projection) -> None:
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


def _late_closers(reply: Projection) -> None:
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


def _bare(reply: Projection) -> None:
    """Calls without arguments."""
    for stretch in reply.of_kind("call") if reply.view.bare == "dropped" else ():
        if stretch.ended is not None and not stretch.ended.arguments:
            reply.drop(stretch, "a call without arguments")


def _unknown(reply: Projection) -> None:
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


def _orphans(reply: Projection) -> None:
    called = any(stretch.ended for stretch in reply.stretches)
    if reply.view.orphans == "kept":
        markers = reply.of_kind("stray")
    elif reply.view.orphans == "closers kept":
        markers = [s for s in reply.of_kind("stray") if s.text.strip() in reply.closers]
    elif reply.view.orphans == "kept without calls" and not called:
        markers = reply.of_kind("stray", "section", "separator")
    else:
        return
    for stretch in markers:
        reply.as_text(stretch)


def _until(reply: Projection) -> None:
    """Content ends where the opener of calls stands, although no call follows it; or goes on after
    its closer."""
    until, ended, before = reply.view.until, False, ""
    for stretch in [] if reply.whole else reply.stretches:
        if not (ended and "stray" in (stretch.kind, before)):  # the opener itself may be markup
            ended = stretch.kind == "bare" or (ended and until == "opener")
        before = stretch.kind
        if until == "end" or not ended or stretch.kind not in ("text", "bare"):
            continue
        kept = _after_closer(stretch, reply.closers) if until == "closer" else []
        reply.drop(stretch, "an opener without a call, and the text after it")
        stretch.events += kept
        stretch.kind = "text" if kept else stretch.kind


def _after_closer(stretch: Stretch, closers: Sequence[str]) -> list[Event]:
    """Cut off a stretch what stands after the first closer in it."""
    text = stretch.text
    stops = [at + len(closer) for closer in closers if (at := text.find(closer)) >= 0]
    if not stops:
        return []
    stretch.events, after = cut(stretch.events, stretch.span.start + min(stops))
    return after


def _around(reply: Projection) -> None:
    """Text before the first call that is delivered, between two, and after the last."""
    calls = [i for i, s in enumerate(reply.stretches) if s.ended is not None]
    if not calls or reply.whole:
        return
    view = reply.view
    for index, stretch in enumerate(reply.stretches):
        if stretch.kind not in ("text", "bare") or stretch.ended is not None:
            continue
        place = "before" if index < calls[0] else "after" if index > calls[-1] else "between"
        keep = {"before": view.before, "between": view.between, "after": view.after}[place]
        if keep in ("error", "ends") and stretch.text.strip():
            (fails(reply) if keep == "error" else ends(reply, stretch))
            return
        if keep == "dropped":
            reply.drop(stretch, f"text {place} {'calls' if place == 'between' else 'a call'}")


def _partial(reply: Projection) -> None:
    """Half an opener at the very end, which the server still holds when the stream ends."""
    texts = reply.of_kind("text", "bare")
    if (
        reply.whole
        or reply.view.partial == "kept"
        or not texts
        or texts[-1] is not _last_owner(reply)
    ):
        return
    last = texts[-1]
    place = max(n for n, each in enumerate(last.events) if owned_text(each))  # a note may follow
    event = last.events[place]
    any_tag = reply.view.partial == "open tag dropped"
    text = owned_text(event)
    cut = _open_tag(text) if any_tag else _half_opener(text, reply.openers)
    if cut and isinstance(event, TextEvent):
        head, tail = split(event, event.span.stop - cut)
        lost = reply.lost(tail.span, owned_text(tail), "half an opener at the end")
        last.events[place : place + 1] = [*([head] if head else []), lost]


def _last_owner(reply: Projection) -> Stretch | None:
    return next((s for s in reversed(reply.stretches) if s.text), None)


def _half_opener(text: str, openers: Sequence[str]) -> int:
    """How many characters at the end of a text begin an opener."""
    lengths = (
        length
        for opener in openers
        for length in range(min(len(opener) - 1, len(text)), 0, -1)
        if text.endswith(opener[:length])
    )
    return max(lengths, default=0)


def _open_tag(text: str) -> int:
    """A `<` that no `>` follows, and all behind it, `x < 10` too; but none in code between
    back-ticks (claude-coder 78a56b1 tool-parser.ts, processNonToolChar)."""
    code = text.rfind("`") + 1
    tag = text.find("<", max(code, text.rfind(">") + 1))
    return len(text) - tag if tag >= 0 and text.count("`") % 2 == 0 else 0


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
    _calls,
    _strangers,
    sectionless,
    _sections,
    _breaking,
    _orphans,
    _late_closers,
    _indexed,
    _unknown,
    _bare,
    failed,
    unclosed,
    header,
    _until,
    _around,
    _partial,
    _values,
)
