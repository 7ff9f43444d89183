"""Count what is kept of a file while it is read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class ImportCounter:
    """The numbers of kept and lost things of one builder, or of several that share it.

    They show whether a line of a file left anything.
    """

    times: int = 0
    lost: int = 0
