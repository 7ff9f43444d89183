"""Channels: texts that come in parts, searched while they come, starred where they came from.

A part knows the bytes on the wire that it is of, plain or escaped, as numbers or packed in Base64.
What stands beside a text and says it again (its tokens, their numbers) is starred along with it.
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

_LONGEST: Final = 16_384  # characters of an open secret; after them it is starred to its end
_SURE: Final = 1_024  # characters of one that plain ones more leave open
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
_STARS: Final = {1: "*", 2: "\u00d7", 3: "\uff0a", 4: "\U0001f7b6"}  # by their bytes in UTF-8
_ESCAPED_STARS: Final = {6: "\\u002a", 12: "\\ud83d\\udfb6"}


class Bytes(Protocol):
    """The place where a part's bytes are kept."""

    def write(self, place: int, data: bytes) -> None:
        """Replace what is there, as far as it is there still."""


class Held:
    """The bytes of the wire that have not been given back."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.base = 0  # where they begin on the wire

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


class Packed:
    """Bytes that stand on the wire as Base64: as many there, whatever they are."""

    def __init__(self, into: Bytes, place: int, data: bytes) -> None:
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
    """A part of a channel: its text, and the bytes that it came as."""

    into: Bytes
    place: int
    raw: str  # as it came, a character a byte
    text: str
    kind: str = "text"

    @property
    def plain(self) -> bool:
        """True if each byte is a character of the text."""
        return self.raw == self.text

    def star(self, first: int, last: int) -> None:
        """Star these characters of the text."""
        if self.kind == "number":
            self.into.write(self.place, _zero(self.raw))
            return
        raw, place = self.raw, self.place
        if self.plain:
            raw, place, first, last = raw[first:last], place + first, 0, last - first
        for number, unit in enumerate(_UNIT.findall(_decoded(raw))):
            size = len(unit.encode("utf-8", "surrogateescape"))
            if first <= number < last:
                self.into.write(place, _star_for(unit, size).encode())
            place += size


@dataclass(slots=True)
class FrameEcho:
    """Texts that came together; `echo` says again, token by token, what its texts say."""

    echo: list[Part] = field(default_factory=list)
    start: int | None = None  # of the echo, on the wire
    starred: bool = False

    def star(self) -> None:
        if not self.starred:
            self.starred = True
            for part in self.echo:
                part.star(0, len(part.text))


@dataclass(frozen=True, slots=True)
class _Segment:
    start: int  # in characters, since the channel began
    part: Part
    place: int  # on the wire
    frame: FrameEcho | None


@dataclass(slots=True, eq=False)
class Channel:
    """A text that comes in parts. Of `text` the end is kept; offsets count from its beginning."""

    search: Searcher
    tally: Tally
    sure: bool = True  # that its parts belong together, and are all
    text: str = ""
    begins: int = 0
    floor: int = 0  # before this, all is decided
    open: tuple[Secret, ...] = ()  # what may be a secret, the first one first
    running: str = ""  # the kind of a secret that is starred until it cannot go on
    segments: list[_Segment] = field(default_factory=list)

    def copy(self) -> Channel:
        """One that goes its own way from here."""
        return replace(self, segments=self.segments.copy())

    @property
    def end(self) -> int:
        return self.begins + len(self.text)

    @property
    def waits_from(self) -> int | None:
        """The place on the wire of the open secret, or of its repetition; None for nowhere."""
        if not self.open or self.end - self.open[0].start <= SHOWN:
            return None
        start = self.open[0].start
        segment = self.segments[self._first(start)]
        place = segment.place
        if segment.part.plain and isinstance(segment.part.into, Held):
            place += start - segment.start
        echo = segment.frame.start if segment.frame else None
        return place if echo is None else min(place, echo)

    def _first(self, offset: int) -> int:
        return max(0, bisect_right(self.segments, offset, key=lambda each: each.start) - 1)

    def extend(self, part: Part, place: int, frame: FrameEcho | None = None) -> None:
        """One more part, which stands there on the wire."""
        before = self.end
        self.text += part.text
        self.segments.append(_Segment(before, part, place, frame))
        self._decide(before, ended=False)
        self._trim()

    def finish(self) -> None:
        """The text is whole: what is open is decided by what is there."""
        self._decide(self.end, ended=True)

    def give_up(self) -> None:
        """Star out what is open: nobody can wait for its end. A word that could be the beginning
        of an address of e-mail is a word."""
        for secret in self.open:
            secret_text = self.text[secret.start - self.begins :]
            if len(secret_text) <= SHOWN or (secret.kind == "email" and "@" not in secret_text):
                continue
            self.tally.add("undecided", secret_text, sure=self.sure)
            marks_alone = MAY_JOIN.match(self.text, secret.stop - self.begins)  # of JSON, perhaps
            self._star(secret.start, secret.stop if marks_alone else self.end)
            return

    def _decide(self, before: int, ended: bool) -> None:
        """Search what is new after `before`, and what was open or may be half a head."""
        if self.running:
            self._run(before)
            if self.running:
                return
        if self.open and not ended and self._stays_open(before):
            return
        start = self.open[0].start if self.open else before - CONTEXT // 2
        start = max(self.floor, self.begins, start)
        found = self.search.search(self.text, start - self.begins, ended=ended)
        for secret in found.secrets:
            self._found(secret.kind, self.begins + secret.start, self.begins + secret.stop)
        self.open = tuple(
            Secret(self.begins + each.start, self.begins + each.stop, each.kind)
            for each in found.open
        )
        if self.open and self.end - self.open[0].start > _LONGEST:
            self._too_long()

    def _stays_open(self, before: int) -> bool:
        inner = _INNER.get(self.open[0].kind)
        if inner is None or before - self.open[0].start < _SURE:
            return False
        if self.end - self.open[0].start > _LONGEST:
            return False
        return inner.fullmatch(self.text, before - self.begins) is not None

    def _too_long(self) -> None:
        """An open secret that is longer than anybody waits: it is one, and goes on to its end."""
        first = self.open[0]
        if first.kind in _ENDLESS:
            self._found(first.kind, first.start, self.end)
            self.running, self.open = first.kind, ()

    def _run(self, before: int) -> None:
        """Star on: up to the end of what it goes on with, or its own end."""
        run = _RUNS[self.running].match(self.text, before - self.begins)
        stop = run.end() if run else before - self.begins
        end = _ENDS.get(self.running)
        ended = end.search(self.text, max(0, before - self.begins - CONTEXT), stop) if end else None
        stop = ended.end() if ended else stop
        self._star(before, self.begins + stop)
        self.floor = self.begins + stop
        if stop < len(self.text) or ended:
            self.running = ""

    def _found(self, kind: str, start: int, stop: int) -> None:
        self.floor = stop
        starred_text = self.text[start - self.begins : stop - self.begins]
        self.tally.add(kind, self.search.told(starred_text), sure=self.sure)
        self._star(start, stop)

    def _star(self, start: int, stop: int) -> None:
        """Star these characters where they came from."""
        for segment in self.segments[self._first(start) :]:
            if segment.start >= stop:
                break
            first, last = max(0, start - segment.start), stop - segment.start
            last = min(last, len(segment.part.text))
            if last > first:
                segment.part.star(first, last)
                if segment.frame is not None:
                    segment.frame.star()

    def _trim(self) -> None:
        """Forget what no decision needs any more."""
        keep = (self.open[0].start if self.open else self.end) - 2 * CONTEXT
        if keep - self.begins > 2 * CONTEXT:
            self.text, self.begins = self.text[keep - self.begins :], keep
            del self.segments[: self._first(keep)]


def text_of(raw: str) -> str:
    """Return the text of a part of a JSON text."""
    if raw.isascii() and "\\" not in raw:
        return raw
    decoded: str = json.loads(f'"{_decoded(raw)}"', strict=False)
    return decoded


def _decoded(raw: str) -> str:
    return raw.encode("latin-1").decode("utf-8", "surrogateescape")


def _zero(digits: str) -> bytes:
    """A number of as many characters that says nothing."""
    return b"0".rjust(len(digits))


def _star_for(unit: str, size: int) -> str:
    """As many bytes, and one character as it is one; a line's end stays, a quotation mark goes."""
    if unit[0] != "\\" or len(unit) == 1:
        return _STARS[size]
    if len(unit) > 2:
        return _ESCAPED_STARS[size]
    return unit if unit[1] in "nrtbf" else "\\/"
