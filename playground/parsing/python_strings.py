"""Where a Python string ends, by what stands after its quote: models forget to escape quotes.

The walk through a stream and the reading of a whole text share this rule, and so agree.
"""

from __future__ import annotations

from typing import Final

import regex

_SPACE: Final = r"\s{0,64}+"
# after an argument's string: the next argument, or the end of the call and what follows that
_AFTER_ARGUMENT: Final = regex.compile(
    rf"{_SPACE}(?:,{_SPACE}(?:[A-Za-z_]\w{{0,63}}+{_SPACE}=|\))"
    rf"|\){{1,2}}+(?:[ \t]{{0,16}}+\r?\n|{_SPACE}(?:[\],;<]|\w{{1,64}}+\(|\Z)))"
)
# after a string in a list or a dict: no more than punctuation, for prose follows no bracket there
_AFTER_ITEM: Final = regex.compile(rf"{_SPACE}(?:[,:)\]}}]|\Z)")


def closes(text: str, position: int, depth: int) -> bool:
    """Whether what stands at `position` may follow a string, `depth` brackets inside the call."""
    return _after(depth).match(text, position) is not None


def may_change(text: str, position: int, depth: int) -> bool:
    """Whether more text could change what `closes` says."""
    match = _after(depth).fullmatch(text, position, partial=True)
    return match is not None and (match.partial or match.end() == len(text))


def _after(depth: int) -> regex.Pattern[str]:
    return _AFTER_ITEM if depth else _AFTER_ARGUMENT
