"""What the watching process is told of its run, before anything passes.

It goes down the pipe: arguments of a process are read by every user of the machine, and what an
upstream's address holds is among them.
"""

from __future__ import annotations

import marshal
from dataclasses import astuple, dataclass, field


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """Where a run is recorded, and how. `upstream` is the address that may be shown; `secrets` are
    starred out beside the environment's."""

    folder: str
    upstream: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    emails: bool = False
    block: bool = False

    def packed(self) -> bytes:
        """Return the run as bytes."""
        return marshal.dumps(astuple(self))


def unpacked(data: bytes) -> WatchedRun:
    """Return the run that was packed."""
    return WatchedRun(*marshal.loads(data))
