"""How characters are claimed: by the walk, or passing by it where nothing can begin in a chunk."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cache
from io import BytesIO
from typing import Final, Protocol

from playground.events import Event, FindingEvent, Span
from playground.findings import finding
from playground.parsing.patterns import CONTEXT


class Window(Protocol):
    """What characters are claimed from: the scanner."""

    text: str
    at: int
    events: list[Event]

    def take_text(self, count: int) -> tuple[int, str]: ...


class GrowingText(BytesIO):
    """A text as it grows, in UTF-8, half surrogates too: small strings take many times their
    characters, and a text in the making four times as much as their bytes."""

    def add(self, text: str) -> None:
        self.write(text.encode("utf-8", "surrogatepass"))

    def take(self) -> str:
        """The whole text, of which nothing is kept: who kept it lives on for a while, and who reads
        it needs room."""
        text = self.getvalue().decode("utf-8", "surrogatepass")
        self.seek(0)
        self.truncate()
        return text


class Claim:
    """Claims characters as events of one kind: called with how many. `make` makes an event of an
    offset and a text; `kept`, if given, gets the texts too."""

    __slots__ = ("_last", "_start", "_window", "kept", "make")

    def __init__(
        self, window: Window, make: Callable[[int, str], Event], kept: GrowingText | None = None
    ) -> None:
        self._window, self.make, self.kept = window, make, kept
        self._last: deque[bytes] | None = None
        self._start = 0

    def __call__(self, count: int) -> None:
        if count:
            offset, text = self._window.take_text(count)
            if self.kept is not None:
                self.kept.add(text)
            self._window.events.append(self.make(offset, text))

    def passing(self) -> Callable[[bytes], object]:
        """What takes the bytes of the chunks that pass by from now on: nothing in them concerns the
        walk."""
        if self.kept is None:
            if self._last is None:
                # no chunk is empty: the last few have the characters that a look back needs
                self._last = deque(maxlen=CONTEXT)
            self._last.clear()
            return self._last.append
        self._start = self.kept.tell()
        return self.kept.write

    def before(self) -> str:
        """What stands before what comes next, as far as a look back goes."""
        kept, window = self.kept, self._window
        if kept is None:
            passed = b"".join(self._last or ())
        else:
            end = kept.tell()
            kept.seek(max(self._start, end - _WIDEST * CONTEXT))
            passed = kept.read()
        before = passed.decode(errors="ignore")
        if len(before) < CONTEXT:
            before = window.text[: window.at] + before
        return before[-CONTEXT:]


_WIDEST: Final = 4  # bytes of a character


@cache  # of a few, which every scanner has
def finding_maker(code: str, where: str) -> Callable[[int, str], Event]:
    """What makes findings that hold the text which they are about."""
    found = finding(code, where)
    return lambda offset, text: FindingEvent(Span(offset, offset + len(text)), found, text)
