"""Numbers that are read as texts: those that JSON does not have (NaN, the infinities, and numbers
that overflow to one, such as 1e400), and integers with more digits than Python reads.

Python's `json` accepts NaN and the infinities, which other programs refuse, and it refuses long
integers. Here each becomes the text that was in the file, so nothing is lost; readers report it.
"""

from __future__ import annotations

import json
import marshal
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, Literal

from pydantic_core import from_json, to_json

from playground.base.findings import Finding, finding

_DIGITS: Final = 4300  # Python's default limit; other programs are exact up to 15
_HUGE: Final = 10**_DIGITS
_REFUSED: Final = re.compile(r"Exceeds the limit \(\d+ digits\) .*?: value has (\d+) digits")
_RAW: Final = re.compile(r'"\\u0000\\u0001(\d+)"')  # placeholder for the text of a number
_KEY_END: Final = re.compile(r'"\s*:')
_NUMBER: Final = re.compile(r"-?(?:\d[\d.eE+-]*|Infinity)|NaN")


class NotANumber(str):
    """The text of a number that JSON does not have, from `load_json`. It differs from other texts
    by its type; `finite` turns it into a plain text."""


class LongInteger(NotANumber):
    """The digits of an integer that Python does not read by default."""


def load_json(text: str, *, strict: bool = False) -> Any:
    """Read JSON. A number that JSON does not have becomes a NotANumber ("NaN", "1e400"), an integer
    of too many digits a LongInteger: both are texts.

    Without `strict`, strings may hold control characters, such as line breaks. Raises what
    json.loads raises: ValueError or RecursionError.
    """
    if strict:
        try:
            return read_json_bytes(text.encode())  # several times faster
        except ValueError:
            pass
    try:
        return _DECODERS[strict].decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # an integer of thousands of digits: only the slow way reads it
        return json.loads(
            text, strict=strict, parse_constant=NotANumber, parse_float=_float, parse_int=_int
        )


def load_strict_json(text: str) -> Any:
    """Read JSON without copying its text, which may be long, to bytes. Raises ValueError if it is
    not JSON or has an integer of too many digits, RecursionError if it is nested too deeply."""
    return _DECODERS[True].decode(text)


def repeated_keys(text: str, value: Any) -> list[str]:
    """Return the keys that occur several times in one object, each once: readers keep only the last
    value. `value` is the result of reading the text. The list is empty if the text is not JSON."""
    if len(_KEY_END.findall(text)) == _members(value):  # reading again takes memory
        return []
    repeated: dict[str, None] = {}

    def note(pairs: list[tuple[str, Any]]) -> None:
        if len(pairs) > len({name for name, _ in pairs}):
            counts = Counter(name for name, _ in pairs)
            repeated.update((name, None) for name, count in counts.items() if count > 1)

    with suppress(ValueError, RecursionError):
        json.loads(text, strict=False, object_pairs_hook=note, parse_int=str, parse_float=str)
    return list(repeated)


def _members(value: Any) -> int:
    """Return the number of members of all objects in a value."""
    count, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            count += len(item)
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
    return count


def load_strict_json_at(text: str, start: int) -> tuple[Any, int]:
    """Read the JSON value that begins at `start`; return it and its end. Other text may follow.

    Raises ValueError or RecursionError as `load_strict_json` does."""
    return _DECODERS[True].raw_decode(text, start)


def read_json_bytes(data: bytes, cached: Literal["all", "keys"] = "all") -> Any:
    """Read plain JSON from bytes, without a copy as text.

    Raises ValueError for everything that needs `load_json`: numbers that JSON does not have, half
    surrogates, bytes that are not UTF-8 or not JSON. `cached` says which short texts are cached, so
    that equal texts are the same object: all of them, or only names of fields."""
    value = from_json(data, allow_inf_nan=False, cache_strings=cached)
    plain = marshal.dumps(value)
    if (0x7F in plain or 0xFF in plain) and may_be_infinite(plain):  # 1e400, read as infinity
        raise ValueError("a number that JSON does not have")
    return value


# marshal writes a float as the letter `g`, perhaps with a flag, and eight bytes; the last of them
# shows Infinity and NaN. A search begins with that byte, because texts seldom hold it.
_INFINITE: Final = re.compile(rb"(?s)\x7f(?<=[g\xe7].{6}[\xf0-\xff]\x7f)")
_NEGATIVE: Final = re.compile(rb"(?s)\xff(?<=[g\xe7].{6}[\xf0-\xff]\xff)")


def may_be_infinite(plain: bytes) -> bool:
    """Return True if a JSON value, as bytes of `marshal`, may hold NaN or an infinite number."""
    return bool(_INFINITE.search(plain) or _NEGATIVE.search(plain))


def load_objects(text: str) -> list[dict[str, Any]]:
    """Read objects with nothing but white space between them; [] if there is anything else."""
    objects: list[dict[str, Any]] = []
    at = 0
    while at < len(text):
        try:
            value, at = _DECODERS[True].raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict):
            return []
        objects.append(value)
        while text[at : at + 1].isspace():
            at += 1
    return objects


