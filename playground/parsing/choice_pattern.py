"""The pattern of a choice, compiled only when a text begins as a match would.

To compile a pattern takes as long as to read a short reply, and the first word of a marker rules
out most choices. So the literals with which a pattern begins are compared before it is compiled.
The comparison may pass a text that does not match, but never stops one that does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import cached_property, lru_cache
from typing import Final

import regex

from playground.parsing.patterns import LEAKED, LINE_START, NO_MEMBER, NO_NAME, SPACE, WORD_START

# Steps of a pattern's beginning that are no literals (see `_steps`).
_BLANK: Final = " "  # white space
_SPACES: Final = ""  # white space or none
_NAME: Final = "\0"  # a name, of which only the first character is compared

_CALL_SPACE: Final = "(?&space)"
_DEFINE_SPACE: Final = f"(?(DEFINE)(?P<space>{SPACE}))"
_ANY_SPACE: Final = "\0"  # replaces SPACE in a pattern that is searched for its structure
_LOOK_BEHINDS: Final = (LINE_START, WORD_START, NO_MEMBER)
_DOUBLED: Final = "(?P<doubled>"  # a group that is always optional, see `allow_repeated`
_GROUPS: Final = (_DOUBLED, "(?=", "(?:")
_MOST_ALTERNATIVES: Final = 16  # comparing more takes longer than matching a compiled pattern
_LITERAL: Final = re.compile(r"(?:(?:\\[^A-Za-z0-9]|[^\\\[\](){}?*+|.^$\0])(?![?*+{]))+")
# white space as patterns.py writes it (`\0` is SPACE); group 1 is the least number of blanks
_WHITE_SPACE: Final = re.compile(
    r"(?:\[ \\t\]\{0,16\}\+)?\\r\?\\n|\0|(?:\\s|\[ \\t\])\{([01]),\d+\}\+|\\n\?\+"
)
_NAME_START: Final = re.compile(r"\((?:\?P<\w+>|\?:)\(\?!/\)\(\?:\[\^" + re.escape(NO_NAME))
_NOT_IN_NAME: Final = re.compile(f"[{NO_NAME}]")
_STRUCTURE: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_NO_SPACE: Final = re.compile(r"\S|\Z")
_LEAKS_CUT: Final = frozenset(text[:size] for text in LEAKED for size in range(1, len(text)))


class Begin(Enum):
    """Results of comparing the beginning of a pattern with a text at a place."""

    NO = "no"  # the pattern does not match there
    CUT = "cut"  # the text ends within the beginning
    MAY = "may"  # the pattern has to be matched


class ChoicePattern:
    """One pattern of a choice. It has no alternatives outside of its groups.

    It is compiled when a text first begins as a match would.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._compiled: regex.Pattern[str] | None = None
        self._beginning = _Beginning(pattern.replace(SPACE, _ANY_SPACE))

    def match(self, text: str, place: int, partial: bool = False) -> regex.Match[str] | None:
        """Match at a place. With `partial`, a text that ends inside the pattern matches too."""
        begin = self._beginning.compare(text, place, self._compiled is None)
        if begin is Begin.NO or (begin is Begin.CUT and not partial):
            return None
        return self._compile().match(text, place, partial=partial)

    def fullmatch(self, text: str, place: int = 0) -> regex.Match[str] | None:
        """Match all text from a place on. A text that ends inside the pattern matches too."""
        if self._beginning.compare(text, place, self._compiled is None) is Begin.NO:
            return None
        return self._compile().fullmatch(text, place, partial=True)

    def begin(self, text: str, place: int) -> Begin:
        """Compare the text at a place with the beginning of the pattern."""
        return self._beginning.compare(text, place)

    def _compile(self) -> regex.Pattern[str]:
        if self._compiled is None:
            self._compiled = regex.compile(_with_shared_space(self.pattern))
        return self._compiled


@lru_cache(maxsize=4096)
def choice_pattern(pattern: str) -> ChoicePattern:
    """Return a pattern, shared by all choice points: compiling 500 characters takes 1 ms."""
    return ChoicePattern(pattern)


def pattern_of(match: regex.Match[str]) -> str:
    """Return the pattern that gave a match, as its choice declares it."""
    return _without_shared_space(match.re.pattern)


def _with_shared_space(pattern: str) -> str:
    """Return the pattern with SPACE defined only once, if it occurs more often: `regex` compiles
    each SPACE in 0.1 ms, which is most of a long pattern's time."""
    if pattern.count(SPACE) < 2:
        return pattern
    return _DEFINE_SPACE + pattern.replace(SPACE, _CALL_SPACE)


