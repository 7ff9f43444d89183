"""Python literals in a stream: arguments end at their own bracket, strings are seen through."""

from __future__ import annotations

import re
from typing import Final

from playground.parsing.json_walk import BrokenCall
from playground.parsing.scanner import Emit, Scanner, Steps

_OUTSIDE: Final = re.compile(r"""["'()\[\]{}]""")
_INSIDE: Final = {'"': re.compile(r'["\\]'), "'": re.compile(r"['\\]")}


def arguments(scanner: Scanner, emit: Emit, keep: list[str]) -> Steps[None]:
    """Claim everything up to the bracket that closes the call, which stays unclaimed."""
    depth, quote, position = 0, "", scanner.at
    while True:
        match = (_INSIDE[quote] if quote else _OUTSIDE).search(scanner.text, position)
        char = match[0] if match else ""
        if match is None or (char == "\\" and match.end() == len(scanner.text)):
            scanner.claim(emit, keep, match.start() if match else len(scanner.text))
            if scanner.ended:
                raise BrokenCall("truncated-call")
            yield
            position = scanner.at
            continue
        position = match.end() + (char == "\\")
        if char == quote:
            quote = ""
        elif not quote and char in "\"'":
            quote = char
        elif not quote and char in "([{":
            depth += 1
        elif not quote and depth == 0:
            scanner.claim(emit, keep, match.start())
            return
        elif not quote:
            depth -= 1
