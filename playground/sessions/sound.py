"""One look at a value that is kept: its numbers and its texts, which two walks would look at."""

from __future__ import annotations

from typing import Any, Final

from playground.characters import is_all_whole
from playground.json_numbers import is_finite

_SMALL: Final = frozenset({bool, type(None)})
_BITS: Final = 14_000  # of a number that surely has fewer digits than Python writes


def is_sound(value: Any) -> bool:
    """Whether a JSON value is finite and every text in it whole."""
    waiting = [value]
    held: list[Any]
    while waiting:
        each = waiting.pop()
        kind = type(each)
        if kind is dict:
            held = [*each, *each.values()]
        elif kind is list:
            held = each
        elif (kind is int and each.bit_length() < _BITS) or (
            is_finite(each) and is_all_whole(each)
        ):
            continue
        else:
            return False
        waiting += [
            one for one in held if not (one.isascii() if type(one) is str else type(one) in _SMALL)
        ]
    return True
