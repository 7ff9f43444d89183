"""The settings of a run that the watching process gets first.

They go through the pipe, not in the arguments of the process: every user of the machine can read
those, and the settings include secrets from an upstream's address.
"""

from __future__ import annotations

import marshal
from dataclasses import astuple, dataclass, field


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """The folder that a run is recorded in, and how.

    `upstream` is the part of the address that may be shown. `secrets` are replaced by stars, as
    those of the environment are. With `emails`, e-mail addresses are, too.
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
    """Return the run that `pack` made these bytes of."""
    return WatchedRun(*marshal.loads(data))
