"""The table of what each format keeps, for the command line and the documents."""

from __future__ import annotations

from typing import Final

from playground.sessions.formats import FORMATS

FORMATS_HEAD: Final = ["format", "what", "tools", "times", "usage", "chunks", "not kept"]


def formats_rows() -> list[list[str]]:
    """Return a row a format, in the order in which they are tried."""
    return [
        [
            each.name,
            each.title,
            each.keeps.tools,
            each.keeps.times,
            each.keeps.usage,
            each.keeps.chunks,
            each.keeps.missing,
        ]
        for each in FORMATS
    ]
