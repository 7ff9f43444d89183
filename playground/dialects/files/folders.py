"""Read dialect files in folders: $PLAYGROUND_DIALECTS and the workspace's own.

A bad file is left out with one line that names it, and everything else works. Folders are looked
at whenever names are asked for, so that a file that was saved a moment ago is there.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from playground.base import paths
from playground.base.errors import InputFault
from playground.dialects.base import Dialect
from playground.dialects.by_hand.plugins import Plugins
from playground.dialects.files import MOST_BYTES, SUFFIXES, load_dialect

VARIABLE: Final = "PLAYGROUND_DIALECTS"


class FileState(NamedTuple):
    """A file as it was seen: another time or size means another content.

    A `fault` says why it is no file that can be read.
    """

    path: str
    changed: int = 0
    size: int = 0
    fault: str = ""


def states() -> tuple[FileState, ...]:
    """Return the state of every dialect file that exists now, by folder and name."""
    found: list[FileState] = []
    for folder, named in _folders():
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            if named or not isinstance(error, FileNotFoundError):
                why = f"${VARIABLE} names {str(folder)!r}: {error.strerror}; expected a folder"
                found.append(FileState(str(folder), fault=why))
            continue
        found += [_state(entry) for entry in entries if entry.name.endswith(SUFFIXES)]
    return tuple(found)


def _folders() -> list[tuple[Path, bool]]:
    """Return the folders, and whether the user has named them."""
    own, given = paths.dialects(), os.environ.get(VARIABLE, "")
    folders = [(own, False)] if own else []
    if given and not (own and Path(given).absolute() == own.absolute()):
        folders.append((Path(given), True))
    return folders


def _state(entry: os.DirEntry[str]) -> FileState:
    try:
        if not entry.is_file():  # a pipe would be waited for
            return FileState(entry.path, fault=f"{entry.path}: no file; expected a dialect's file")
        seen = entry.stat()
    except OSError as error:
        return FileState(entry.path, fault=f"{entry.path}: {error.strerror}")
    return FileState(entry.path, seen.st_mtime_ns, seen.st_size)


@lru_cache(maxsize=8)
def load_files(files: tuple[FileState, ...], taken: tuple[str, ...]) -> Plugins:
    """Load the dialects of these files by name; by file stem, return why others were left out.

    A name that is `taken`, or comes twice, keeps its first owner.
    """
    dialects: dict[str, Dialect] = {}
    faults: dict[str, str] = {}
    for state in files:
        stem = Path(state.path).stem
        try:
            dialect = _loaded(state)
            if dialect.name in taken or dialect.name in dialects:
                problem = f"another dialect is called {dialect.name!r} already"
                expected = "a name of its own"
                raise InputFault(problem, where=state.path, field="name", expected=expected)
        except InputFault as fault:
            faults[_free(stem, faults)] = str(fault)
        else:
            dialects[dialect.name] = dialect
    return Plugins(dialects, faults, {})


def _free(stem: str, faults: dict[str, str]) -> str:
    """Return a free key for a file, so that two files of one stem are both reported."""
    return stem if stem not in faults else f"{stem} ({len(faults)})"


def _loaded(state: FileState) -> Dialect:
    if state.fault:
        raise InputFault(state.fault)
    if state.size > MOST_BYTES:
        expected = f"{MOST_BYTES:,} bytes at most"
        raise InputFault("the file is too long", where=state.path, expected=expected)
    return load_dialect(state.path)
