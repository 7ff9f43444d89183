"""Name a place in an imported file, for findings."""

from __future__ import annotations

import re
from typing import NamedTuple


class Place(NamedTuple):  # built in half the time of a frozen dataclass, several times a message
    """A place in a file: a line's number, a dotted path, or both."""

    line: int | None = None
    field: str = ""

    def at(self, step: str | int, *more: str | int) -> Place:
        """Return a place inside this one."""
        line, field = self
        field = f"{field}.{step}" if field else f"{step}"
        for step in more:
            field = f"{field}.{step}"
        return tuple.__new__(Place, (line, field))  # in half the time of Place(line, field)

    def __str__(self) -> str:
        if self.line is None:
            return self.field or "the file"
        return f"line {self.line}, {self.field}" if self.field else f"line {self.line}"


def numberless(place: str) -> str:
    """Return a place without the numbers of lines and items."""
    return re.sub(r"(?<![\w-])\d+(?![\w-])", "*", place)
