"""Count what an importer takes over from a file, and what it loses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class ImportCounter:
    """The numbers of kept and lost things of one builder, or of several that share a counter.

    They show whether a line of a file left anything in a session.
    """

    kept: int = 0
    lost: int = 0
