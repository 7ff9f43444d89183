"""How chunks pass by where nothing can begin in them: the walk rests there, and is not resumed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

import regex

from playground.parsing.candidates import any_of
from playground.parsing.marker import Marker, Told, named_in

Accept = Callable[[Marker], bool]
# from where on a text is held, as a place in it is looked from: its length where nothing of it is,
# None where that is for the walk to say; a marker may be refused
Held = Callable[[str, int, Accept | None], int | None]
# how chunks pass by behind a text that is not quiet; None where that is for the walk to say
Turn = Callable[[str], "Quiet | None"]
# what stands at a place where something was held: told at once, for nothing need be searched; a
# marker that is refused is none
Judge = Callable[[str, int, Accept | None], Told]
# what tells whether more of a text is held still, all of it, if it is held from a place on
Run = Callable[[str], object]
# what stands at a place of a text or begins there, and whether more of it could change that
Look = Callable[[str, int], Told]
NO_SIGNS: Final = ("", "", "")
_QUOTES: Final = ('"', "'")


class Quiet(NamedTuple):
    """What comes next is claimed as it is, unless it has one of three `signs` and `wakes` finds
    something in it that could concern the walk. Of such a text `held`, if given, may say from where
    on it is held: the walk need not look. It `looks_back` on what was claimed; with `takes_lines`
    it is asked about whatever stands behind a line break. What is held of a long line may be a
    `run`: it is over with the first text that does not go on with it. Of what is held otherwise
    `judge`, if given, says at once what becomes of it.

    `wakes` is asked about each chunk alone: it may find too much, never too little. So it finds
    what it looks for by one character, if that is all there is; it looks ahead only where the end
    of the text will do, and back only to find less than it would without.
    """

    signs: tuple[str, str, str]
    wakes: Callable[[str], re.Match[str] | None]
    held: Held | None = None
    looks_back: bool = False
    takes_lines: bool = False
    run: Callable[[str, int], Run | None] | None = None
    judge: Judge | None = None


NEVER: Final = Quiet(NO_SIGNS, re.compile("").search)  # where no chunk passes by


@lru_cache(maxsize=1024)
def quiet_until(pattern: re.Pattern[str]) -> Quiet:
    """Up to what a pattern finds."""
    return Quiet(signs_of(pattern), pattern.search)


@lru_cache(maxsize=1024)
def quiet_string(pattern: re.Pattern[str], look: Look | None = None) -> Quiet:
    """Up to what ends a string in which a backslash escapes: `pattern` finds quotes, backslashes,
    and, where there is a `look`, with what a marker begins that no string holds."""
    return Quiet(signs_of(pattern), unescaped(pattern).search, _held_in_string(pattern, look))


@lru_cache(maxsize=1024)
def quiet_to_mark(mark: str) -> Quiet:
    """Up to a mark that nothing escapes; half of it may be held."""
    wakes, whole = re.compile(any_of([mark])), regex.compile(regex.escape(mark))

    def held(text: str, start: int, accept: Accept | None = None) -> int | None:
        found = whole.search(text, start, partial=True)
        if found is None:
            return len(text)
        return found.start() if found.partial else None

    return Quiet(signs_of(wakes), wakes.search, held)


def _held_in_string(pattern: re.Pattern[str], look: Look | None) -> Held:
    """What may be held at the end of a string: a backslash, and half of a marker."""

    def held(text: str, start: int, accept: Accept | None = None) -> int | None:
        found = pattern.search(text, start)
        while found is not None:
            place = found.start()
            if found[0] == "\\":
                if place == len(text) - 1:
                    return place
                place += 1  # whatever is escaped ends nothing
            elif look is None or found[0] in _QUOTES:
                return None
            else:
                marker, undecided = look(text, place)
                if marker is not None:
                    return place if undecided else None
            found = pattern.search(text, place + 1)
        return len(text)

    return held


def signs_of(wakes: re.Pattern[str]) -> tuple[str, str, str]:
    """The three characters without one of which nothing is found; empty where there are more. To
    look for a character takes a third of the time that a search by a pattern takes."""
    # it finds what it looks for by one character (see `Quiet`), so what it finds alone are all
    likely = sorted({*map(chr, range(128)), *wakes.pattern})
    found = [char for char in likely if wakes.search(char)]
    return (found[0], found[len(found) // 2], found[-1]) if 0 < len(found) < 4 else NO_SIGNS


def unescaped(wakes: re.Pattern[str]) -> re.Pattern[str]:
    """What finds something that no backslash escapes, in a chunk before which none is left over: a
    backslash at its end, or two in a row, of which nobody has counted how many they are."""
    return re.compile(rf"(?:{wakes.pattern})(?<!\\)(?<!\\[\s\S])|\\(?:\\|\Z)")


class Patterned(Protocol):
    @property
    def asked(self) -> Sequence[str]: ...


class Chooser(Protocol):
    """A place where one of several choices may come: a wait."""

    @property
    def choices(self) -> Sequence[Patterned]: ...


def refuses(
    accept: Accept | None,
    marker: Marker,
    undecided: bool,
    wait: Chooser,
    text: str,
    place: int,
) -> bool:
    """Whether a marker is not accepted, by the groups that it has: half of one is judged as each
    choice that may have begun at the place in the text, but not one that may become another."""
    if accept is None or not marker.named or (undecided and not marker.partial) or accept(marker):
        return False
    if not marker.partial or len(wait.choices) == 1:
        return True
    # `<invoke ` is a key in its tag as well as the beginning of a call
    asked = (compiled(pattern) for choice in wait.choices for pattern in choice.asked)
    halves = (pattern.match(text, place, partial=True) for pattern in asked)
    return not any(half is not None and accept(_half(half)) for half in halves)


def _half(match: regex.Match[str]) -> Marker:
    return Marker(match, None, named_in(match))


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> regex.Pattern[str]:
    """A choice alone; several waits have it. `regex` takes a millisecond for 500 characters."""
    return regex.compile(pattern)
