"""Names that stand in the place of a file's: a session that a workspace keeps, one of a file's."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from playground.base import paths
from playground.base.errors import InputFault

WORKSPACE: Final = "workspace:"  # before the name of a session that is kept there
_ONE_OF: Final = re.compile(r"(.+)#([1-9]\d{0,8})", re.DOTALL)


def one_of(given: str) -> tuple[str, int]:
    """`FILE#2` as the name of the file and the number of a session in it, from 1; a name that
    chooses none, as that of a file whose own name ends so, with 0."""
    chosen = None if os.path.lexists(given) else _ONE_OF.fullmatch(given)
    return (chosen[1], int(chosen[2])) if chosen else (given, 0)


def kept_file(given: str) -> Path | None:
    """Return the file of a session in the workspace; None where something else is meant."""
    if not given.startswith(WORKSPACE) or os.path.lexists(given):
        return None
    path = paths.workspace_file(given.removeprefix(WORKSPACE))
    if not path.is_file():
        found = sorted(map(paths.name_of, (f.name for f in path.parent.glob(f"*{paths.KEPT}"))))
        known = ", ".join(found) or "none"
        raise InputFault(
            "the workspace has no session of this name", where=given, expected=f"one of: {known}"
        )
    return path
