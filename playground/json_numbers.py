"""Numbers that JSON has not: NaN, the infinities, and what overflows to one, such as 1e400.

Python's reader takes them, its writer writes them, and no other program reads what comes out. Here
they become the text that they were written as, and who reads says so by a finding.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final


def load_json(text: str, *, strict: bool = False) -> Any:
    """Read JSON; a number that is none stays its text ("NaN", "1e400").

    Without `strict`, line breaks inside strings are allowed. Raises what json.loads raises:
    ValueError or RecursionError.
    """
    return json.loads(text, strict=strict, parse_constant=str, parse_float=_float)


def _float(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


def finite(value: Any) -> Any:
    """The value with such numbers as texts: "NaN", "Infinity", "-Infinity"."""
    match value:
        case float() if not math.isfinite(value):
            return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
        case Mapping():
            return {key: finite(item) for key, item in value.items()}
        case list() | tuple():
            return [finite(item) for item in value]
        case _:
            return value


_NEVER: Final = frozenset({str, int, bool, type(None)})


def is_finite(value: Any) -> bool:
    """Whether no number in a JSON value is NaN or infinite."""
    if type(value) in _NEVER:  # asked of every number and word of an import
        return True
    match value:
        case float():
            return math.isfinite(value)
        case Mapping():
            return all(map(is_finite, value.values()))
        case list() | tuple():
            return all(map(is_finite, value))
        case _:
            return True
