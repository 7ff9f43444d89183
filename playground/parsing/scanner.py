"""Text that nobody has claimed yet, and the events for what was claimed.

Generators walk it and `yield` when they need more; nothing before the claimed place is looked at
again, and a held marker is at most a few hundred characters long.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Final, TypeVar

from playground.events import (
    Event,
    FindingEvent,
    MarkupEvent,
    ReasoningEvent,
    Role,
    Span,
    TextEvent,
)
from playground.findings import finding
from playground.parsing.claims import Claim, GrowingText, finding_maker
from playground.parsing.marker import Marker
from playground.parsing.open_call import BrokenCall
from playground.parsing.patterns import CONTEXT
from playground.parsing.quiet import Accept, Judge, Quiet, Turn, quiet_until, refuses
from playground.parsing.wait import Wait

T = TypeVar("T")
Walk = Generator[None, None, T]  # yields where more text is needed

_WINDOW: Final = 128  # characters that were claimed, up to which they are kept
_SPACE = re.compile(r"\s*")


class Scanner:
    """A window on the stream: `text[at:]` is unclaimed, `base + at` is its offset."""

    def __init__(self, offset: int = 0) -> None:
        self.text, self.at, self.base = "", 0, offset
        self.ended = False
        self.events: list[Event] = []
        self.quiet: Quiet | None = None  # how chunks may pass by, as long as the walk rests
        self.emit_text = Claim(self, TextEvent)
        self.emit_reasoning = Claim(self, ReasoningEvent)
        self.emit_text_after_call = Claim(self, finding_maker("text-after-call", "after a call"))
        self.emit_unexpected = Claim(self, finding_maker("unexpected-text", "inside a call"))
        self.resting = self.emit_text  # what claims those chunks
        self.awaited: Judge | None = None  # or what holds them, up to what it decides
        self.told: Marker | None = None  # what they held, where the walk goes on
        self.accept: Accept | None = None  # what may refuse a marker in them
        self.turn: Turn | None = None

    @property
    def offset(self) -> int:
        return self.base + self.at

    @property
    def held(self) -> str:
        return self.text[self.at :]

    def add(self, text: str) -> None:
        """Append to the window, and forget what was claimed: that keeps time and memory linear."""
        if self.at > _WINDOW:  # a look back to the start of the line stays possible
            keep = self.at - CONTEXT
            self.text, self.base, self.at = self.text[keep:], self.base + keep, CONTEXT
        self.text += text
        self.quiet = self.awaited = None

    # claiming: each takes the next `count` characters and makes an event of them

    def take(self, count: int) -> tuple[Span, str]:
        """The next characters and their span."""
        offset, text = self.take_text(count)
        return Span(offset, offset + count), text

    def take_text(self, count: int) -> tuple[int, str]:
        """The next characters and their offset. Everything that is claimed goes through here, so
        that spans tile the stream."""
        start, self.at = self.at, self.at + count
        return self.base + start, self.text[start : self.at]

    def claim_markup(self, kept: GrowingText | None = None) -> Claim:
        """What claims the pieces of a call's markup; `kept` gets them too."""
        return Claim(self, MarkupEvent, kept)

    def emit_markup(self, count: int, role: Role = "call") -> None:
        if count:  # as `take_text` does: there is much of it
            start, self.at = self.at, self.at + count
            text = self.text[start : self.at]
            self.events.append(MarkupEvent(self.base + start, text, role))

    def emit_marker(self, marker: Marker, role: Role = "call") -> None:
        """A marker that has matched here is markup."""
        self.emit_markup(marker.size, role)

    def here(self) -> Span:
        return Span(self.offset, self.offset)

    def note(self, code: str, where: str = "", message: str = "") -> None:
        """A finding that owns no characters."""
        place = where or f"character {self.offset}"
        self.events.append(FindingEvent(self.here(), finding(code, place, message)))

    # quiet: chunks may pass by until one has something that could concern the walk

    def rest(
        self,
        quiet: Quiet,
        emit: Claim,
        accept: Accept | None = None,
        turn: Turn | None = None,
    ) -> None:
        """Everything is claimed but what may become a marker, and so will be what comes, as far as
        it is `quiet`; and behind a chunk that it is not as far as `turn` says."""
        if not self.ended and (self.at == len(self.text) or quiet.held):
            self.quiet, self.resting, self.accept, self.turn = quiet, emit, accept, turn

    def wake(self, offset: int, held: str) -> None:
        """Chunks have passed by up to an offset: the window stands after them, before what of them
        is held."""
        before = self.resting.before()
        self.text, self.at = before + held, len(before)
        self.base = offset - len(self.text)

    def hold(self, held: str) -> None:
        """All chunks since were held: the window stands where it stood."""
        self.text = self.text[: self.at] + held

    # walking a value: claimed as far as the text goes, so that nothing is searched twice

    def claim_cut(self, emit: Claim, stop: int) -> None:
        """Claim up to a place in `text` after which more text is needed: the caller yields next.
        Raises BrokenCall at the end of the stream. (No generator: each level of them costs every
        chunk a call.)"""
        emit(stop - self.at)
        if self.ended:
            raise BrokenCall("truncated-call")

    def claim_to(self, stop: re.Pattern[str], emit: Claim) -> Walk[None]:
        """Claim up to where `stop`, a pattern of one character, matches. Raises BrokenCall where
        the stream ends first."""
        while True:
            match = stop.search(self.text, self.at)
            if match is not None:
                emit(match.start() - self.at)
                return
            self.claim_cut(emit, len(self.text))
            self.rest(quiet_until(stop), emit)
            yield

    # waiting

    def match_here(self, wait: Wait) -> Walk[Marker | None]:
        """Match at the current place; waits as long as more text could change the answer."""
        while True:
            if self.ended:
                match = wait.match(self.text, self.at)
                return wait.marker(match) if match else None
            if self.at < len(self.text):
                marker, undecided = wait.look(self.text, self.at)
                if not undecided:
                    return marker
            self.awaited, self.accept = wait.look_on, None
            yield
            if self.told is not None:
                marker, self.told = self.told, None
                return marker

    def cut_here(self, wait: Wait) -> Marker | None:
        """Half a marker here, which the end of the stream has cut off."""
        if not self.ended or self.at == len(self.text):
            return None
        match = wait.match(self.text, self.at, partial=True)
        return wait.marker(match) if match and match.end() == len(self.text) else None

    def until(
        self,
        wait: Wait,
        emit: Claim,
        accept: Accept | None = None,
        inside_call: bool = False,
    ) -> Walk[Marker | None]:
        """Emit everything before the first marker of `wait`; None when the stream ends first.

        `accept` may refuse a marker, also one that is cut off, by the groups that it has.
        A marker that the end of the stream cuts off is text, but markup `inside_call`, where no
        whole one stands behind it.
        """
        position, cut = self.at, -1
        while True:
            # C code runs through the text to the next candidate; Python sees candidates alone
            candidate = wait.first.search(self.text, position)
            if candidate is None:
                emit((len(self.text) if cut < 0 else cut) - self.at)
                if self.ended:
                    self.emit_markup(len(self.text) - self.at)
                    return None
                self.rest(wait.quiet, emit, accept)
                yield
                if self.told is not None:
                    break
                position = self.at
                continue
            position = candidate.start()
            # partial even at the end: only so is a marker told from text that is cut off
            marker, undecided = wait.look(self.text, position, self.ended)
            if marker is None or refuses(accept, marker, undecided, wait, self.text, position):
                position += 1
            elif undecided:
                # everything before the candidate is out; the candidate is held until more comes
                emit(position - self.at)
                self.rest(wait.quiet, emit, accept)
                if not wait.takes_lines:
                    self.awaited = wait.judge
                yield
                if self.told is not None:
                    break
                position = self.at
            elif not marker.partial:
                emit(position - self.at)
                return marker
            else:
                cut = position if inside_call and cut < 0 else cut
                position += 1
        marker, self.told = self.told, None
        return marker

    # the caller yields and asks again where more text is needed (no generators: to make one takes
    # longer than what these do)

    def peek(self) -> str | None:
        """The next character, or "" at the end of the stream; None where it is still to come."""
        if self.at < len(self.text):
            return self.text[self.at]
        return "" if self.ended else None

    def skip_space(self) -> bool:
        """Claim white space as markup; False where more may come."""
        match = _SPACE.match(self.text, self.at)
        assert match
        self.emit_markup(match.end() - self.at)
        return self.at < len(self.text) or self.ended
