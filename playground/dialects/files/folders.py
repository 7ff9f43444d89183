"""Read dialect files in folders: $PLAYGROUND_DIALECTS and the workspace's own.

A bad file is left out with one line that names it, and everything else works. Folders are read
whenever names are asked for, so that a file that was just saved is found.
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
    """The state of a file: if time or size differ, its content has changed.

    A `fault` says why the file cannot be read.
    """

    path: str
    changed: int = 0
    size: int = 0
    fault: str = ""


def states() -> tuple[FileState, ...]:
    """Return the state of every dialect file that exists now, and of unreadable folders."""
    file_states: list[FileState] = []
    for folder, is_named in _folders():
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            if is_named or not isinstance(error, FileNotFoundError):
                reason = f"{str(folder)!r}: {error.strerror}"
                fault = f"${VARIABLE} is {reason}; expected a folder of dialect files"
                file_states.append(FileState(str(folder), fault=fault))
            continue
        file_states += [_state(entry) for entry in entries if entry.name.endswith(SUFFIXES)]
    return tuple(file_states)


def _folders() -> list[tuple[Path, bool]]:
    """Return the folders; each with True if the user has named it."""
    folder, variable = paths.dialects(), os.environ.get(VARIABLE, "")
    folders = [(folder, False)] if folder else []
    if variable and not (folder and Path(variable).absolute() == folder.absolute()):
        folders.append((Path(variable), True))
    return folders


def _state(entry: os.DirEntry[str]) -> FileState:
    try:
        if not entry.is_file():  # reading a pipe might wait for ever
            fault = f"{entry.path}: not a regular file; expected a dialect's file"
            return FileState(entry.path, fault=fault)
        status = entry.stat()
    except OSError as error:
        return FileState(entry.path, fault=f"{entry.path}: {error.strerror}")
    return FileState(entry.path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def load_files(files: tuple[FileState, ...], taken_names: tuple[str, ...]) -> Plugins:
    """Load the dialects of these files by name; `faults` are by the stem of the file's name.

    A file is left out if its dialect's name is in `taken_names`, or an earlier file has it.
    """
    dialects: dict[str, Dialect] = {}
    faults: dict[str, str] = {}
    for state in files:
        stem = Path(state.path).stem
        try:
            dialect = _load(state)
            if dialect.name in taken_names or dialect.name in dialects:
                problem = f"another dialect is called {dialect.name!r} already"
                expected = "a name of its own"
                raise InputFault(problem, where=state.path, field="name", expected=expected)
        except InputFault as fault:
            faults[_free_key(stem, faults)] = str(fault)
        else:
            dialects[dialect.name] = dialect
    return Plugins(dialects, faults, {})


def _free_key(stem: str, faults: dict[str, str]) -> str:
    """Return a key that `faults` lacks, so that two files with the same stem are both reported."""
    return stem if stem not in faults else f"{stem} ({len(faults)})"


def _load(state: FileState) -> Dialect:
    if state.fault:
        raise InputFault(state.fault)
    if state.size > MOST_BYTES:
        expected = f"{MOST_BYTES:,} bytes at most"
        raise InputFault("the file is too long", where=state.path, expected=expected)
    return load_dialect(state.path)
