"""The end of a Python string: the text after a quote decides, because models forget escapes.

The walk through a stream and the reader of a whole text share this rule, so they agree.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import regex

_SPACE: Final = r"\s{0,64}+"
# After an argument's string: the next argument, or the end of the call and what may follow it. The
# reader of a whole text sees the end of the text instead.
_ARGUMENT_ENDS: Final = (
    rf"{_SPACE}(?:\Z|,{_SPACE}(?:[^\W\d]\w{{0,255}}+{_SPACE}=|\)|\Z)"
    rf"|\){{1,2}}+(?:[ \t]{{0,16}}+\r?\n|{_SPACE}(?:[\],;<]|\w{{1,64}}+\(|\Z)))"
)
# At the first quote Python itself ends a string, so any text may follow the call's bracket.
_AFTER_FIRST: Final = rf"{_ARGUMENT_ENDS}|{_SPACE}\)"
# After a string in a list or a dict: only punctuation, because no prose follows a bracket there.
_AFTER_ITEM: Final = rf"{_SPACE}(?:[,:)\]}}]|\Z)"


def closes(text: str, position: int, depth: int, first: bool) -> bool:
    """Return True if the quote before `position` ends a string. `depth` brackets are open in the
    call. `first` is True if it is the first quote since the string began."""
    return _end_pattern(depth > 0, first).match(text, position) is not None


def may_change(text: str, position: int, depth: int, first: bool) -> bool:
    """Return True if more text could change what `closes` says."""
    match = _end_pattern(depth > 0, first).fullmatch(text, position, partial=True)
    return match is not None and (match.partial or match.end() == len(text))


@cache  # compiled on first use
def _end_pattern(inside: bool, first: bool) -> regex.Pattern[str]:
    return regex.compile(_AFTER_ITEM if inside else _AFTER_FIRST if first else _ARGUMENT_ENDS)
