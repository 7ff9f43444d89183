"""JSON in a stream: values end by balance and string-awareness, never by a marker inside them.

Single quotes and comments are seen through too: strict JSON has neither outside of a string.
"""

from __future__ import annotations

import re
from typing import Final

from playground.parsing.scanner import Emit, Scanner, Steps

_OUTSIDE: Final = re.compile(r"""["'{}\[\]]|//|/\*|/""")
_INSIDE: Final = {
    '"': re.compile(r'["\\]'),
    "'": re.compile(r"['\\]"),
    "//": re.compile(r"\n"),
    "/*": re.compile(r"\*/?"),
}
_SCALAR_END: Final = re.compile(r"[\s,}\]<]")


class BrokenCall(Exception):
    """The call cannot be read on; `code` is the finding's. A `whole` one was read to its end."""

    def __init__(self, code: str, message: str = "", whole: bool = False) -> None:
        self.code, self.message, self.whole = code, message, whole
        super().__init__(code)


def value(scanner: Scanner, emit: Emit, keep: list[str]) -> Steps[None]:
    """Claim one JSON value by `emit`, piece by piece; its text is appended to `keep`."""
    first = yield from scanner.peek()
    if first and first in "\"'{[":
        yield from balanced(scanner, emit, keep)
    else:
        yield from _scalar(scanner, emit, keep)


def balanced(scanner: Scanner, emit: Emit, keep: list[str]) -> Steps[None]:
    """Claim a string, an object, an array or a comment: up to where brackets are balanced and
    nothing is open. It is claimed in one piece, unless the text is cut."""
    depth, inside, position = 0, "", scanner.at
    while True:
        match = (_INSIDE[inside] if inside else _OUTSIDE).search(scanner.text, position)
        char = match[0] if match else ""
        if char == "\\" and match and match.end() < len(scanner.text):
            position = match.end() + 1
            continue
        if match is None or (char in ("\\", "/", "*") and match.end() == len(scanner.text)):
            # at the cut these are held: what follows decides what they are
            scanner.claim(emit, keep, match.start() if match else len(scanner.text))
            if scanner.ended:
                raise BrokenCall("truncated-call")
            yield
            position = scanner.at
            continue
        position = match.end()
        if char == inside or (inside == "//" and char == "\n") or char == "*/":
            inside = ""
        elif not inside and char in _INSIDE:
            inside = char
        elif not inside and char in "{[":
            depth += 1
        elif not inside and char in "}]":
            depth -= 1
        if depth == 0 and not inside:
            scanner.claim(emit, keep, position)
            return


def skip_gap(scanner: Scanner) -> Steps[bool]:
    """Claim white space and comments as markup; whether there was a comment."""
    commented = False
    while True:
        yield from scanner.skip_space()
        if (yield from scanner.peek()) != "/":
            return commented
        commented = True
        yield from balanced(scanner, scanner.emit_markup, [])


def _scalar(scanner: Scanner, emit: Emit, keep: list[str]) -> Steps[None]:
    while True:
        match = _SCALAR_END.search(scanner.text, scanner.at)
        if match is not None:
            scanner.claim(emit, keep, match.start())
            return
        yield from _all(scanner, emit, keep)


def _all(scanner: Scanner, emit: Emit, keep: list[str]) -> Steps[None]:
    scanner.claim(emit, keep, len(scanner.text))
    if scanner.ended:
        raise BrokenCall("truncated-call")
    yield
