"""Where a Python string ends, by what stands after its quote: models forget to escape quotes.

The walk through a stream and the reading of a whole text share this rule, and so agree.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import regex

_SPACE: Final = r"\s{0,64}+"
# after an argument's string: the next argument, or the end of the call and what follows that; the
# end of the text is that of the arguments where they are read as a whole
_ARGUMENT_ENDS: Final = (
    rf"{_SPACE}(?:\Z|,{_SPACE}(?:[A-Za-z_]\w{{0,255}}+{_SPACE}=|\)|\Z)"
    rf"|\){{1,2}}+(?:[ \t]{{0,16}}+\r?\n|{_SPACE}(?:[\],;<]|\w{{1,64}}+\(|\Z)))"
)
# the first quote of a string is Python's own end of it: prose may follow that call's bracket
_AFTER_FIRST: Final = rf"{_ARGUMENT_ENDS}|{_SPACE}\)"
# after a string in a list or a dict: no more than punctuation, for prose follows no bracket there
_AFTER_ITEM: Final = rf"{_SPACE}(?:[,:)\]}}]|\Z)"


def closes(text: str, position: int, depth: int, first: bool) -> bool:
    """Whether what stands at `position` may follow a string, `depth` brackets inside the call;
    `first` says that the quote before it is the first since the string began."""
    return _after(depth > 0, first).match(text, position) is not None


def may_change(text: str, position: int, depth: int, first: bool) -> bool:
    """Whether more text could change what `closes` says."""
    match = _after(depth > 0, first).fullmatch(text, position, partial=True)
    return match is not None and (match.partial or match.end() == len(text))


@cache  # compiled where there are Python strings
def _after(inside: bool, first: bool) -> regex.Pattern[str]:
    return regex.compile(_AFTER_ITEM if inside else _AFTER_FIRST if first else _ARGUMENT_ENDS)
