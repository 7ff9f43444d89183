"""A recording file that grows as lines arrive. Its lines are kept even if the program is killed.

Only such files, recordings and the proxy's ledger, are not written by a rename (see
`playground/base/output.py`). A file is always created, never opened again, so two programs cannot
write the same one. `keep` writes the lines to the disk, and has to be called once a second or more.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Collection
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final, Protocol

from playground.base.characters import escaped_halves
from playground.base.errors import InputFault
from playground.base.locks import holder_of, lock_soon, try_lock
from playground.base.output import Batch, create_beside, faults_naming, sync_folder

SECONDS: Final = 0.25  # between two syncs to the disk
_LONGEST_END: Final = 64 * 1024  # most bytes of a last line, which has the usage and an error
_WAITING: Final = 64 * 1024  # most bytes of lines in memory


class Lines(Protocol):
    """A destination for the lines of a recording."""

    def add(self, line: str) -> None: ...
    def keep(self, *, now: bool = False) -> None: ...
    def answered(self) -> None: ...


class LinesInMemory:
    """The lines of a recording that is written to no file."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, line: str) -> None:
        self.lines.append(line)

    def keep(self, *, now: bool = False) -> None:
        """Do nothing, because the lines go to no file."""

    def answered(self) -> None:
        """Do nothing: there is no older file to replace."""


class AppendOnlyFile:
    """A recording's file, created at once and written to the disk every `seconds`.

    With `force` an old file keeps its name until an answer has come (`answered`); until then the
    new file has another name. If the new file is closed without an answer, as after a refusal, it
    gets a numbered name, which is then its `path`. Raises InputFault if the file exists and `force`
    is not given, or if it cannot be created.
    """

    def __init__(self, path: str | Path, *, force: bool = False, seconds: float = SECONDS) -> None:
        self.path = Path(os.path.realpath(path))  # a link stays a link: its target is written
        self._waiting: list[bytes] = []
        self._size = 0
        self._is_unsynced = False  # True if the system has lines that are not on the disk yet
        self._synced_at, self._seconds = time.monotonic(), seconds
        self._answered = False
        Batch(force=force).check(path)
        if self.path.exists() and not self.path.is_file():
            raise InputFault(
                "this is not a file", where=str(path), expected="a file to record into"
            )
        with faults_naming(path):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._old_handle = _lock_old_file(self.path) if force else None
            self._current, self._handle = self._create()
            sync_folder(self.path.parent)

    def _create(self) -> tuple[Path, int]:
        """Create and lock the file, with a new name if an old file exists; return path and handle.
        The name does not end in `.part`, because files named so may be removed as leftovers, and a
        recording must stay."""
        if self._old_handle is not None:
            return create_beside(self.path, ".jsonl", flags=os.O_APPEND)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND
        handle = os.open(self.path, flags, 0o666)
        try:
            _lock(handle)
        except OSError:
            self.path.unlink()
            os.close(handle)
            raise
        return self.path, handle

    def add(self, line: str) -> None:
        data = escaped_halves(line).encode()
        self._waiting.append(data)
        self._size += len(data)
        if self._size > _WAITING:
            with faults_naming(self.path):
                self._write()

    def keep(self, *, now: bool = False) -> None:
        """Write the lines to the disk if `seconds` have passed since the last time, or with `now`.
        Raises InputFault if that fails."""
        if not now and time.monotonic() - self._synced_at < self._seconds:
            return
        if self._waiting or self._is_unsynced:
            with faults_naming(self.path):
                self._write()
                self._is_unsynced = False
                os.fsync(self._handle)
        self._synced_at = time.monotonic()

    def _write(self) -> None:
        """Write the waiting lines to the file; `keep` then syncs it to the disk."""
        data = b"".join(self._waiting)
        self._waiting, self._size, self._is_unsynced = [], 0, True
        before = os.fstat(self._handle).st_size
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._handle, rest) :]
        except OSError:
            # complete lines stay; half a line is removed, since other lines may follow
            written = os.fstat(self._handle).st_size - before
            lines_end = data.rfind(b"\n", 0, written) + 1
            os.ftruncate(self._handle, before + lines_end)
            raise

    def answered(self) -> None:
        """Replace an older file, because an answer has come."""
        self._answered = True
        with faults_naming(self.path):
            self._move_to(self.path)

    def close(self) -> None:
        """Write all lines to the disk and close the file."""
        try:
            self.keep(now=True)
            with faults_naming(self.path):
                self._move_to(_free_name(self.path) if self._old_handle is not None else self.path)
        finally:
            os.close(self._handle)

    def fail(self) -> None:
        """Close the file after an error; if no answer has come, remove it."""
        with suppress(InputFault):
            self.keep(now=True)
        if not self._answered:
            if self._is_ours():
                self._current.unlink()
            self._release()
        os.close(self._handle)

    def _is_ours(self) -> bool:
        """Return True if the path still leads to our open file, so nobody has replaced it."""
        try:
            return os.path.samestat(os.fstat(self._handle), self._current.stat())
        except OSError:
            return False

    def _move_to(self, place: Path) -> None:
        """Move the file to this place, if it is not there already, and unlock the old file."""
        if self._current != place:
            self._current.replace(place)
            self.path = self._current = place
            sync_folder(place.parent)
        self._release()

    def _release(self) -> None:
        if self._old_handle is not None:
            os.close(self._old_handle)
            self._old_handle = None


