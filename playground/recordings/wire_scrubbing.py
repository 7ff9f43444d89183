"""Secrets out of a stream while it arrives, in whatever pieces they come.

A key may be cut between two reads of the network, and a model that says one sends it in a dozen
events, each a JSON text of its own: the wire then nowhere holds the key, and the reply that is read
back does. So two kinds of text are searched: the wire as it is, and what the values of one JSON
field add up to over all events (a channel). What is found is starred at the bytes that it came
from, each character by one of as many bytes, so that lengths, cuts and JSON stay as they are.

Bytes whose text may begin a secret are not ready until that is decided. Whoever cannot wait calls
`give_up`: what is open is starred out, too.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import Final

from playground.recordings.scrubbing import CONTEXT, Searcher

_SHOWN: Final = 2  # characters of an open secret that are not worth waiting for
_LONGEST: Final = 16_384  # characters of an open secret, and bytes of a name that has no end
_MOST_CHANNELS: Final = 256
_TOKEN: Final = re.compile(
    r'"((?:[^"\\\x00-\x1f]++|\\.)*+)"(?:\s*+:\s*+(?:(")|(\d++))?)?|"', re.DOTALL
)
_BODY: Final = re.compile(
    r'(?:[^"\\\x00-\x1f]++|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}'
    r"|\\u(?![dD][89abAB])[0-9a-fA-F]{4}|\\[^u\x00-\x1f])*+"
)
_HALF_CHARACTER: Final = re.compile(
    r"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)
_UNIT: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
_STARS: Final = {1: "*", 2: "\u00d7", 3: "\uff0a", 4: "\U0001f7b6"}  # by their bytes in UTF-8
_ESCAPED_STARS: Final = {6: "\\u002a", 12: "\\ud83d\\udfb6"}
# fields that say nothing that a model wrote; joined over events they would only cost time
_NO_TEXT: Final = {
    *("id", "object", "model", "type", "role", "finish_reason", "stop_reason", "obfuscation"),
    *("system_fingerprint", "service_tier", "item_id", "response_id", "created_at", "status"),
    *(
        "event",
        "event_type",
        "modelVersion",
        "responseId",
        "finishReason",
        "p",
        "native_finish_reason",
    ),
}


_LONE_ESCAPE: Final = re.compile(r"\\u[0-9a-fA-F]{4}|\\[^u\x00-\x1f]")
_PERHAPS_A_NAME: Final = re.compile(r"\s*:?\s*\Z")
_CONTROL: Final = re.compile(r"[\x00-\x1f]")


@dataclass(slots=True)
class _Segment:
    """A part of a channel: where its text and its bytes begin, and these as they came."""

    start: int  # in characters, since the channel began
    place: int  # on the wire
    raw: str  # as latin-1: a character a byte
    plain: bool  # whether each byte is a character of the text


@dataclass(slots=True)
class _Channel:
    """A text that comes in parts. Of `text` the end is kept; offsets count from its beginning."""

    text: str = ""
    begins: int = 0
    floor: int = 0  # before this, all is decided
    open_from: int | None = None  # where a secret may have begun
    open_kind: str = ""
    segments: list[_Segment] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.begins + len(self.text)

    @property
    def is_open(self) -> bool:
        return self.open_from is not None and self.end - self.open_from > _SHOWN

    def trim(self) -> None:
        """Forget what no decision needs any more."""
        keep = (self.end if self.open_from is None else self.open_from) - 2 * CONTEXT
        if keep - self.begins > 2 * CONTEXT:
            self.text, self.begins = self.text[keep - self.begins :], keep
            starts = [segment.start for segment in self.segments]
            del self.segments[: max(0, bisect_right(starts, keep) - 1)]


class WireScrubber:
    """Takes the bytes of a stream and gives them back without secrets; `counts` is by kind."""

    def __init__(self, search: Searcher) -> None:
        self._search = search
        self._held = bytearray()
        self._base = 0  # where the held bytes begin on the wire
        self._given_up = 0  # up to here nothing is waited for
        self._wire = _Channel()
        self._fields: OrderedDict[tuple[str, str], _Channel] = OrderedDict()
        self._unread = ""  # the wire after the last token
        self._in_value = False
        self._field: _Channel | None = None  # whose value is being read
        self._index = ""
        self.counts: Counter[str] = Counter()

    def feed(self, data: bytes) -> None:
        """The next bytes."""
        text = data.decode("latin-1")
        place = self.end
        self._held += data
        self._extend(self._wire, text, _Segment(self._wire.end, place, text, plain=True))
        start = place - len(self._unread)
        self._unread += text
        read = self._read(self._unread, start)
        self._unread = self._unread[read:]

    @property
    def taken(self) -> int:
        """How many bytes have been given back."""
        return self._base

    @property
    def end(self) -> int:
        """How many bytes have come."""
        return self._base + len(self._held)

    @property
    def ready(self) -> int:
        """Up to where the bytes are decided, counted from the first one."""
        ends = [self._place(each) for each in self._channels() if each.is_open]
        return max(self._base, self._given_up, min([self.end, *ends]))

    def take(self, stop: int) -> bytes:
        """The bytes up to there, which must be ready, and have not been taken yet."""
        size = stop - self._base
        data = bytes(self._held[:size])
        del self._held[:size]
        self._base = stop
        return data

    def give_up(self) -> None:
        """Star out what is open: nobody can wait for its end. What comes of it is starred too."""
        for channel in self._channels():
            if channel.open_from is not None and channel.is_open and channel.open_kind != "email":
                self._star(channel, channel.open_from, channel.end, "undecided")
        self._given_up = self.end

    def finish(self) -> None:
        """The stream is whole: what is open is decided by what is there."""
        for channel in self._channels():
            self._decide(channel, channel.end, ended=True)
        self._given_up = self.end

    def _channels(self) -> list[_Channel]:
        return [self._wire, *self._fields.values()]

    # channels

    def _extend(self, channel: _Channel, text: str, segment: _Segment) -> None:
        before = channel.end
        channel.text += text
        channel.segments.append(segment)
        self._decide(channel, before, ended=False)
        channel.trim()

    def _decide(self, channel: _Channel, before: int, ended: bool) -> None:
        """Search what is new after `before`, and what was open or may be half a head."""
        start = channel.open_from
        if start is None:
            start = max(channel.floor, channel.begins, before - CONTEXT // 2)
        found = self._search.search(channel.text, start - channel.begins, ended=ended)
        for secret in found.secrets:
            channel.floor = channel.begins + secret.stop
            self._star(channel, channel.begins + secret.start, channel.floor, secret.kind)
        channel.open_from = None
        if found.open_from is not None and len(channel.text) - found.open_from <= _LONGEST:
            channel.open_from = channel.begins + found.open_from
            channel.open_kind = found.open_kind

    def _place(self, channel: _Channel) -> int:
        """Where on the wire the open secret of a channel begins, or a little before."""
        assert channel.open_from is not None
        starts = [segment.start for segment in channel.segments]
        segment = channel.segments[max(0, bisect_right(starts, channel.open_from) - 1)]
        return segment.place + (channel.open_from - segment.start if segment.plain else 0)

    def _star(self, channel: _Channel, start: int, stop: int, kind: str) -> None:
        changed = False
        for segment in channel.segments:
            if segment.start >= stop:
                break
            first, last = max(0, start - segment.start), stop - segment.start
            changed |= last > first and self._overwrite(segment, first, last)
        self.counts[kind] += changed

    def _overwrite(self, segment: _Segment, first: int, last: int) -> bool:
        """Star the characters of a segment that are still held; whether any was none before."""
        raw, place = segment.raw, segment.place
        if segment.plain:
            raw, place, first, last = raw[first:last], place + first, 0, last - first
        changed = False
        for number, unit in enumerate(_UNIT.findall(_decoded(raw))):
            size = len(unit.encode("utf-8", "surrogateescape"))
            if first <= number < last and place >= self._base:
                star = _star_for(unit, size).encode()
                at = place - self._base
                changed |= self._held[at : at + size] != star
                self._held[at : at + size] = star
            place += size
        return changed

    # fields

    def _read(self, text: str, start: int) -> int:
        """Read values of fields; how many characters of the text are done with."""
        at, length = 0, len(text)
        while at < length:
            step = self._value(text, at, start) if self._in_value else self._token(text, at)
            if step == at:
                break
            at = step
        return at

    def _token(self, text: str, at: int) -> int:
        """Behind the next string; a name with a text after it opens a value."""
        token = _TOKEN.search(text, at)
        if token is None:
            return len(text)
        if text.find("\n", at, token.start()) >= 0:
            self._index = ""
        name, opens, digits = token.groups()
        if name is None:
            return self._unended(text, token.start())
        if opens:
            self._in_value = True
            self._field = None if name in _NO_TEXT else self._channel(name)
        elif digits:
            self._index = digits if name.endswith("index") else self._index
        elif token.end() + 16 > len(text) and _PERHAPS_A_NAME.match(text, token.end()):
            return token.start() if token.start() > at else at
        return token.end()

    def _unended(self, text: str, at: int) -> int:
        """A quotation mark without its other one: garbage, a very long text, or not all here."""
        if _CONTROL.search(text, at):
            return at + 1
        if len(text) - at > _LONGEST:
            self._in_value, self._field = True, None
            return at + 1
        return at

    def _value(self, text: str, at: int, start: int) -> int:
        """Behind the part of the value that is here."""
        body = _BODY.match(text, at)
        stop = body.end() if body else at
        if stop == len(text):
            half = _HALF_CHARACTER.search(text, max(at, stop - 3))
            stop = half.start() if half else stop
        if stop > at:
            self._part(text[at:stop], start + at)
            return stop
        if text[at] == '"':
            self._in_value = False
            return at + 1
        if len(text) - at < 12 and text[at] not in "\n\r":  # half of an escape or of a character
            return at
        escape = _LONE_ESCAPE.match(text, at)
        if escape:
            self._part(escape[0], start + at)
            return escape.end()
        self._in_value = False  # no JSON after all
        return at + 1

    def _part(self, raw: str, place: int) -> None:
        if self._field is None:
            return
        plain = raw.isascii() and "\\" not in raw
        text = raw if plain else json.loads(f'"{_decoded(raw)}"', strict=False)
        self._extend(self._field, text, _Segment(self._field.end, place, raw, plain))

    def _channel(self, name: str) -> _Channel:
        known = (name, self._index)
        if known not in self._fields and len(self._fields) >= _MOST_CHANNELS:
            self._fields.popitem(last=False)
        channel = self._fields.setdefault(known, _Channel())
        self._fields.move_to_end(known)
        return channel


def _decoded(raw: str) -> str:
    return raw.encode("latin-1").decode("utf-8", "surrogateescape")


def _star_for(unit: str, size: int) -> str:
    """As many bytes, and one character as it is one; a line's end stays, a quotation mark goes."""
    if unit[0] != "\\" or len(unit) == 1:
        return _STARS[size]
    if len(unit) > 2:
        return _ESCAPED_STARS[size]
    return unit if unit[1] in "nrtbf" else "\\/"
