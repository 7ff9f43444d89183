"""JSON in a stream: values end by balance and string-awareness, never by a marker inside them."""

from __future__ import annotations

import re
from typing import Final

from playground.parsing.scanner import Emit, Scanner, Steps

_OUTSIDE: Final = re.compile(r'["{}\[\]]')
_INSIDE: Final = re.compile(r'["\\]')
_SCALAR_END: Final = re.compile(r"[\s,}\]<]")


class BrokenCall(Exception):
    """The call cannot be read on; `code` is the finding's."""

    def __init__(self, code: str, message: str = "") -> None:
        self.code, self.message = code, message
        super().__init__(code)


def value(scanner: Scanner, emit: Emit, keep: list[str]) -> Steps[None]:
    """Claim one JSON value by `emit`, piece by piece; its text is appended to `keep`."""
    first = yield from scanner.peek()
    if first == '"':
        yield from string(scanner, emit, keep)
    elif first and first in "{[":
        yield from _balanced(scanner, emit, keep)
    else:
        yield from _scalar(scanner, emit, keep)


def string(scanner: Scanner, emit: Emit, keep: list[str]) -> Steps[None]:
    """Claim a string with its quotes."""
    _claim(scanner, emit, keep, scanner.at + 1)
    yield from _string_rest(scanner, emit, keep)


def _string_rest(scanner: Scanner, emit: Emit, keep: list[str]) -> Steps[None]:
    while True:
        match = _INSIDE.search(scanner.text, scanner.at)
        if match is None:
            yield from _all(scanner, emit, keep)
        elif match[0] == '"':
            _claim(scanner, emit, keep, match.end())
            return
        elif match.end() < len(scanner.text):
            _claim(scanner, emit, keep, match.end() + 1)
        else:  # a backslash at the cut: what it escapes is still to come
            _claim(scanner, emit, keep, match.start())
            if scanner.ended:
                raise BrokenCall("truncated-call")
            yield


def _balanced(scanner: Scanner, emit: Emit, keep: list[str]) -> Steps[None]:
    depth, position = 0, scanner.at
    while True:
        match = _OUTSIDE.search(scanner.text, position)
        if match is None:
            yield from _all(scanner, emit, keep)
            position = scanner.at
            continue
        position = match.end()
        if match[0] == '"':
            _claim(scanner, emit, keep, position)
            yield from _string_rest(scanner, emit, keep)
            position = scanner.at
        elif match[0] in "{[":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                _claim(scanner, emit, keep, position)
                return


def _scalar(scanner: Scanner, emit: Emit, keep: list[str]) -> Steps[None]:
    while True:
        match = _SCALAR_END.search(scanner.text, scanner.at)
        if match is not None:
            _claim(scanner, emit, keep, match.start())
            return
        yield from _all(scanner, emit, keep)


def _claim(scanner: Scanner, emit: Emit, keep: list[str], stop: int) -> None:
    if stop > scanner.at:
        keep.append(scanner.text[scanner.at : stop])
        emit(stop - scanner.at)


def _all(scanner: Scanner, emit: Emit, keep: list[str]) -> Steps[None]:
    _claim(scanner, emit, keep, len(scanner.text))
    if scanner.ended:
        raise BrokenCall("truncated-call")
    yield
