"""The step about headers, which say whom a message is for and are none of its text."""

from __future__ import annotations

from playground.events import MarkupEvent, TextEvent
from playground.servers.projection import Projection


def header(reply: Projection) -> None:
    """Text before the first marker of a message says whom it is for; or there is none at all."""
    literal = reply.view.header
    for index, stretch in enumerate(reply.stretches if literal else ()):
        markers = (e.text for e in stretch.events if isinstance(e, MarkupEvent))
        if any(literal in marker for marker in markers):
            _drop_header(reply, index)
            return
    if reply.view.headless == "dropped":
        for stretch in reply.of_kind("text", "bare"):
            reply.drop(stretch, "a reply without the header of a message")


def _drop_header(reply: Projection, last: int) -> None:
    """The text of all stretches up to this one, and in it up to its first marker."""
    for stretch in reply.stretches[: last + 1]:
        if stretch.kind not in ("text", "bare"):
            continue
        for index, event in enumerate(stretch.events):
            if isinstance(event, MarkupEvent):
                break
            if isinstance(event, TextEvent):
                lost = reply.lost(event.span, event.text, "the header of a message")
                stretch.events[index] = lost
