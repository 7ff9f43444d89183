"""What becomes of calls behind the first section, or the first call."""

from __future__ import annotations

from collections.abc import Sequence

from playground.servers.failed_calls import nothing
from playground.servers.projection import Projection
from playground.servers.stretches import Stretch


def sections(reply: Projection) -> None:
    """Calls behind the first section, which have the fate of text behind a call."""
    if reply.view.sections == "all":
        return
    behind = _behind_first(reply)
    if reply.view.sections == "only call" and any(s.kind != "separator" for s in behind):
        nothing(reply)
    elif reply.view.sections == "greedy" and behind and _with_arguments(reply):
        for stretch in _from_first_to(reply, behind[-1]):
            reply.drop(stretch, "calls that it reads as one, and cannot")
    elif reply.view.sections == "echoed":
        _echoed(reply, behind)
    for stretch in behind:
        if reply.view.after == "dropped" or reply.view.sections == "first alone":
            reply.drop(stretch, "a section of calls behind the first")
        elif stretch.kind != "note":
            reply.as_text(stretch)


def _behind_first(reply: Projection) -> list[Stretch]:
    """What belongs to calls behind the first section, or call."""
    found: list[Stretch] = []
    one = reply.view.sections in ("first call", "only call")
    called = over = False
    for stretch in reply.stretches:
        of_calls = stretch.kind in ("call", "failed", "section", "separator")
        opened = not one or stretch.text.lstrip().startswith(tuple(reply.openers))
        if over and of_calls and opened:
            found.append(stretch)
        called = called or stretch.kind in ("call", "failed")
        over = over or (called and (one or stretch.kind == "section"))
    return found


def _with_arguments(reply: Projection) -> bool:
    """Whether a call of the first section has any."""
    for stretch in reply.stretches[reply.stretches.index(_first_call(reply)) :]:
        if stretch.kind == "section":
            return False
        if stretch.ended is not None and stretch.ended.arguments:
            return True
    return False


def _first_call(reply: Projection) -> Stretch:
    return next(stretch for stretch in reply.stretches if stretch.kind in ("call", "failed"))


def _from_first_to(reply: Projection, last: Stretch) -> list[Stretch]:
    """The stretches from the first call to this one, without the notes between them."""
    start, stop = (reply.stretches.index(each) for each in (_first_call(reply), last))
    start -= start > 0 and reply.stretches[start - 1].kind == "section"
    return [stretch for stretch in reply.stretches[start : stop + 1] if stretch.kind != "note"]


def _echoed(reply: Projection, behind: Sequence[Stretch]) -> None:
    """All behind the first section, up to the last closer, is dropped."""
    last = next((s for s in reversed(behind) if s.kind == "section"), None)
    for stretch in _from_first_to(reply, last) if last else ():
        if stretch.span.start >= _first_end(reply):
            reply.drop(stretch, "what stands before a second closer")


def _first_end(reply: Projection) -> int:
    """Where the first section ends."""
    start = reply.stretches.index(_first_call(reply))
    ends = (s.span.stop for s in reply.stretches[start:] if s.kind == "section")
    return next(ends, reply.stretches[-1].span.stop)
