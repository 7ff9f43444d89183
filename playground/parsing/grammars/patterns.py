r"""Expressions for the `pattern` of a schema, if it describes a regular language.

Python's own parser of regular expressions reads the pattern. The regular expressions of JSON Schema
(ECMA 262) differ in some points, which are corrected here: `\d`, for instance, matches only ASCII.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any, Final

from playground.parsing.grammars.characters import ALL, DIGITS, CharacterSet, characters
from playground.parsing.grammars.expressions import EMPTY, Expression, either, in_order, repeat

_MOST_REPEATS: Final = 1000
_MOST_CHARS: Final = 2000
_WORD: Final = characters("a-z", "A-Z", "0-9", "_")
_SPACE: Final = characters(
    " \t\n\r\v\f\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff", "\u2000-\u200a"
)
_CLASSES: Final = {
    "CATEGORY_DIGIT": DIGITS,
    "CATEGORY_NOT_DIGIT": DIGITS.others,
    "CATEGORY_WORD": _WORD,
    "CATEGORY_NOT_WORD": _WORD.others,
    "CATEGORY_SPACE": _SPACE,
    "CATEGORY_NOT_SPACE": _SPACE.others,
}
_LINE: Final = characters("\n\r\u2028\u2029").others
Unit = Callable[[CharacterSet], Expression]


class NotRegular(Exception):
    """Raised for a pattern that no grammar can hold; the message names the reason."""


def pattern_expression(pattern: str, unit: Unit) -> Expression:
    """Build the texts that a pattern allows. `unit` writes each character. Raises NotRegular."""
    if len(pattern) > _MOST_CHARS:
        raise NotRegular(f"it has more than {_MOST_CHARS:,} characters")
    if re.search(r"\\[pPcGZzAQ]|\\k<|\(\?<[^=!]", pattern):
        raise NotRegular("an escape or a group that engines read in different ways")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = re._parser.parse(pattern)  # type: ignore[attr-defined]
    except (re.error, RecursionError, OverflowError) as error:
        raise NotRegular(f"it cannot be read: {error}") from None
    if tree.state.flags & ~re.UNICODE:
        raise NotRegular("flags inside of it")
    return _Reader(unit).unanchored(list(tree))


class _Reader:
    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.anything = repeat(unit(ALL))

    def unanchored(self, items: list[Any]) -> Expression:
        """Build a pattern that may match anywhere in a text, unless an anchor is at its start or
        end. Each branch of an alternation may have anchors of its own."""
        if len(items) == 1 and str(items[0][0]) == "BRANCH":
            return either([self.unanchored(list(branch)) for branch in items[0][1][1]])
        if len(items) == 1 and str(items[0][0]) == "SUBPATTERN" and not any(items[0][1][1:3]):
            return self.unanchored(list(items[0][1][3]))
        start = end = self.anything
        if items and _is_anchor(items[0], "AT_BEGINNING"):
            start, items = EMPTY, items[1:]
        if items and _is_anchor(items[-1], "AT_END"):
            end, items = EMPTY, items[:-1]
        return in_order(start, self._items(items), end)

    def _items(self, items: Any) -> Expression:
        return in_order(*(self._item(str(kind), value) for kind, value in items))

    def _item(self, kind: str, value: Any) -> Expression:
        match kind:
            case "LITERAL":
                return self.unit(_range(value, value))
            case "NOT_LITERAL":
                return self.unit(_range(value, value).others)
            case "ANY":
                return self.unit(_LINE)
            case "IN":
                return self.unit(_set(value))
            case "BRANCH":
                return either([self._items(branch) for branch in value[1]])
            case "SUBPATTERN" if not value[1] and not value[2]:
                return self._items(value[3])
            case "MAX_REPEAT" | "MIN_REPEAT":
                return self._repeat(*value)
        raise NotRegular(_WORDS.get(kind, f"{kind.lower()} in it"))

    def _repeat(self, least: int, most: Any, item: Any) -> Expression:
        unlimited = str(most) == "MAXREPEAT"
        if least > _MOST_REPEATS or (not unlimited and most > _MOST_REPEATS):
            raise NotRegular(f"a part of it is repeated more than {_MOST_REPEATS:,} times")
        return repeat(self._items(item), least, None if unlimited else int(most))


_WORDS: Final = {
    "ASSERT": "a look ahead or behind",
    "ASSERT_NOT": "a look ahead or behind",
    "GROUPREF": "a reference back to a group",
    "GROUPREF_EXISTS": "a reference back to a group",
    "AT": "an anchor or a word boundary inside of it",
    "POSSESSIVE_REPEAT": "a possessive repetition",
    "ATOMIC_GROUP": "an atomic group",
}


def _is_anchor(item: Any, name: str) -> bool:
    return str(item[0]) == "AT" and str(item[1]) == name


def _range(first: int, last: int) -> CharacterSet:
    return CharacterSet(((first, last),)) & ALL


def _set(items: Any) -> CharacterSet:
    chars, negated = characters(), False
    for kind, value in items:
        match str(kind):
            case "NEGATE":
                negated = True
            case "LITERAL":
                chars |= _range(value, value)
            case "RANGE":
                chars |= _range(*value)
            case _:
                chars |= _CLASSES[str(value)]
    return chars.others if negated else chars
