"""The state of a parser: a read-only value for a debug panel."""

from __future__ import annotations

from typing import NamedTuple


class ParserState(NamedTuple):
    """The state of a parser. `held` is text that could still become a marker, `argument` the
    name of the argument being read."""

    mode: str = "text"
    call_index: int | None = None
    call_name: str | None = None
    argument: str | None = None
    held: str = ""
