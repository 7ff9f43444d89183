"""The stores of a corpus, through which all of its files are read and written.

A store uses names within the corpus, such as `manifest/SHARD.v1.json`. Each file of a store is
complete, or does not exist.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from playground.base.errors import InputFault
from playground.base.output import faults_naming, remove_leftovers, write_file
from playground.base.user_files import check_regular_file, open_regular_file
from playground.plugins.corpus.places import folder_of, is_remote
from playground.plugins.corpus.store_protocol import CATALOG, LOCK, Store, lock_file, other_files
from playground.plugins.corpus.temporary_files import whole_file


class LocalStore:
    """A store in a folder of this machine.

    A file is written under another name and then renamed. A build locks the folder; the lock ends
    with the process.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.address = self.name = self.root = str(path)
        self.scratch = path / ".tmp"

    def read(self, name: str) -> bytes:
        with open_regular_file(self._path / name) as file:
            return file.read()

    def open_file(self, name: str) -> Any:
        path = self._path / name
        check_regular_file(path)
        return pa.OSFile(str(path), "rb")

    def size(self, name: str) -> int:
        return (self._path / name).stat().st_size

    def sizes(self) -> Callable[[str], int]:
        return self.size

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(entry.name for entry in os.scandir(self._path / folder))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def write(self, name: str, text: str) -> None:
        write_file(self._path / name, text, force=True)

    def write_whole(self, name: str) -> AbstractContextManager[Path]:
        return whole_file(self._path / name)

    def remove(self, name: str) -> None:
        with suppress(OSError):  # may fail while a reader of an older catalog has the file open
            (self._path / name).unlink()

    @contextmanager
    def locked(self) -> Iterator[None]:
        with faults_naming(self._path):
            if self._path.exists() and not self._path.is_dir():
                raise InputFault("this is not a folder", where=self.name, expected="a folder")
            self._path.mkdir(parents=True, exist_ok=True)
            # listed only once, because another build may start meanwhile
            names = {entry.name for entry in self._path.iterdir()}
            if names and names.isdisjoint((LOCK, CATALOG)):
                raise other_files(self.name)
        with lock_file(self._path / LOCK, self.name):
            remove_leftovers(self._path)
            yield

    def confirm(self) -> None:
        pass  # the lock lasts as long as this process

    def attach(self, connection: Any) -> None:
        pass  # DuckDB reads files by itself


def store_at(place: str | os.PathLike[str]) -> Store:
    """Return the store in a folder or at an address. Raises InputFault for an invalid path."""
    if is_remote(str(place)):
        from playground.plugins.corpus.remote_stores import RemoteStore  # loads fsspec

        folder = folder_of(str(place))
        return RemoteStore(str(place)) if folder is None else LocalStore(folder)
    try:
        return LocalStore(Path(place).resolve())
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        raise InputFault(f"{str(place)!r:.80} is no path ({error})", expected="a folder") from error
