"""Numbers as JSON and Python write them, within a schema's bounds."""

from __future__ import annotations

import math
from typing import Final

from playground.parsing.grammars.characters import DIGITS, characters
from playground.parsing.grammars.expressions import (
    EMPTY,
    IMPOSSIBLE,
    Expression,
    OneOf,
    either,
    in_order,
    optional,
    repeat,
)

MOST_DIGITS: Final = 40
"""The most digits of an integer, and of a number's fraction."""
_FIRST: Final = OneOf(characters("1-9"))
_DIGIT: Final = OneOf(DIGITS)


def integer(low: int | None = None, high: int | None = None) -> Expression:
    """Build the integers from `low` to `high`, both included; None means no bound."""
    if low is not None and high is not None and low > high:
        return IMPOSSIBLE
    alternatives = []
    if low is None or low < 0:
        nearest = 1 if high is None or high >= 0 else -high
        alternatives.append(in_order("-", _natural(nearest, None if low is None else -low)))
    if high is None or high >= 0:
        alternatives.append(_natural(max(low or 0, 0), high))
    if low is None and high is None:
        return in_order(optional("-"), _natural(0, None))
    return either(alternatives)


def number(low: float | None = None, high: float | None = None) -> Expression | None:
    """Build the numbers from `low` to `high`. Return None if a bound is not a whole number.

    Without bounds an exponent may follow, as far as a float holds it.
    """
    if low is None and high is None:
        return _any_number()
    if any(bound is not None and bound != math.floor(bound) for bound in (low, high)):
        return None
    return _between(None if low is None else int(low), None if high is None else int(high))


def _any_number() -> Expression:
    fraction = optional(in_order(".", repeat(_DIGIT, 1, MOST_DIGITS)))
    sign = optional(OneOf(characters("+-")))
    letter = OneOf(characters("eE"))
    small = in_order(letter, sign, repeat(_DIGIT, 1, 2))
    hundreds = in_order(OneOf(characters("12")), _DIGIT, _DIGIT)
    large = in_order(letter, sign, either([hundreds, in_order("30", OneOf(characters("0-7")))]))
    whole = in_order(_natural(0, None), fraction, optional(small))
    normal = in_order(_DIGIT, fraction, large)
    return in_order(optional("-"), either([whole, normal]))


def _between(low: int | None, high: int | None) -> Expression:
    """Build the numbers between two bounds, both included.

    A fraction may follow each integer; after the one furthest from zero it has only zeros.
    """
    alternatives = []
    if high is None or high > 0:
        alternatives.append(_fractions(max(low or 0, 0), high))
    if low is None or low < 0:
        nearest = 0 if high is None or high >= 0 else -high
        alternatives.append(in_order("-", _fractions(nearest, None if low is None else -low)))
    if (low is None or low <= 0) and high == 0:
        alternatives.append(in_order("0", _zeros()))
    return either(alternatives) if low is None or high is None or low <= high else IMPOSSIBLE


def _fractions(low: int, high: int | None) -> Expression:
    fraction = optional(in_order(".", repeat(_DIGIT, 1, MOST_DIGITS)))
    if high is None:
        return in_order(_natural(low, None), fraction)
    last = in_order(str(high), _zeros())
    return either([in_order(_natural(low, high - 1), fraction), last]) if high > low else last


def _zeros() -> Expression:
    return optional(in_order(".", repeat(OneOf(characters("0")), 1, MOST_DIGITS)))


def _natural(low: int, high: int | None) -> Expression:
    """Build the integers from `low`, which is not negative, to `high` or without an end."""
    if high is not None:
        sizes = range(len(str(low)), len(str(high)) + 1)
        parts = ((max(low, 10 ** (n - 1) if n > 1 else 0), min(high, 10**n - 1)) for n in sizes)
        return either([_same_size(str(first), str(last)) for first, last in parts])
    if low == 0:
        return either([in_order("0"), in_order(_FIRST, repeat(_DIGIT, 0, MOST_DIGITS - 1))])
    size = len(str(low))
    longer = in_order(_FIRST, repeat(_DIGIT, size, max(MOST_DIGITS - 1, size)))
    return either([_same_size(str(low), "9" * size), longer])


def _same_size(low: str, high: str) -> Expression:
    """Build the integers between two that have the same number of digits."""
    if low == high:
        return in_order(low)
    if low[0] == high[0]:
        return in_order(low[0], _same_size(low[1:], high[1:]))
    rest = len(low) - 1
    first, last = int(low[0]), int(high[0])
    alternatives = []
    if low[1:].strip("0"):
        alternatives.append(in_order(low[0], _same_size(low[1:], "9" * rest)))
        first += 1
    if high[1:].strip("9"):
        alternatives.append(in_order(high[0], _same_size("0" * rest, high[1:])))
        last -= 1
    if first <= last:
        digits = OneOf(characters(*map(str, range(first, last + 1))))
        any_rest = repeat(_DIGIT, rest, rest) if rest else EMPTY
        alternatives.append(in_order(digits, any_rest))
    return either(alternatives)
