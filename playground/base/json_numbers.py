"""Numbers that JSON has not: NaN, the infinities, what overflows to one, such as 1e400, and whole
numbers of so many digits that no program reads them.

Python's reader takes them, its writer writes them, and no other program reads what comes out. Here
they become the text that they were written as, and who reads says so by a finding.
"""

from __future__ import annotations

import json
import marshal
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, Literal

from pydantic_core import from_json, to_json

_DIGITS: Final = 4300  # as many as Python writes and reads; others stop at 17
_HUGE: Final = 10**_DIGITS


class NotANumber(str):
    """The text of such a number, as `load_json` gives it: told apart from other texts, until
    `finite` makes it one of them."""


def load_json(text: str, *, strict: bool = False) -> Any:
    """Read JSON; a number that is none stays its text, as NotANumber ("NaN", "1e400").

    Without `strict`, line breaks inside strings are allowed. Raises what json.loads raises:
    ValueError or RecursionError.
    """
    if strict:
        try:
            return read_json_bytes(text.encode())  # several times as fast
        except ValueError:
            pass
    try:
        return _DECODERS[strict].decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # a number of thousands of digits; reading each by ourselves is slower
        return json.loads(
            text, strict=strict, parse_constant=NotANumber, parse_float=_float, parse_int=_int
        )


def read_json_bytes(data: bytes, cached: Literal["all", "keys"] = "all") -> Any:
    """Read JSON that holds nothing odd, without a copy as text. Raises ValueError for everything
    that `load_json` is for, or tells of: numbers that JSON has not, half surrogates, what is no
    UTF-8 or no JSON. Short texts that come again are `cached`, or the names of fields alone."""
    value = from_json(data, allow_inf_nan=False, cache_strings=cached)
    plain = marshal.dumps(value)
    if (0x7F in plain or 0xFF in plain) and may_be_infinite(plain):  # 1e400, read as infinity
        raise ValueError("a number that is none")
    return value


# Infinity and NaN as marshal writes them: `g`, which may bear a mark, and eight bytes, the highest
# last. The first is sought in no time, and is in no text of UTF-8 but DEL and a length.
_INFINITE: Final = re.compile(rb"(?s)\x7f(?<=[g\xe7].{6}[\xf0-\xff]\x7f)")
_NEGATIVE: Final = re.compile(rb"(?s)\xff(?<=[g\xe7].{6}[\xf0-\xff]\xff)")


def may_be_infinite(plain: bytes) -> bool:
    """Return True if a marshalled JSON value may hold NaN or an infinite number."""
    return bool(_INFINITE.search(plain) or _NEGATIVE.search(plain))


def load_objects(text: str) -> list[dict[str, Any]]:
    """Objects that stand one after another without a line break; [] where there is anything
    else."""
    found: list[dict[str, Any]] = []
    at = 0
    while at < len(text):
        try:
            value, at = _DECODERS[True].raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict):
            return []
        found.append(value)
        while text[at : at + 1].isspace():
            at += 1
    return found


def dump_again(value: Any) -> str:
    """Write the result of `load_json` as JSON for our own readers, keeping what is no JSON
    number.
    """
    with suppress(ValueError):  # half surrogates, or what is no JSON
        marshal.dumps(value)  # a fast look: it refuses a NotANumber, and all that is no plain value
        return to_json(value).decode()
    return json.dumps(value if is_finite(value) else _as_floats(value), default=str)


def _as_floats(value: Any) -> Any:
    match value:
        case NotANumber():
            return float(value)
        case Mapping():
            return {key: _as_floats(item) for key, item in value.items()}
        case list():
            return [_as_floats(item) for item in value]
        case _:
            return value


def number_of(text: str) -> int | float | NotANumber:
    """Return the number that a text stands for as Python writes it. Raises ValueError."""
    try:
        return int(text)  # leading zeros are allowed here
    except ValueError:
        return _float(text)


def _float(text: str) -> float | NotANumber:
    number = float(text)  # "nan" and "inf" too
    return number if math.isfinite(number) else NotANumber(text)


def _int(text: str) -> int | NotANumber:
    return int(text) if len(text) <= _DIGITS else NotANumber(text)


_DECODERS: Final = {
    strict: json.JSONDecoder(strict=strict, parse_constant=NotANumber, parse_float=_float)
    for strict in (True, False)
}


def finite(value: Any) -> Any:
    """Return the value with such numbers as texts, keys too: "NaN", "Infinity", "-Infinity",
    "0x9f…".
    """
    match value:
        case NotANumber():
            return str(value)
        case float() if not math.isfinite(value):
            return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
        case int() if not -_HUGE < value < _HUGE:
            return hex(value)  # which has no limit
        case Mapping():
            return {
                key if isinstance(key, tuple) else finite(key): finite(item)
                for key, item in value.items()
            }
        case list() | tuple():
            return [finite(item) for item in value]
        case _:
            return value


_NEVER: Final = frozenset({str, bool, type(None)})
_WORDS: Final = frozenset({str})


def is_finite(value: Any) -> bool:
    """Return True if no number in a JSON value is NaN, infinite or beyond all digits."""
    waiting = [value]  # without a call for each value: asked of all that is imported
    while waiting:
        each = waiting.pop()
        kind = type(each)
        if kind is dict:
            if not _NEVER.issuperset(map(type, each.values())):
                waiting += [one for one in each.values() if type(one) not in _NEVER]
            if not _WORDS.issuperset(map(type, each)):
                waiting += each
        elif kind is list:
            waiting += [one for one in each if type(one) not in _NEVER]
        elif kind not in _NEVER and not _is_finite(each):
            return False
    return True


def _is_finite(value: Any) -> bool:
    match value:
        case str():
            return not isinstance(value, NotANumber)
        case float():
            return math.isfinite(value)
        case int():
            return -_HUGE < value < _HUGE
        case Mapping():
            return all(map(is_finite, value)) and all(map(is_finite, value.values()))
        case list() | tuple():
            return all(map(is_finite, value))
        case _:
            return True