@lru_cache(maxsize=4096)
def _without_shared_space(pattern: str) -> str:
    if not pattern.startswith(_DEFINE_SPACE):
        return pattern
    return pattern.removeprefix(_DEFINE_SPACE).replace(_CALL_SPACE, SPACE)


class _Beginning:
    """The literals with which a pattern begins, and what may follow them. With `every`, `compare`
    also tries the alternatives of a group that has many."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._steps, self._stop = _steps(pattern)

    def compare(self, text: str, place: int, every: bool = False) -> Begin:
        passed, failure = self._pass_steps(text, place)
        if isinstance(passed, Begin):
            return passed
        if not self._following or (len(self._following) > _MOST_ALTERNATIVES and not every):
            return Begin.MAY
        result = failure
        for following in self._following:
            begin = following.compare(text, passed, every)
            if begin is Begin.MAY:
                return begin
            if begin is Begin.CUT:
                result = begin
        return result

    def _pass_steps(self, text: str, place: int) -> tuple[int | Begin, Begin]:
        """Return the place after the steps or, if they decide the comparison, its result. Also
        return the result for the case that the text after the steps does not match."""
        failure = Begin.NO
        for step in self._steps:
            if step.strip():
                result = _compare_literal(step, text, place)
                if result is not None:
                    return failure if result is Begin.NO else result, failure
                place += len(step)
                continue
            match = _NO_SPACE.search(text, place)
            stop = match.start() if match else place
            if step == _BLANK and stop == place:
                return Begin.CUT if place == len(text) else failure, failure
            if text.startswith(LEAKED, stop):
                return Begin.MAY, failure
            if text[stop : stop + 5] in _LEAKS_CUT:
                failure = Begin.CUT  # the end may be part of a leaked token, read as white space
            place = stop
        return place, failure

    @cached_property
    def _following(self) -> list[_Beginning]:
        """The beginnings of the group after the literals; [] if they rule nothing out. They are
        made when a text first reaches the group."""
        pattern, at = self._pattern, self._stop
        opener = next((group for group in _GROUPS if pattern.startswith(group, at)), "")
        if not opener:
            return []
        stop = _group_stop(pattern, at)
        inner, rest = pattern[at + len(opener) : stop - 1], pattern[stop:]
        if opener == _DOUBLED:
            once = rest.removeprefix("?")
            return [_Beginning(inner + once), _Beginning(once)]
        alternatives = list(_alternatives(inner))
        if opener == "(?:" and rest.startswith("?"):
            rest = rest[1:].removeprefix("+")
            return [_Beginning(f"(?:{inner}){rest}"), _Beginning(rest)]
        if rest[:1] in ("?", "*", "+", "{"):
            return []
        if opener == "(?:" and len(alternatives) == 1:
            return [_Beginning(inner + rest)]
        return list(map(_Beginning, alternatives))


def _compare_literal(step: str, text: str, place: int) -> Begin | None:
    """Return None if the literal is at the place, or else the result. Of a name only the first
    character is compared."""
    if step == _NAME:
        return Begin.NO if _NOT_IN_NAME.match(text, place) else Begin.MAY
    if text.startswith(step, place):
        return None
    is_cut = len(text) - place < len(step) and step.startswith(text[place:])
    return Begin.CUT if is_cut else Begin.NO


def _steps(pattern: str) -> tuple[list[str], int]:
    """Return the literals and white space with which a pattern begins, and where they end."""
    steps: list[str] = []
    at = 0
    while True:
        if literal := _LITERAL.match(pattern, at):
            steps.append(_ESCAPE.sub(r"\1", literal[0]))
            at = literal.end()
        elif space := _WHITE_SPACE.match(pattern, at):
            steps.append(_BLANK if space[1] == "1" else _SPACES)
            at = space.end()
        elif _NAME_START.match(pattern, at):
            return [*steps, _NAME], len(pattern)
        elif look_behind := next((x for x in _LOOK_BEHINDS if pattern.startswith(x, at)), ""):
            at += len(look_behind)
        else:
            return steps, at


def _alternatives(pattern: str) -> Iterator[str]:
    depth = start = 0
    for token in _STRUCTURE.finditer(pattern) if "|" in pattern else ():
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if token[0] == "|" and not depth:
            yield pattern[start : token.start()]
            start = token.end()
    yield pattern[start:]


def _group_stop(pattern: str, start: int) -> int:
    """Return the index after the group that begins at `start`."""
    depth = 0
    for token in _STRUCTURE.finditer(pattern, start):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if not depth:
            return token.end()
    return len(pattern)
