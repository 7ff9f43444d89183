"""How characters are claimed: by the walk, or passing by it where nothing can begin in a chunk."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from io import BytesIO
from typing import Final, NamedTuple, Protocol

from playground.events import Event, FindingEvent, Span
from playground.findings import finding
from playground.parsing.patterns import CONTEXT

Emit = Callable[[int], None]  # claims so many characters
# from where on a text is held, as a place in it is looked from: its length where nothing of it is,
# None where that is for the walk to say
Held = Callable[[str, int], int | None]


class Window(Protocol):
    """What characters are claimed from: the scanner."""

    text: str
    at: int
    events: list[Event]

    def take_text(self, count: int) -> tuple[int, str]: ...


class Pieces(list[str]):
    """The pieces of one text, joined as they grow: many small strings take many times their
    characters."""

    _joined = 0

    def append(self, piece: str) -> None:
        super().append(piece)
        if len(self) - self._joined >= _FEW:
            self[self._joined :] = ["".join(self[self._joined :])]
            self._joined += 1

    def take(self) -> str:
        """The whole text, of which nothing is kept: who has kept the pieces lives on for a while,
        and what reads the text needs room."""
        text = "".join(self)
        self.clear()
        self._joined = 0
        return text


_FEW: Final = 512  # pieces


class Claim:
    """Claims characters as events of one kind: called with how many. `make` makes an event of an
    offset and a text; `kept`, if given, gets the texts too."""

    __slots__ = ("_passed", "_window", "kept", "make")

    def __init__(
        self,
        window: Window,
        make: Callable[[int, str], Event],
        kept: list[str] | None = None,
    ) -> None:
        self._window, self.make, self.kept = window, make, kept
        self._passed: BytesIO | deque[bytes] | None = None

    def __call__(self, count: int) -> None:
        if count:
            offset, text = self._window.take_text(count)
            if self.kept is not None:
                self.kept.append(text)
            self._window.events.append(self.make(offset, text))

    # chunks that pass by: nothing in them concerns the walk

    def passing(self) -> Callable[[bytes], object]:
        """What takes the bytes of chunks that pass by: a text in the making takes four times as
        much."""
        if self._passed is not None:
            return self._passed.write if isinstance(self._passed, BytesIO) else self._passed.append
        if self.kept is None:
            # no chunk is empty, so that the last few have the characters that a look back needs
            self._passed = deque(maxlen=CONTEXT)
            return self._passed.append
        self._passed = BytesIO()
        return self._passed.write

    def passed(self) -> str:
        """The end of what has passed by, as long as a look back, or a little longer."""
        found = self._passed
        if not found or (isinstance(found, BytesIO) and not found.tell()):
            return ""
        if not isinstance(found, BytesIO):
            text = b"".join(found).decode()
            found.clear()
            return text
        text = found.getvalue().decode()
        found.seek(0)
        found.truncate()  # who writes to it lives on for a while: not so what was written
        if self.kept is not None:
            self.kept.append(text)
        return text[-CONTEXT:]

    def before(self) -> str:
        """What stands before what comes next, as far as a look back goes."""
        found, window = self._passed, self._window
        if isinstance(found, BytesIO):
            end = bytes(found.getbuffer()[-_WIDEST * CONTEXT :]).decode(errors="ignore")
        else:
            end = b"".join(found or ()).decode()
        return (window.text[: window.at] + end)[-CONTEXT:]


_WIDEST: Final = 4  # bytes of a character


def finding_maker(code: str, where: str) -> Callable[[int, str], Event]:
    """What makes findings that hold the text which they are about."""
    found = finding(code, where)
    return lambda offset, text: FindingEvent(Span(offset, offset + len(text)), found, text)


class Quiet(NamedTuple):
    """What comes next is claimed as it is, unless it has one of three `signs` and `wakes` finds
    something in it that could concern the walk. Of such a text `held`, if given, may say from where
    on it is held: the walk need not look. It `looks_back` on what was claimed; with `takes_lines`
    it is asked about whatever stands behind a line break."""

    signs: tuple[str, str, str]
    wakes: Callable[[str], re.Match[str] | None]
    claim: Claim
    held: Held | None = None
    looks_back: bool = False
    takes_lines: bool = False


@lru_cache(maxsize=1024)
def signs_of(wakes: re.Pattern[str]) -> tuple[str, str, str]:
    """The three characters without one of which nothing is found; empty where there are more. To
    look for a character takes a third of the time that a search by a pattern takes."""
    # it finds what it looks for by one character (see `rest`), so what it finds alone are all
    likely = sorted({*map(chr, range(128)), *wakes.pattern})
    found = [char for char in likely if wakes.search(char)]
    return (found[0], found[len(found) // 2], found[-1]) if 0 < len(found) < 4 else ("", "", "")


@lru_cache(maxsize=1024)
def unescaped(wakes: re.Pattern[str]) -> re.Pattern[str]:
    """What finds something that no backslash escapes, in a chunk before which none is left over: a
    backslash at its end, or two in a row, of which nobody has counted how many they are."""
    return re.compile(rf"(?:{wakes.pattern})(?<!\\)(?<!\\[\s\S])|\\(?:\\|\Z)")
