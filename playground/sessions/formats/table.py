"""Build the table of the parts that each format keeps, for the command line and the documents."""

from __future__ import annotations

from typing import Final

from playground.sessions.formats import FORMATS

FORMATS_HEAD: Final = ["format", "what", "tools", "times", "usage", "chunks", "not kept"]


def formats_rows() -> list[list[str]]:
    """Return a row for each format, in the order in which they are tried."""
    return [[each.name, each.title, *each.keeps] for each in FORMATS]
