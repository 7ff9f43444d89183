"""A recording that grows on disk as it arrives: what has come stays, whatever ends the program.

This is the one file that is not made by a rename (see `playground/base/output.py`). It is
created, never opened: two programs cannot write the same one. Its lines are brought to the disk at
least once a second by whoever calls `keep`.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final, Protocol

from playground.base.characters import escaped_halves
from playground.base.errors import InputFault
from playground.base.locks import holder_of, lock_soon, try_lock
from playground.base.output import Batch, create_beside, faults_naming, sync_folder

SECONDS: Final = 0.25  # between two times that lines are brought to the disk
_LONGEST_END: Final = 64 * 1024  # bytes of a last line, which has the usage and an error
_WAITING: Final = 64 * 1024  # bytes of lines in memory, however slow the disk is


class Lines(Protocol):
    """A destination for the lines of a recording."""

    def add(self, line: str) -> None: ...
    def keep(self, *, now: bool = False) -> None: ...
    def answered(self) -> None: ...


class LinesInMemory:
    """The lines of a recording that nobody wants as a file."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, line: str) -> None:
        self.lines.append(line)

    def keep(self, *, now: bool = False) -> None:
        """Nothing: memory is all there is."""

    def answered(self) -> None:
        """Nothing was there before."""


class AppendOnlyFile:
    """A recording's file, there from the beginning; brought to the disk every so many `seconds`.

    Raises InputFault if the file exists and `force` is not given, or if it cannot be made. With
    `force` the old file keeps its place until an answer has come (`answered`), and the new one
    lies beside it. A file that is closed without an answer, as after a refusal, gets a number of
    its own, and `path` names that.
    """

    def __init__(self, path: str | Path, *, force: bool = False, seconds: float = SECONDS) -> None:
        self.path = Path(os.path.realpath(path))  # a link stays a link: its target is written
        self._waiting: list[bytes] = []
        self._size = 0
        self._written = False  # since the lines were last brought to the disk
        self._kept, self._seconds = time.monotonic(), seconds
        self._answered = False
        Batch(force=force).check(path)
        if self.path.exists() and not self.path.is_file():
            raise InputFault(
                "this is not a file", where=str(path), expected="a file to record into"
            )
        with faults_naming(path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._old = _held(self.path) if force else None
            self._lies, self._handle = self._created()
            sync_folder(self.path.parent)

    def _created(self) -> tuple[Path, int]:
        """The file, new and locked: at its place, or beside an old one. Not as a `.part`, which
        may be removed as a leftover: it holds a recording, whatever becomes of this program."""
        if self._old is not None:
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
        """Add a line."""
        data = escaped_halves(line).encode()
        self._waiting.append(data)
        self._size += len(data)
        if self._size > _WAITING:
            with faults_naming(self.path):
                self._write()

    def keep(self, *, now: bool = False) -> None:
        """Bring the lines to the disk if it is time. Raises InputFault where that fails."""
        if not now and time.monotonic() - self._kept < self._seconds:
            return
        if self._waiting or self._written:
            with faults_naming(self.path):
                self._write()
                self._written = False
                os.fsync(self._handle)
        self._kept = time.monotonic()

    def _write(self) -> None:
        """Hand what waits to the system, which brings it to the disk by and by, or at `keep`."""
        whole = b"".join(self._waiting)
        self._waiting, self._size, self._written = [], 0, True
        before = os.fstat(self._handle).st_size
        try:
            data = memoryview(whole)
            while data:
                data = data[os.write(self._handle, data) :]
        except OSError:
            # what there was room for stays, but no half line that others could follow
            written = os.fstat(self._handle).st_size - before
            lines_end = whole.rfind(b"\n", 0, written) + 1
            os.ftruncate(self._handle, before + lines_end)
            raise

    def answered(self) -> None:
        """Take the place of an older file, since an answer is here."""
        self._answered = True
        with faults_naming(self.path):
            self._take(self.path)

    def close(self) -> None:
        """Close the file; all lines are on the disk then."""
        try:
            self.keep(now=True)
            with faults_naming(self.path):
                self._take(_free_name(self.path) if self._old is not None else self.path)
        finally:
            os.close(self._handle)

    def fail(self) -> None:
        """Close the file after an error; if nothing has come, remove it."""
        with suppress(InputFault):
            self.keep(now=True)
        if not self._answered:
            if self._is_ours():
                self._lies.unlink()
            self._release()
        os.close(self._handle)

    def _is_ours(self) -> bool:
        """Return True if what lies there is this recording, and nobody's who has replaced it."""
        try:
            return os.path.samestat(os.fstat(self._handle), self._lies.stat())
        except OSError:
            return False

    def _take(self, place: Path) -> None:
        """Stand at this place, if not there already."""
        if self._lies != place:
            self._lies.replace(place)
            self.path = self._lies = place
            sync_folder(place.parent)
        self._release()

    def _release(self) -> None:
        if self._old is not None:
            os.close(self._old)
            self._old = None


def _held(path: Path) -> int | None:
    """Lock the file that is to be replaced, so that nobody else records into it.

    Return None if there is none. Raises OSError if it still grows.
    """
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
            pass  # as where another one stands there by now: whoever held it has replaced it
        except OSError:
            os.close(handle)
            raise
        os.close(handle)


def _free_name(path: Path) -> Path:
    """Reserve a numbered name that is free, by an empty file."""
    for number in count(2):
        each = path.with_name(f"{path.stem}-{number}{path.suffix}")
        with suppress(FileExistsError):
            os.close(os.open(each, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            return each
    raise AssertionError  # there is always one more number


def numbered(path: Path, *, seconds: float = SECONDS) -> AppendOnlyFile:
    """Create a file of this name, or of one with a number if that is taken."""
    for number in count(1):
        each = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        try:
            return AppendOnlyFile(each, seconds=seconds)
        except InputFault:
            if not each.exists():  # it is something else
                raise
    raise AssertionError  # there is always one more number


def _lock(handle: int) -> None:
    """Only one program writes a recording. Raises OSError where another one does."""
    if not lock_soon(handle):
        told = f"{holder_of(handle)} is writing this recording"
        raise BlockingIOError(errno.EAGAIN, told)


def interrupted(folder: Path) -> list[Path]:
    """Return the recordings in a folder that have no end and that nobody writes, newest first."""
    found = []
    for path in folder.glob("*.jsonl"):
        with suppress(OSError):  # it is gone by now, or of another user
            if not _has_end(path) and not _is_written(path):
                found.append((-path.stat().st_mtime, path))
    return [path for _, path in sorted(found)]


def _has_end(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LONGEST_END))
        return file.read().rstrip().rpartition(b"\n")[2].startswith(b'{"end"')


def _is_written(path: Path) -> bool:
    """Return True if a recorder holds the file's lock."""
    handle = os.open(path, os.O_RDONLY)
    try:
        return not try_lock(handle)
    finally:
        os.close(handle)
