"""What becomes of text, and of markers that are none of a call: the steps about them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from playground.events import (
    Event,
    Span,
    TextEvent,
    owned_text,
    split,
)
from playground.servers.failed_calls import ends, fails
from playground.servers.projection import Projection
from playground.servers.stretches import Stretch, cut


def orphans(reply: Projection) -> None:
    called = any(stretch.ended for stretch in reply.stretches)
    if reply.view.orphans == "kept":
        markers = reply.of_kind("stray")
    elif reply.view.orphans == "closers kept":
        markers = [s for s in reply.of_kind("stray") if s.text.strip() in reply.closers]
    elif reply.view.orphans == "kept without calls" and not called:
        markers = reply.of_kind("stray", "section", "separator")
    elif reply.view.orphans == "as it came" and not called:
        markers = reply.of_kind("stray", "section", "separator", "text", "stop")
    else:
        return
    for stretch in markers:
        reply.as_text(stretch)


def until(reply: Projection) -> None:
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


def ended_texts(reply: Projection) -> None:
    """Beside a call, texts that do not end with the literal that has to end them."""
    literal = reply.view.text_end
    called = any(stretch.ended for stretch in reply.stretches)
    for stretch, behind in pairwise([*reply.stretches, None]) if literal and called else ():
        if stretch and stretch.kind in ("text", "bare") and not reply.whole:
            ends = stretch.text + (behind.text if behind and behind.kind == "stop" else "")
            if literal not in ends:
                reply.drop(stretch, f"text without {literal}")


def texts(reply: Projection) -> None:
    """All texts but the first; stray markers do not part them."""
    if reply.view.texts == "all" or reply.whole:
        return
    ended = begun = False
    for stretch in reply.stretches:
        written = stretch.kind in ("text", "bare") and bool(stretch.text.strip())
        if ended and written:
            reply.drop(stretch, "all but the first text")
        begun = begun or written
        ended = ended or (begun and stretch.kind in ("call", "failed", "section"))


def skips(reply: Projection) -> None:
    """Characters behind a call that the server takes for a separator."""
    for before, stretch in pairwise(list(reply.stretches)) if reply.view.skips else ():
        if before.kind == "call" and stretch.kind == "text":
            head, tail = cut(stretch.events, stretch.span.start + reply.view.skips)
            text = "".join(map(owned_text, head))
            span = Span(head[0].span.start, head[-1].span.stop)
            stretch.events = [reply.lost(span, text, "what it takes for a separator"), *tail]


def around(reply: Projection) -> None:
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


def erases(reply: Projection) -> None:
    """Literals that the server takes out of the content beside a call."""
    called = any(stretch.ended for stretch in reply.stretches)
    for literal in reply.view.erases if called else ():
        for stretch in reply.of_kind("text", "bare"):
            stretch.events = [each for e in stretch.events for each in _without(reply, e, literal)]


def _without(reply: Projection, event: Event, literal: str) -> list[Event]:
    """A text in pieces, with each place of the literal lost."""
    if not isinstance(event, TextEvent) or literal not in event.text:
        return [event]
    start = event.span.start + event.text.index(literal)
    head, rest = cut([event], start)
    gone, tail = cut(rest, start + len(literal))
    lost = reply.lost(Span(start, start + len(literal)), literal, "a marker in the text")
    assert gone
    return [*head, lost, *(each for e in tail for each in _without(reply, e, literal))]


def leaks(reply: Projection) -> None:
    """Markers of sections that the server leaves in the content."""
    for stretch in reply.of_kind("section") if reply.view.leaks else ():
        text = stretch.text
        found = next((literal for literal in reply.view.leaks if literal in text), "")
        if not found:
            continue
        start = stretch.span.start + text.index(found)
        head, rest = cut(stretch.events, start)
        leaked, tail = cut(rest, start + len(found))
        texts = [TextEvent(e.span, owned_text(e)) if owned_text(e) else e for e in leaked]
        stretch.events = [*head, *texts, *tail]


def partial(reply: Projection) -> None:
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