def dump_again(value: Any) -> str:
    """Write the result of `load_json` as JSON for our own readers. A NotANumber becomes a number
    again, or a text if `value` holds a text that looks like a placeholder."""
    with suppress(ValueError):  # half surrogates, or values that are not JSON
        marshal.dumps(value)  # a fast check: it refuses a NotANumber and other subclasses
        return to_json(value).decode()
    raw: list[str] = []
    text = json.dumps(_with_placeholders(value, raw), default=str)
    if len(_RAW.findall(text)) > len(raw):  # a text of the value looks like a placeholder
        return json.dumps(finite(value), default=str)
    return _RAW.sub(lambda mark: raw[int(mark[1])], text)


def _with_placeholders(value: Any, raw: list[str]) -> Any:
    """Return the value with a placeholder for each NotANumber; add their texts to `raw`."""
    match value:
        case NotANumber():
            raw.append(str(value) if _NUMBER.fullmatch(value) else json.dumps(float(value)))
            return f"\0\1{len(raw) - 1}"
        case Mapping():
            return {key: _with_placeholders(item, raw) for key, item in value.items()}
        case list():
            return [_with_placeholders(item, raw) for item in value]
        case _:
            return value


def number_of(text: str) -> int | float | NotANumber:
    """Return the number that a text means in Python. Raises ValueError for any other text."""
    try:
        return int(text)  # leading zeros are allowed here
    except ValueError:
        return LongInteger(text) if is_long_integer(text) else _float(text)


def is_long_integer(text: str) -> bool:
    """Return True if a text holds the digits of an integer that Python does not read by default."""
    return len(text) > _DIGITS and text.removeprefix("-").isdecimal()


def _float(text: str) -> float | NotANumber:
    number = float(text)  # Python reads "nan" and "inf" too
    return number if math.isfinite(number) else NotANumber(text)


def _int(text: str) -> int | LongInteger:
    try:
        return int(text)
    except ValueError:
        return LongInteger(text)


_DECODERS: Final = {
    strict: json.JSONDecoder(strict=strict, parse_constant=NotANumber, parse_float=_float)
    for strict in (True, False)
}


def finite(value: Any) -> Any:
    """Return the value with texts in place of numbers that JSON does not have, in keys too: "NaN",
    "Infinity", "-Infinity", and "0x9f…" for an `int` of too many digits."""
    match value:
        case NotANumber():
            return str(value)
        case float() if not math.isfinite(value):
            return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
        case int() if not -_HUGE < value < _HUGE:
            return hex(value)  # hexadecimal digits have no limit
        case Mapping():
            return {
                key if isinstance(key, tuple) else finite(key): finite(item)
                for key, item in value.items()
            }
        case list() | tuple():
            return [finite(item) for item in value]
        case _:
            return value


_NEVER_NUMBERS: Final = frozenset({str, bool, type(None)})
_TEXT_ONLY: Final = frozenset({str})


def is_finite(value: Any) -> bool:
    """Return True if no number in a JSON value is NaN, infinite or has too many digits."""
    waiting = [value]  # no recursion, because every imported value is checked
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is dict:
            if not _NEVER_NUMBERS.issuperset(map(type, item.values())):
                waiting += [inner for inner in item.values() if type(inner) not in _NEVER_NUMBERS]
            if not _TEXT_ONLY.issuperset(map(type, item)):
                waiting += item
        elif kind is list:
            waiting += [inner for inner in item if type(inner) not in _NEVER_NUMBERS]
        elif kind not in _NEVER_NUMBERS and not _is_finite(item):
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


def number_findings(value: Any, where: str) -> list[Finding]:
    """Return findings about a value's numbers that JSON does not have or Python does not read."""
    findings = [finding("not-a-number", where)] if holds_nan_or_infinity(value) else []
    if digits := long_integers(value):
        message = f"{integer_words(digits)}, more than Python reads by default: kept as text"
        findings.append(finding("long-integer", where, message))
    return findings


def holds_nan_or_infinity(value: Any) -> bool:
    """Return True if a number in a JSON value is NaN or infinite."""
    odd = _odd_numbers(value)
    return any(isinstance(number, float) or type(number) is NotANumber for number in odd)


def long_integers(value: Any) -> list[int]:
    """Return the number of digits of each integer in a JSON value that is too long for Python."""
    integers = (number for number in _odd_numbers(value) if type(number) is not NotANumber)
    return [_digits(number) for number in integers if isinstance(number, LongInteger | int)]


def integer_words(digits: list[int]) -> str:
    """Describe the length of integers in words."""
    if len(digits) == 1:
        return f"an integer of {digits[0]:,} digits"
    return f"{len(digits):,} integers of up to {max(digits):,} digits"


def refused_words(error: Exception) -> str:
    """Return the reason why Python refuses a text as JSON, in plain words if an integer is too
    long."""
    match = _REFUSED.search(str(error))
    if match is None:
        return str(error)
    return f"{integer_words([int(match[1])])}, more than Python reads by default ({_DIGITS:,})"


def json_fault(error: Exception) -> str:
    """Return why a text cannot be read: it is not JSON, or an integer in it is too long."""
    words = refused_words(error)
    return f"not JSON ({words})" if words == str(error) else f"it holds {words}"


def _digits(value: LongInteger | int) -> int:
    if isinstance(value, str):
        return len(value.lstrip("-"))
    count = int(value.bit_length() * math.log10(2))  # perhaps one digit too few
    return count + bool(abs(value) >= 10**count)


def _odd_numbers(value: Any) -> Iterator[Any]:
    """Yield every number in a JSON value that `is_finite` refuses, also among keys."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _odd_numbers(key)
            yield from _odd_numbers(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _odd_numbers(item)
    elif not _is_finite(value):
        yield value