def _lock_old_file(path: Path) -> int | None:
    """Lock the file that is to be replaced, so that nobody else records into it. Return its handle,
    or None if there is no such file. Raises OSError if another program is writing it."""
    while True:
        try:
            handle = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            _lock(handle)
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except FileNotFoundError:
            pass  # the program that locked the file has moved it: try again
        except OSError:
            os.close(handle)
            raise
        os.close(handle)


def _free_name(path: Path) -> Path:
    """Reserve a free numbered name by creating an empty file."""
    for number in count(2):
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
        with suppress(FileExistsError):
            os.close(os.open(candidate, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            return candidate
    raise AssertionError  # never reached, since `count` has no end


def create_numbered(path: Path, *, seconds: float = SECONDS) -> AppendOnlyFile:
    """Create a file of this name, or with a number added if the name is taken."""
    for number in count(1):
        candidate = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        try:
            return AppendOnlyFile(candidate, seconds=seconds)
        except InputFault:
            if not candidate.exists():  # the name is not taken: something else is wrong
                raise
    raise AssertionError  # never reached, since `count` has no end


def _lock(handle: int) -> None:
    """Lock a recording for this program. Raises OSError if another program is writing it."""
    if not lock_soon(handle):
        message = f"{holder_of(handle)} is writing this recording"
        raise BlockingIOError(errno.EAGAIN, message)


def interrupted(folder: Path, also: Collection[str] = ()) -> list[Path]:
    """Return the recordings in a folder that were cut off and that nobody writes, newest first.

    They have no end line, or one that names a cut, for example because a tab was closed. Files
    whose names are in `also` are returned even if they were not cut off.
    """
    paths_by_age = []
    for path in folder.glob("*.jsonl"):
        with suppress(OSError):  # the file is gone by now, or belongs to another user
            if (path.name in also or not has_end(path)) and not _is_written(path):
                paths_by_age.append((-path.stat().st_mtime, path))
    return [path for _, path in sorted(paths_by_age)]


def has_end(path: Path) -> bool:
    """Return True if a recording has an end line, and this names no cut."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LONGEST_END))
        last = file.read().rstrip().rpartition(b"\n")[2]
        return last.startswith(b'{"end"') and b'"error": {"type": "cut"' not in last


def _is_written(path: Path) -> bool:
    """Return True if a recorder holds the file's lock."""
    handle = os.open(path, os.O_RDONLY)
    try:
        return not try_lock(handle)
    finally:
        os.close(handle)
