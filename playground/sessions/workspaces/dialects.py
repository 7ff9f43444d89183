"""Find a user's own dialects: files of the workspace that a plugin writes."""

from __future__ import annotations

from pathlib import Path

from playground.base import paths
from playground.base.errors import InputFault
from playground.base.output import faults_naming
from playground.base.user_files import decode, open_regular_file


def dialect_file(name: str) -> Path:
    """Return the path for a dialect of this name. Raises InputFault if this server stores no
    dialects."""
    folder = paths.dialects()
    if folder is None:
        raise InputFault("this server stores no dialects", expected="a download of the dialect")
    return folder / f"{name}.json"


def is_kept(name: str) -> bool:
    """Return True if the workspace has a dialect of this name."""
    folder = paths.dialects()
    return folder is not None and (folder / f"{name}.json").is_file()


def kept_text(name: str) -> str | None:
    """Return the text of a stored dialect's file, or None. Raises InputFault."""
    return None if not is_kept(name) else text_of(dialect_file(name))


def text_of(path: Path) -> str:
    """Return the text of a dialect's file. Raises InputFault if it cannot be read."""
    with faults_naming(path, reading=True), open_regular_file(path) as file:
        return decode(file.read(), str(path))
