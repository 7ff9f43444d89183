"""Python literals in a stream: arguments end at their own bracket, strings are seen through.

A quote closes its string only before what may follow a string: models forget to escape.
"""

from __future__ import annotations

import re
from typing import Final

import regex

from playground.parsing.json_walk import BrokenCall
from playground.parsing.scanner import Emit, Scanner, Steps

_SPACE: Final = r"\s{0,64}+"
_OUTSIDE: Final = re.compile(r"""["'()\[\]{}]""")
_INSIDE: Final = {'"': re.compile(r'["\\]'), "'": re.compile(r"['\\]")}
# behind an argument's string: the next argument, or the end of the call and what follows that
_AFTER_ARGUMENT: Final = regex.compile(
    rf"{_SPACE}(?:,{_SPACE}(?:[A-Za-z_]\w{{0,63}}+{_SPACE}=|\))"
    rf"|\)(?:[ \t]{{0,16}}+\n|{_SPACE}(?:[\],;<]|\w{{1,64}}+\(|\Z)))"
)
_AFTER_ITEM: Final = regex.compile(rf"{_SPACE}(?:[,:)\]}}]|\Z)")


def arguments(scanner: Scanner, emit: Emit, keep: list[str]) -> Steps[None]:
    """Claim everything up to the bracket that closes the call, which stays unclaimed."""
    depth, quote, position = 0, "", scanner.at
    while True:
        match = (_INSIDE[quote] if quote else _OUTSIDE).search(scanner.text, position)
        char = match[0] if match else ""
        if char == "\\" and match and match.end() < len(scanner.text):
            position = match.end() + 1
            continue
        if match is None or char == "\\" or (char == quote and _undecided(scanner, match, depth)):
            scanner.claim(emit, keep, match.start() if match else len(scanner.text))
            if scanner.ended:
                raise BrokenCall("truncated-call")
            yield
            position = scanner.at
            continue
        position = match.end()
        if quote:
            quote = "" if char == quote and closes(scanner.text, position, depth) else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif depth == 0:
            scanner.claim(emit, keep, match.start())
            return
        else:
            depth -= 1


def closes(text: str, position: int, depth: int) -> bool:
    """Whether what stands at `position` may follow a string."""
    return bool((_AFTER_ITEM if depth else _AFTER_ARGUMENT).match(text, position))


def _undecided(scanner: Scanner, quote: re.Match[str], depth: int) -> bool:
    """Whether more text could change what a quote is."""
    if scanner.ended:
        return False
    after = _AFTER_ITEM if depth else _AFTER_ARGUMENT
    match = after.fullmatch(scanner.text, quote.end(), partial=True)
    return match is not None and (match.partial or match.end() == len(scanner.text))
