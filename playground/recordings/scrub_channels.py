"""Channels: texts that arrive in parts. They are searched for secrets on arrival, and secrets are
starred out in the bytes.

A part knows where its bytes are on the wire: plain, escaped, as a token's id or in Base64.
Neighbouring fields that repeat a text (its tokens, their ids) are starred out with the text.
"""

from __future__ import annotations

import base64
import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from playground.recordings.scrubbing import CONTEXT, MAY_JOIN, SHOWN, Searcher, Secret, Tally
from playground.recordings.secret_patterns import HEADED, WORDED

_LONGEST: Final = 16_384  # characters of an open secret; a longer one is starred out to its end
_SURE: Final = 1_024  # characters of an open secret; after them, text of its kind needs no search
# The kinds of secrets whose length has no limit.
_ENDLESS: Final = {row.name: row for row in (*HEADED, *WORDED) if row.on}
_ENDLESS["password"] = _ENDLESS["named"]
_RUNS: Final = {name: re.compile(f"[{kind.on}]*+") for name, kind in _ENDLESS.items()}
_ENDS: Final = {name: re.compile(kind.end) for name, kind in _ENDLESS.items() if kind.end}
_INNER: Final = {
    name: re.compile(rf"(?>(?:(?![.\\-])[{kind.on}])*)") for name, kind in _ENDLESS.items()
}
_UNIT: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
_STARS: Final = {1: "*", 2: "\u00d7", 3: "\uff0a", 4: "\U0001f7b6"}  # by bytes in UTF-8
_ESCAPED_STARS: Final = {6: "\\u002a", 12: "\\ud83d\\udfb6"}


class ByteBuffer(Protocol):
    """A buffer with the bytes of parts."""

    def write(self, place: int, data: bytes) -> None:
        """Replace the bytes at a place, as far as they have not been taken yet."""


