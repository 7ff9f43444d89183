"""Sets of characters, as ranges of code points, for one place of a grammar.

`ALL` and complements have no NUL, which engines refuse, and no surrogates, which UTF-8 cannot hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

Range = tuple[int, int]  # both ends included
_LAST: Final = 0x10FFFF
_PLAIN: Final = re.compile(r"[A-Za-z0-9_ ]")
_SURROGATES: Final = (0xD800, 0xDFFF)


@dataclass(frozen=True, slots=True)
class CharacterSet:
    """A set of characters as ranges, in order, with gaps between them."""

    ranges: tuple[Range, ...]

    def __or__(self, other: CharacterSet) -> CharacterSet:
        return _merged([*self.ranges, *other.ranges])

    def __and__(self, other: CharacterSet) -> CharacterSet:
        both: list[Range] = []
        left, right = 0, 0
        while left < len(self.ranges) and right < len(other.ranges):
            (start, end), (first, last) = self.ranges[left], other.ranges[right]
            if max(start, first) <= min(end, last):
                both.append((max(start, first), min(end, last)))
            left, right = (left + 1, right) if end < last else (left, right + 1)
        return CharacterSet(tuple(both))

    def __sub__(self, other: CharacterSet) -> CharacterSet:
        return self & other.others

    def __contains__(self, char: str) -> bool:
        return any(first <= ord(char) <= last for first, last in self.ranges)

    def __bool__(self) -> bool:
        return bool(self.ranges)

    @property
    def others(self) -> CharacterSet:
        """Every character that is not in this set."""
        ranges, start = [], 1
        for first, last in sorted([*self.ranges, _SURROGATES]):
            ranges.append((start, first - 1))
            start = max(start, last + 1)
        return _merged([*ranges, (start, _LAST)])

    @property
    def is_shorter_negated(self) -> bool:
        """True if the set reaches the last character and its complement has fewer ranges."""
        return len(self.others.ranges) < len(self.ranges) and _LAST in self.ranges[-1]

    @property
    def pattern(self) -> str:
        """The set as a regular expression."""
        listed, sign = (self.others, "^\\x{0}") if self.is_shorter_negated else (self, "")
        ranges = (
            escape(chr(first)) if first == last else f"{escape(chr(first))}-{escape(chr(last))}"
            for first, last in listed.ranges
        )
        return f"[{sign}{''.join(ranges)}]"


def escape(char: str) -> str:
    """Write a character in a regular expression, inside of a set or not."""
    return char if _PLAIN.match(char) else f"\\x{{{ord(char):x}}}"


def _merged(ranges: Iterable[Range]) -> CharacterSet:
    """Put ranges in order, join those that touch, and drop empty ones."""
    merged: list[Range] = []
    for first, last in sorted(ranges):
        if first > last:
            continue
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return CharacterSet(tuple(merged))


def characters(*texts: str) -> CharacterSet:
    """Return the characters of texts. A text of three characters with a dash in its middle is a
    range."""
    ranges: list[Range] = []
    for text in texts:
        if len(text) == 3 and text[1] == "-":
            ranges.append((ord(text[0]), ord(text[2])))
        else:
            ranges += [(ord(char), ord(char)) for char in text]
    return _merged(ranges)


@cache
def characters_of(pattern: str) -> CharacterSet:
    """Return all characters that a regular expression of Python's matches."""
    runs = re.finditer(f"{pattern}+", "".join(map(chr, range(_LAST + 1))))
    return CharacterSet(tuple((run.start(), run.end() - 1) for run in runs)) & ALL


@cache
def name_characters(before: str = "") -> CharacterSet:
    """Return the letters, digits and underscore that may follow the text `before` in a Python
    identifier."""
    chars = map(chr, range(_LAST + 1))
    flags = bytes((c == "_" or c.isalnum()) and f"{before}{c}".isidentifier() for c in chars)
    return CharacterSet(tuple((m.start(), m.end() - 1) for m in re.finditer(b"\1+", flags))) & ALL


NONE: Final = CharacterSet(())
ALL: Final = NONE.others
DIGITS: Final = characters("0-9")
HEX: Final = characters("0-9", "a-f", "A-F")
CONTROL: Final = CharacterSet(((1, 0x1F),))
BLANKS: Final = characters(*filter(str.isspace, map(chr, range(1, 0x3001))))
"""All that Python takes for white space."""
