"""Claims, which turn the next characters, or chunks that are skipped, into events."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cache
from io import BytesIO
from typing import Final, Protocol

from playground.base.findings import finding
from playground.nouns.events import Event, FindingEvent, Span
from playground.parsing.patterns import CONTEXT


class Window(Protocol):
    """The text from which characters are claimed: the scanner."""

    text: str
    at: int
    events: list[Event]

    def take_text(self, count: int) -> tuple[int, str]: ...


class GrowingText(BytesIO):
    """A text that grows piece by piece, kept as UTF-8 (half surrogates included).

    A list of small strings would take many times their characters in memory, and `io.StringIO`
    four bytes for each.
    """

    def add(self, text: str) -> None:
        self.write(text.encode("utf-8", "surrogatepass"))

    def take(self) -> str:
        """Return the whole text and free the buffer.

        The buffer's owner may live longer than the text is needed, so the memory is freed at once.
        """
        text = self.getvalue().decode("utf-8", "surrogatepass")
        self.seek(0)
        self.truncate()
        return text


class Claim:
    """A function that claims the next characters as events of one kind: `claim(count)`.

    `make` makes an event of an offset and a text. `copy`, if given, collects the texts as well.
    """

    __slots__ = ("_copy_start", "_last_chunks", "_window", "copy", "make")

    def __init__(
        self, window: Window, make: Callable[[int, str], Event], copy: GrowingText | None = None
    ) -> None:
        self._window, self.make, self.copy = window, make, copy
        self._last_chunks: deque[bytes] | None = None
        self._copy_start = 0  # the place in `copy` at which skipping began

    def __call__(self, count: int) -> None:
        if count:
            offset, text = self._window.take_text(count)
            if self.copy is not None:
                self.copy.add(text)
            self._window.events.append(self.make(offset, text))

    # skipped chunks do not enter the window; their last characters are kept here for look-behinds

    def raw_sink(self) -> Callable[[bytes], object]:
        """Return the function that takes the bytes of each chunk skipped from now on."""
        if self.copy is None:
            if self._last_chunks is None:
                # no chunk is empty, so the last few have the characters that a look-behind needs
                self._last_chunks = deque(maxlen=CONTEXT)
            self._last_chunks.clear()
            return self._last_chunks.append
        self._copy_start = self.copy.tell()
        return self.copy.write

    def lookbehind(self) -> str:
        """Return the text before the next character, as far as a pattern may look back."""
        copy, window = self.copy, self._window
        if copy is None:
            skipped = b"".join(self._last_chunks or ())
        else:
            end = copy.tell()
            copy.seek(max(self._copy_start, end - _WIDEST * CONTEXT))
            skipped = copy.read()
        text = skipped.decode(errors="ignore")
        if len(text) < CONTEXT:
            text = window.text[: window.at] + text
        return text[-CONTEXT:]


_WIDEST: Final = 4  # the most bytes of a character in UTF-8


@cache  # every scanner asks for the same few
def finding_maker(code: str, where: str, message: str = "") -> Callable[[int, str], Event]:
    """Return a function that makes finding events, which own the text that the finding is about."""
    about = finding(code, where, message)
    return lambda offset, text: FindingEvent(Span(offset, offset + len(text)), about, text)