class WireBuffer:
    """A buffer of the wire's bytes that have not been taken yet."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.base = 0  # the first byte's place on the wire

    @property
    def end(self) -> int:
        return self.base + len(self.data)

    def write(self, place: int, data: bytes) -> None:
        at = place - self.base
        if at < 0:
            at, data = 0, data[-at:]
        self.data[at : at + len(data)] = data

    def take(self, stop: int) -> bytes:
        size = stop - self.base
        data = bytes(self.data[:size])
        del self.data[:size]
        self.base = stop
        return data


class Base64Buffer:
    """A buffer of bytes that are Base64 on the wire. Replacing them keeps the Base64's length."""

    def __init__(self, into: ByteBuffer, place: int, data: bytes) -> None:
        self._into, self._place = into, place
        self._data = bytearray(data)

    def write(self, place: int, data: bytes) -> None:
        stop = place + len(data)
        self._data[place:stop] = data
        first = place - place % 3
        last = min(stop + -stop % 3, len(self._data))
        self._into.write(self._place + first // 3 * 4, base64.b64encode(self._data[first:last]))


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a channel: its text, and its bytes in a buffer."""

    buffer: ByteBuffer
    place: int
    raw: str  # its bytes, one character for each
    text: str
    kind: str = "text"

    @property
    def plain(self) -> bool:
        """True if each byte is one character of the text."""
        return self.raw == self.text

    def star(self, first: int, last: int) -> None:
        """Star out the characters from `first` to before `last`; a token's number becomes 0."""
        if self.kind == "number":
            self.buffer.write(self.place, _padded_zero(self.raw))
            return
        raw, place = self.raw, self.place
        if self.plain:
            raw, place, first, last = raw[first:last], place + first, 0, last - first
        for number, unit in enumerate(_UNIT.findall(_decoded(raw))):
            size = len(unit.encode("utf-8", "surrogateescape"))
            if first <= number < last:
                self.buffer.write(place, _star_for(unit, size).encode())
            place += size


@dataclass(slots=True)
class RepeatedParts:
    """The parts of a frame that repeat its texts, token by token, such as log probabilities."""

    parts: list[Part] = field(default_factory=list)
    start: int | None = None  # the place of the first part on the wire
    starred: bool = False

    def star(self) -> None:
        if not self.starred:
            self.starred = True
            for part in self.parts:
                part.star(0, len(part.text))


@dataclass(frozen=True, slots=True)
class _Segment:
    start: int  # in characters from the channel's beginning
    part: Part
    place: int  # on the wire
    repeated: RepeatedParts | None


@dataclass(slots=True, eq=False)
class Channel:
    """A text that comes in parts. Offsets count from its beginning; `text` holds only its end."""

    search: Searcher
    tally: Tally
    sure: bool = True  # False if some parts may be missing or belong to other texts
    text: str = ""
    offset: int = 0  # the offset of `text`
    searched_to: int = 0  # an offset; the text after it has not been searched yet
    decided_to: int = 0  # an offset; the text before it is decided
    open: tuple[Secret, ...] = ()  # possible secrets, which more text must decide
    running_kind: str = ""  # the kind of a secret that is being starred out until it ends
    segments: list[_Segment] = field(default_factory=list)

    def copy(self) -> Channel:
        return replace(self, segments=self.segments.copy())

    @property
    def end(self) -> int:
        return self.offset + len(self.text)

    @property
    def waits_from(self) -> int | None:
        """The place on the wire where the first open secret or its repetition begins. None if no
        secret is open, or if only SHOWN characters of the open one have come."""
        if not self.open or self.end - self.open[0].start <= SHOWN:
            return None
        start = self.open[0].start
        segment = self.segments[self._segment_at(start)]
        place = segment.place
        if segment.part.plain and isinstance(segment.part.buffer, WireBuffer):
            place += start - segment.start
        repeated = segment.repeated.start if segment.repeated else None
        return place if repeated is None else min(place, repeated)

    def _segment_at(self, offset: int) -> int:
        return max(0, bisect_right(self.segments, offset, key=lambda each: each.start) - 1)

    def extend(self, part: Part, place: int, repeated: RepeatedParts | None = None) -> None:
        """Add a part, found at `place` on the wire, and parts that repeat it; do not search yet."""
        self.segments.append(_Segment(self.end, part, place, repeated))
        self.text += part.text

    def search_added(self) -> None:
        """Search the parts that were added since the last search."""
        if self.searched_to < self.end:
            self._decide(self.searched_to, ended=False)
            self.searched_to = self.end
            self._trim()

    def finish(self) -> None:
        """End the text: open secrets are decided by the text so far."""
        self._decide(self.end, ended=True)

    def give_up(self) -> None:
        """Star out open secrets without waiting for their end. A word that could begin an e-mail
        address is kept, because it is probably an ordinary word."""
        self.search_added()
        for secret in self.open:
            secret_text = self.text[secret.start - self.offset :]
            if len(secret_text) <= SHOWN or (secret.kind == "email" and "@" not in secret_text):
                continue
            self.tally.add("undecided", secret_text, sure=self.sure)
            # punctuation after the secret may be JSON's: it stays if nothing else follows
            marks_alone = MAY_JOIN.match(self.text, secret.stop - self.offset)
            self._star(secret.start, secret.stop if marks_alone else self.end)
            return

    def _decide(self, before: int, ended: bool) -> None:
        """Search the text after `before`, and as much text before it as may belong to a secret. If
        the text has `ended`, no secret stays open."""
        if self.running_kind:
            self._star_running(before)
            if self.running_kind:
                return
        if self.open and not ended and self._stays_open(before):
            return
        start = self.open[0].start if self.open else before - CONTEXT // 2
        start = max(self.decided_to, self.offset, start)
        search = self.search.search(self.text, start - self.offset, ended=ended)
        for secret in search.secrets:
            self._star_secret(secret.kind, self.offset + secret.start, self.offset + secret.stop)
        self.open = tuple(
            Secret(self.offset + each.start, self.offset + each.stop, each.kind)
            for each in search.open
        )
        if self.open and self.end - self.open[0].start > _LONGEST:
            self._star_endless()

    def _stays_open(self, before: int) -> bool:
        """Return True if the text after `before` surely continues the open secret and does not end
        it, so that a search would change nothing."""
        inner = _INNER.get(self.open[0].kind)
        if inner is None or before - self.open[0].start < _SURE:
            return False
        if self.end - self.open[0].start > _LONGEST:
            return False
        return inner.fullmatch(self.text, before - self.offset) is not None

    def _star_endless(self) -> None:
        """Star out an open secret, now and up to its end, if its kind has no longest length."""
        first = self.open[0]
        if first.kind in _ENDLESS:
            self._star_secret(first.kind, first.start, self.end)
            self.running_kind, self.open = first.kind, ()

    def _star_running(self, before: int) -> None:
        """Star out more of the running secret, from `before` to its end if that is in the text."""
        run = _RUNS[self.running_kind].match(self.text, before - self.offset)
        stop = run.end() if run else before - self.offset
        end = _ENDS.get(self.running_kind)
        ended = end.search(self.text, max(0, before - self.offset - CONTEXT), stop) if end else None
        stop = ended.end() if ended else stop
        self._star(before, self.offset + stop)
        self.decided_to = self.offset + stop
        if stop < len(self.text) or ended:
            self.running_kind = ""

    def _star_secret(self, kind: str, start: int, stop: int) -> None:
        self.decided_to = stop
        starred_text = self.text[start - self.offset : stop - self.offset]
        self.tally.add(kind, self.search.as_given(starred_text), sure=self.sure)
        self._star(start, stop)

    def _star(self, start: int, stop: int) -> None:
        """Star out the characters from `start` to before `stop` on the wire."""
        for segment in self.segments[self._segment_at(start) :]:
            if segment.start >= stop:
                break
            first, last = max(0, start - segment.start), stop - segment.start
            last = min(last, len(segment.part.text))
            if last > first:
                segment.part.star(first, last)
                if segment.repeated is not None:
                    segment.repeated.star()

    def _trim(self) -> None:
        """Drop text that is no longer needed for a decision."""
        keep = (self.open[0].start if self.open else self.end) - 2 * CONTEXT
        if keep - self.offset > 2 * CONTEXT:
            self.text, self.offset = self.text[keep - self.offset :], keep
            del self.segments[: self._segment_at(keep)]


def text_of(raw: str) -> str:
    """Return the text of a JSON string's source, or of a part of it."""
    if raw.isascii() and "\\" not in raw:
        return raw
    decoded: str = json.loads(f'"{_decoded(raw)}"', strict=False)
    return decoded


def _decoded(raw: str) -> str:
    return raw.encode("latin-1").decode("utf-8", "surrogateescape")


def _padded_zero(digits: str) -> bytes:
    """Return the number zero, padded to the length of `digits`."""
    return b"0".rjust(len(digits))


def _star_for(unit: str, size: int) -> str:
    """Return a star that has as many bytes as `unit`, a character or an escape of JSON. Escapes of
    white space stay, so that lines keep their ends; other short escapes become `\\/`."""
    if unit[0] != "\\" or len(unit) == 1:
        return _STARS[size]
    if len(unit) > 2:
        return _ESCAPED_STARS[size]
    return unit if unit[1] in "nrtbf" else "\\/"
