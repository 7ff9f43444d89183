"""What of a file is kept, counted while it is read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Kept:
    """How often something was kept and how often something was lost, by one builder or several
    that share it: what a line of a file left behind shows in it."""

    times: int = 0
    lost: int = 0
