"""Places in a file: a line and a path for findings, and the line of a field in a JSON text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

_SPACE = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r"[^\s,}\]]+")
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def line_of(text: str, path: Sequence[str | int]) -> int:
    """Return the line, counted from 1, of the value at `path`, or of the last existing value on
    this path."""
    place = _skip_space(text, 0)
    for step in path:
        next_place = _step(text, place, step)
        if next_place is None:
            break
        place = next_place
    return text.count("\n", 0, place) + 1


def _step(text: str, place: int, step: str | int) -> int | None:
    opener = text[place : place + 1]
    if opener == "{" and isinstance(step, str):
        return _member(text, place + 1, step)
    return _item(text, place + 1, step) if opener == "[" and isinstance(step, int) else None


def _member(text: str, place: int, name: str) -> int | None:
    while True:
        place = _skip_space(text, place)
        match = _STRING.match(text, place)
        if match is None:
            return None
        key = json.loads(match[0], strict=False)
        value = _skip_space(text, _skip_space(text, match.end()) + 1)
        if key == name:
            return value
        place = _skip_comma(text, _end(text, value))


def _item(text: str, place: int, index: int) -> int | None:
    for _ in range(index):
        place = _skip_space(text, place)
        if text[place : place + 1] in ("]", ""):
            return None
        place = _skip_comma(text, _end(text, place))
    return _skip_space(text, place)


def _end(text: str, place: int) -> int:
    """Return the index after the value at `place`."""
    if text[place] == '"':
        match = _STRING.match(text, place)
        return match.end() if match else len(text)
    if text[place] not in "{[":
        match = _SCALAR.match(text, place)
        return match.end() if match else len(text)
    depth = 0
    # search from `place` on; copies of the rest took 11 s for a list of 16 MB
    for match in _STRUCTURE.finditer(text, place):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return len(text)


def _skip_comma(text: str, place: int) -> int:
    place = _skip_space(text, place)
    return place + 1 if text[place : place + 1] == "," else place


def _skip_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


class Place(NamedTuple):  # twice as fast as a dataclass
    """A place in a file: a line's number, a dotted path, or both."""

    line: int | None = None
    field: str = ""

    def at(self, step: str | int, *more: str | int) -> Place:
        """Return a place inside this one."""
        line, field = self
        field = f"{field}.{step}" if field else f"{step}"
        for step in more:
            field = f"{field}.{step}"
        return tuple.__new__(Place, (line, field))  # twice as fast as Place()

    def __str__(self) -> str:
        if self.line is None:
            return self.field or "the file"
        return f"line {self.line}, {self.field}" if self.field else f"line {self.line}"


def numberless(place: str) -> str:
    """Return a place without the numbers of lines and items."""
    return re.sub(r"(?<![\w-])\d+(?![\w-])", "*", place)
