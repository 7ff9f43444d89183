"""The text that nobody has claimed yet, and the events of the text that was claimed.

Generators walk the text and `yield` when they need more. Claimed text is not searched again, except
after `go_back`, and held text is at most a marker: a few hundred characters.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Final, TypeVar

from playground.base.findings import finding
from playground.nouns.events import (
    Event,
    FindingEvent,
    MarkupEvent,
    ReasoningEvent,
    Role,
    Span,
    TextEvent,
)
from playground.parsing.choice_point import ChoicePoint
from playground.parsing.claims import Claim, GrowingText, finding_maker
from playground.parsing.marker import Marker
from playground.parsing.open_call import BrokenCall
from playground.parsing.patterns import CONTEXT
from playground.parsing.skip_rule import Accept, Decide, NextRule, SkipRule, rule_until
from playground.parsing.template import Piece

T = TypeVar("T")
Walk = Generator[None, None, T]  # yields when it needs more text

_WINDOW: Final = 128  # claimed characters that the window may hold before it is cut
_SPACE = re.compile(r"\s*")
_REST: Final = "the rest of the aborted call, which is not read: neither an argument nor content"


class Scanner:
    """A window `text` on the stream: `text[at:]` is unclaimed and begins at offset `base + at`."""

    def __init__(self, offset: int = 0) -> None:
        self.text, self.at, self.base = "", 0, offset
        self.ended = False
        self.events: list[Event] = []
        self.emit_text = Claim(self, TextEvent)
        self.emit_reasoning = Claim(self, ReasoningEvent)
        self.emit_text_after_call = Claim(self, finding_maker("text-after-call", "after a call"))
        self.emit_unexpected = Claim(self, finding_maker("unexpected-text", "inside a call"))
        self.emit_rest = Claim(self, finding_maker("unexpected-text", "inside a call", _REST))
        # the end of the text at the last failed search for a complete JSON value
        self.incomplete_at = -1
        # notes for the fast path (fast_path.py), valid until more text is added
        self.skip_rule: SkipRule | None = None  # the rule by which chunks may be skipped
        self.skip_claim = self.emit_text  # the claim by which chunks are skipped
        self.accept: Accept | None = None  # a test that may reject a marker in these chunks
        self.next_rule: NextRule | None = None  # gives the rule after a candidate in a chunk
        self.pending: Decide | None = None  # decides on the held text, before any rule is used
        self.decision: Marker | None = None  # the fast path's answer when it resumes the walk

    @property
    def offset(self) -> int:
        return self.base + self.at

    @property
    def held_text(self) -> str:
        return self.text[self.at :]

    def add(self, text: str) -> None:
        """Append to the window, and drop claimed text, so that time and memory stay linear."""
        if self.at > _WINDOW:  # CONTEXT characters are kept, as many as look-behinds see
            keep = self.at - CONTEXT
            self.text, self.base, self.at = self.text[keep:], self.base + keep, CONTEXT
        self.text += text
        self.skip_rule = self.pending = None

    def go_back(self, text: str, place: int) -> None:
        """Unclaim the characters from index `place` of `text` on; `text` are the last claimed
        characters."""
        keep = min(place, CONTEXT)
        self.base = self.offset - (len(text) - place) - keep
        self.text, self.at = text[place - keep :] + self.held_text, keep

    def give_back_markup(self) -> None:
        """Unclaim the last claimed characters if they are markup."""
        if self.events and isinstance(last := self.events[-1], MarkupEvent):
            self.events.pop()
            self.at -= len(last.text)

    # claiming the next `count` characters

    def take(self, count: int) -> tuple[Span, str]:
        """Claim the next characters; return their span and text."""
        offset, text = self.take_text(count)
        return Span(offset, offset + count), text

    def take_text(self, count: int) -> tuple[int, str]:
        """Claim the next characters; return their offset and text.

        All claims go through here, so that spans cover the stream without gaps.
        """
        start, self.at = self.at, self.at + count
        return self.base + start, self.text[start : self.at]

    def claim_markup(self, copy: GrowingText | None = None) -> Claim:
        """Return a claim for a call's markup that comes in pieces; `copy` collects their texts."""
        return Claim(self, MarkupEvent, copy)

    def emit_markup(self, count: int, role: Role = "call") -> None:
        if count:  # does what `take_text` does, written out for speed because there is much markup
            start, self.at = self.at, self.at + count
            text = self.text[start : self.at]
            self.events.append(MarkupEvent(self.base + start, text, role))

    def emit_marker(self, marker: Marker, role: Role = "call") -> None:
        """Claim, as markup, a marker that has matched here."""
        self.emit_markup(marker.size, role)

    def note_form(self, marker: Marker, *declared: tuple[Piece, ...], where: str = "") -> None:
        """Note a marker that differs from all declared ones in more than white space."""
        if not (marker.well_formed or marker.is_well_formed(*declared)):
            form = "".join(p if isinstance(p, str) else f"{{{p.name}}}" for p in declared[0])
            message = f"{marker.text.strip()!r:.100} stands for {form.strip()!r:.100}"
            self.note("mended-form", where, message)

    def here(self) -> Span:
        offset = self.base + self.at
        return Span(offset, offset)

    def note(self, code: str, where: str = "", message: str = "") -> None:
        """Emit a finding without characters of its own."""
        place = where or f"character {self.offset}"
        self.events.append(FindingEvent(self.here(), finding(code, place, message)))

    # notes for the fast path, left before a `yield`

    def allow_skip(
        self,
        rule: SkipRule,
        claim: Claim,
        accept: Accept | None = None,
        next_rule: NextRule | None = None,
    ) -> None:
        """Let the fast path claim chunks by `claim`, as long as `rule` finds nothing in them.

        Do nothing if the walk left text unclaimed that the rule cannot hold.
        """
        if not self.ended and (self.at == len(self.text) or rule.hold_from):
            self.skip_rule, self.skip_claim = rule, claim
            self.accept, self.next_rule = accept, next_rule

    def resume_at(self, offset: int, held: str) -> None:
        """Move the window to `offset`, the end of the skipped text; `held` is its unclaimed end."""
        context = self.skip_claim.lookbehind()
        self.text, self.at = context + held, len(context)
        self.base = offset - len(self.text)

    def set_held(self, held: str) -> None:
        """Set the unclaimed text to `held`: all chunks since the last `yield`, none of which was
        claimed."""
        self.text = self.text[: self.at] + held

    # walking a value: all text is claimed at once, so that nothing is searched twice

    def claim_cut(self, emit: Claim, stop: int) -> None:
        """Claim up to index `stop` of `text`; the caller then yields to get more text.

        Raises BrokenCall at the end of the stream.
        """
        # no generator, because each level of generators costs every chunk a call
        emit(stop - self.at)
        if self.ended:
            raise BrokenCall("truncated-call")

    def claim_to(self, stop: re.Pattern[str], emit: Claim) -> Walk[None]:
        """Claim up to a match of `stop`, a pattern of one character.

        Raises BrokenCall if the stream ends first.
        """
        while True:
            match = stop.search(self.text, self.at)
            if match is not None:
                emit(match.start() - self.at)
                return
            self.claim_cut(emit, len(self.text))
            self.allow_skip(rule_until(stop), emit)
            yield

    # waiting for choices

    def match_here(self, point: ChoicePoint) -> Walk[Marker | None]:
        """Return the marker at the current place, or None, once more text cannot change that."""
        while True:
            if self.ended:
                match = point.match(self.text, self.at)
                return point.marker_of(match) if match else None
            if self.at < len(self.text):
                marker, is_undecided = point.match_at(self.text, self.at)
                if not is_undecided:
                    return marker
            self.pending, self.accept = point.decide_here, None
            yield
            if self.decision is not None:
                marker, self.decision = self.decision, None
                return marker

    def cut_here(self, point: ChoicePoint) -> Marker | None:
        """Return a marker at the current place that the end of the stream has cut off, or None."""
        if not self.ended or self.at == len(self.text):
            return None
        match = point.match(self.text, self.at, partial=True)
        return point.marker_of(match) if match and match.end() == len(self.text) else None

    def until(
        self,
        point: ChoicePoint,
        emit: Claim,
        accept: Accept | None = None,
        inside_call: bool = False,
    ) -> Walk[Marker | None]:
        """Claim everything before the first marker of `point`, and return the marker; None if the
        stream ends first.

        `accept` may reject a marker. A marker that the end of the stream cuts off is text; with
        `inside_call` it is markup, unless a complete marker follows it.
        """
        position, cut = self.at, -1
        while True:
            # C code searches the text for the next candidate; Python sees only candidates
            candidate = point.candidate_pattern.search(self.text, position)
            if candidate is None:
                emit((len(self.text) if cut < 0 else cut) - self.at)
                if self.ended:
                    self.emit_markup(len(self.text) - self.at)
                    return None
                self.allow_skip(point.skip_rule, emit, accept)
                yield
                if self.decision is not None:
                    break
                position = self.at
                continue
            position = candidate.start()
            # partial matches count even at the end: a marker may be cut off
            marker, is_undecided = point.match_at(self.text, position, self.ended)
            if marker is None or point.rejects(accept, marker, is_undecided, self.text, position):
                position += 1
            elif is_undecided:
                # everything before the candidate is claimed; the candidate is held
                emit(position - self.at)
                self.allow_skip(point.skip_rule, emit, accept)
                if not point.any_line:
                    self.pending = point.decide
                yield
                if self.decision is not None:
                    break
                position = self.at
            elif not marker.partial:
                emit(position - self.at)
                return marker
            else:
                cut = position if inside_call and cut < 0 else cut
                position += 1
        marker, self.decision = self.decision, None
        return marker

    # no generators, because making one takes longer than these functions: if they need more text,
    # the caller yields and asks again

    def peek(self) -> str | None:
        """Return the next character, "" at the end of the stream, None if it is still to come."""
        return self.text[self.at] if self.at < len(self.text) else "" if self.ended else None

    def skip_space(self, space: re.Pattern[str] = _SPACE) -> bool:
        """Claim white space as markup; return False if more of it may come."""
        match = space.match(self.text, self.at)
        assert match
        self.emit_markup(match.end() - self.at)
        return self.at < len(self.text) or self.ended
