"""How chunks pass by where nothing can begin in them: the walk rests there, and is not resumed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

import regex

Accept = Callable[[regex.Match[str]], bool]
# from where on a text is held, as a place in it is looked from: its length where nothing of it is,
# None where that is for the walk to say; a marker may be refused
Held = Callable[[str, int, Accept | None], int | None]


class Quiet(NamedTuple):
    """What comes next is claimed as it is, unless it has one of three `signs` and `wakes` finds
    something in it that could concern the walk. Of such a text `held`, if given, may say from where
    on it is held: the walk need not look. It `looks_back` on what was claimed; with `takes_lines`
    it is asked about whatever stands behind a line break.

    `wakes` is asked about each chunk alone: it may find too much, never too little. So it finds
    what it looks for by one character, if that is all there is; it looks ahead only where the end
    of the text will do, and back only to find less than it would without.
    """

    signs: tuple[str, str, str]
    wakes: Callable[[str], re.Match[str] | None]
    held: Held | None = None
    looks_back: bool = False
    takes_lines: bool = False


@lru_cache(maxsize=1024)
def quiet_until(pattern: re.Pattern[str], escapes: bool = False) -> Quiet:
    """Up to what a pattern finds; with `escapes`, up to what no backslash escapes."""
    return Quiet(signs_of(pattern), (unescaped(pattern) if escapes else pattern).search)


def signs_of(wakes: re.Pattern[str]) -> tuple[str, str, str]:
    """The three characters without one of which nothing is found; empty where there are more. To
    look for a character takes a third of the time that a search by a pattern takes."""
    # it finds what it looks for by one character (see `Quiet`), so what it finds alone are all
    likely = sorted({*map(chr, range(128)), *wakes.pattern})
    found = [char for char in likely if wakes.search(char)]
    return (found[0], found[len(found) // 2], found[-1]) if 0 < len(found) < 4 else ("", "", "")


def unescaped(wakes: re.Pattern[str]) -> re.Pattern[str]:
    """What finds something that no backslash escapes, in a chunk before which none is left over: a
    backslash at its end, or two in a row, of which nobody has counted how many they are."""
    return re.compile(rf"(?:{wakes.pattern})(?<!\\)(?<!\\[\s\S])|\\(?:\\|\Z)")


class Patterned(Protocol):
    @property
    def pattern(self) -> str: ...


class Chooser(Protocol):
    """A place where one of several choices may come: a wait."""

    @property
    def choices(self) -> Sequence[Patterned]: ...


def refuses(
    accept: Accept | None,
    match: regex.Match[str],
    undecided: bool,
    wait: Chooser,
    text: str,
    place: int,
) -> bool:
    """Whether a match is not accepted: half of a marker is judged by the groups that it has, as
    each choice that may have begun at the place in the text, but not a marker that may become
    another."""
    if accept is None or (undecided and not match.partial) or accept(match):
        return False
    if not match.partial or len(wait.choices) == 1:
        return True
    # `<invoke ` is a key in its tag as well as the beginning of a call
    halves = (_alone(choice.pattern).match(text, place, partial=True) for choice in wait.choices)
    return not any(half is not None and accept(half) for half in halves)


@lru_cache(maxsize=1024)
def _alone(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)
