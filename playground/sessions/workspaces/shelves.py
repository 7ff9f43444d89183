"""Store a workspace's texts by name, in a folder or in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Final, Protocol

from playground.base import paths
from playground.base.errors import InputFault
from playground.base.locks import lock_file
from playground.base.output import faults_naming, remove_leftovers, sync_folder, write_file
from playground.base.user_files import decode, open_regular_file

_LOCK: Final = ".lock"
_LONGEST_LINE: Final = 1 << 20  # bytes of a first line


class Shelf(Protocol):
    """A store of texts by name. Each method but `stat` raises InputFault if the system refuses."""

    def names(self) -> list[str]:
        """Return all names, in order."""

    def read(self, name: str) -> str | None:
        """Return the text of this name; None if there is none."""

    def first_line(self, name: str) -> str | None:
        """Return the first line of a text without reading the rest; None if there is no text."""

    def stat(self, name: str) -> tuple[float, int]:
        """Return the time of a text's last change, in seconds since 1970, and its size in bytes; 0
        for an unknown figure."""

    def swap(self, name: str, before: str | None, after: str | None) -> bool:
        """Replace the text `before` by `after`; None means no text.

        Return False, and change nothing, if the text is not `before`.
        """


class Folder:
    """A folder with a file for each name, which several programs may use at once.

    A file is always complete, because it is written under another name first.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def names(self) -> list[str]:
        if not self.path.is_dir():
            return []
        with faults_naming(self.path, reading=True):
            files = [entry.name for entry in os.scandir(self.path)]
        return sorted(paths.name_of(file) for file in files if file.endswith(paths.KEPT))

    def read(self, name: str) -> str | None:
        return self._read(name, lambda file: file.read())

    def first_line(self, name: str) -> str | None:
        line = self._read(name, lambda file: file.readline(_LONGEST_LINE))
        return None if line is None else line.rstrip("\n")

    def _read(self, name: str, read: Callable[[IO[bytes]], bytes]) -> str | None:
        path = self._file(name)
        try:
            with faults_naming(path, reading=True), open_regular_file(path) as file:
                return decode(read(file), str(path))
        except InputFault as fault:
            if isinstance(fault.__cause__, FileNotFoundError | NotADirectoryError):
                return None
            raise

    def stat(self, name: str) -> tuple[float, int]:
        try:
            found = self._file(name).stat()
        except OSError:
            return 0.0, 0
        return found.st_mtime, found.st_size

    def swap(self, name: str, before: str | None, after: str | None) -> bool:
        path = self._file(name)
        with faults_naming(path):
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        with alone_in(self.path):
            if self.read(name) != before:
                return False
            if after is not None:
                write_file(path, after, force=True)
            elif before is not None:
                with faults_naming(path):
                    path.unlink()
                sync_folder(self.path)
        return True

    def _file(self, name: str) -> Path:
        return self.path / paths.file_of(name)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Lock a folder of the workspace against other threads and processes.

    If another holder keeps the lock for too long, raises InputFault with its name.
    """
    place = folder / _LOCK
    with faults_naming(place), lock_file(place):
        _clean(folder)
        yield


@cache  # once for each folder is enough
def _clean(folder: Path) -> None:
    remove_leftovers(folder)


class TabShelf:
    """Texts in the caller's mapping, such as the memory of a browser's tab."""

    def __init__(self, texts: MutableMapping[str, str]) -> None:
        self._texts = texts

    def names(self) -> list[str]:
        return sorted(self._texts)

    def read(self, name: str) -> str | None:
        return self._texts.get(name)

    def first_line(self, name: str) -> str | None:
        text = self._texts.get(name)
        return None if text is None else text.partition("\n")[0]

    def stat(self, name: str) -> tuple[float, int]:
        return 0.0, len(self._texts.get(name, ""))

    def swap(self, name: str, before: str | None, after: str | None) -> bool:
        if self._texts.get(name) != before:
            return False
        if after is not None:
            self._texts[name] = after
        else:
            self._texts.pop(name, None)
        return True
