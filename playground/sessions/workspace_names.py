"""Find the file of a session that is named `workspace:NAME`."""

from __future__ import annotations

import os
from pathlib import Path

from playground.base import paths
from playground.base.errors import InputFault
from playground.base.paths import WORKSPACE


def kept_file(given: str) -> Path | None:
    """Return the file of a workspace's session; None for any other name.

    Raises InputFault, which lists all names, if there is no such session.
    """
    if not given.startswith(WORKSPACE) or os.path.lexists(given):
        return None
    path = paths.workspace_file(given.removeprefix(WORKSPACE))
    if not path.is_file():
        names = sorted(map(paths.name_of, (f.name for f in path.parent.glob(f"*{paths.KEPT}"))))
        known = ", ".join(names) or "none"
        raise InputFault(
            "the workspace has no session of this name", where=given, expected=f"one of: {known}"
        )
    return path
