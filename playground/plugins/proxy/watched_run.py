"""The settings of a run, which the watching process gets before any event.

The settings go through the pipe, because they include secrets of an upstream's address, and every
user of the machine can read a process's arguments.
"""

from __future__ import annotations

import marshal
from dataclasses import astuple, dataclass, field


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """The folder that a run is recorded in, and the settings of recording.

    `upstream` is the part of the address that may be shown. `secrets` are starred out, as are
    the environment's secrets, and e-mail addresses if `emails` is True. `block` is True if requests
    that break the cache are refused.
    """

    folder: str
    upstream: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    emails: bool = False
    block: bool = False

    def pack(self) -> bytes:
        """Return the run as bytes."""
        return marshal.dumps(astuple(self))


def read_run(data: bytes) -> WatchedRun:
    """Return the run from the bytes that `pack` made."""
    return WatchedRun(*marshal.loads(data))
