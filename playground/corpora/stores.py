"""Where a corpus lies: everything that reads or writes in its folder comes through a store.

A store knows names below the corpus, such as `manifest/SHARD.v1.json`, and keeps one promise: what
is written under a name is whole or not there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa

from playground.corpora.places import folder_of, is_remote
from playground.errors import InputFault
from playground.locks import holder_of, try_lock, write_holder
from playground.output import remove_leftovers, told, whole_file, write_file
from playground.user_files import check_regular_file, open_regular_file

CATALOG: Final = "corpus.json"
LOCK: Final = "lock"


class Store(Protocol):
    """The files of a corpus by their names. What the system refuses is an InputFault, but for
    reading: that raises OSError, FileNotFoundError where there is no such file."""

    @property
    def address(self) -> str:
        """What opens the same store in another process."""
        ...

    @property
    def name(self) -> str:
        """What it is called in words."""
        ...

    @property
    def root(self) -> str:
        """What stands before a name in DuckDB, with a `/` between, where `attach` was called."""
        ...

    @property
    def scratch(self) -> Path:
        """A folder of this machine for what is being made; nothing in it counts."""
        ...

    def read(self, name: str) -> bytes: ...
    def opened(self, name: str) -> Any:
        """The file as pyarrow reads it, from any place in it."""
        ...

    def size(self, name: str) -> int: ...
    def sizes(self) -> Callable[[str], int]:
        """`size`, as of now, for many names."""
        ...

    def names(self, folder: str) -> list[str]:
        """The files in a folder, in order; without those in folders below it."""
        ...

    def write(self, name: str, text: str) -> None: ...
    def whole(self, name: str) -> AbstractContextManager[Path]:
        """A file of this machine to write, which takes the name on leaving without an error."""
        ...

    def remove(self, name: str) -> None:
        """Take a file away, where it is there."""
        ...

    def locked(self) -> AbstractContextManager[None]:
        """The corpus is this process's to write. Raises InputFault where another one builds there,
        and where something else lies there."""
        ...

    def confirm(self) -> None:
        """Raises InputFault where the lock that was taken is no longer held."""
        ...

    def attach(self, made: Any) -> None:
        """Let a connection of DuckDB read the files."""
        ...


class LocalStore:
    """A folder of this machine: a file is written beside its place and renamed; whoever builds
    holds a lock that ends with the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.address = self.name = self.root = str(path)
        self.scratch = path / ".tmp"

    def read(self, name: str) -> bytes:
        with open_regular_file(self._path / name) as file:
            return file.read()

    def opened(self, name: str) -> Any:
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

    def whole(self, name: str) -> AbstractContextManager[Path]:
        return whole_file(self._path / name)

    def remove(self, name: str) -> None:
        with suppress(OSError):  # a reader of the catalog before may have it open
            (self._path / name).unlink()

    @contextmanager
    def locked(self) -> Iterator[None]:
        with told(self._path):
            if self._path.exists() and not self._path.is_dir():
                raise InputFault("this is no folder", where=self.name, expected="a folder")
            self._path.mkdir(parents=True, exist_ok=True)
            names = {each.name for each in self._path.iterdir()}  # once: others may begin here
            if names and names.isdisjoint((LOCK, CATALOG)):
                raise other_files(self.name)
        with held(self._path / LOCK, self.name):
            remove_leftovers(self._path)
            yield

    def confirm(self) -> None:
        pass  # it ends with the process

    def attach(self, made: Any) -> None:
        pass  # DuckDB reads files by itself


@contextmanager
def held(lock: Path, where: str) -> Iterator[None]:
    """A lock file is this process's alone. Raises InputFault, and says who, where another one holds
    it."""
    with told(where):
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        with told(where):
            if not try_lock(handle):
                raise another_build(where, holder_of(handle))
            write_holder(handle)
        yield
    finally:
        os.close(handle)


def another_build(where: str, holder: str) -> InputFault:
    """What is told of a corpus in which somebody else writes."""
    expected = "to wait for its end, or another folder"
    return InputFault(f"another build is at work here: {holder}", where=where, expected=expected)


def other_files(where: str) -> InputFault:
    """What is told of a folder that is no corpus, and not empty."""
    expected = "an empty folder, or that of a corpus"
    return InputFault("this folder holds other files", where=where, expected=expected)


def store_at(given: str | os.PathLike[str]) -> Store:
    """The store in a folder, or behind an address. Raises InputFault for what is neither."""
    if is_remote(str(given)):
        from playground.corpora.remote_stores import RemoteStore  # which loads fsspec

        here = folder_of(str(given))
        return RemoteStore(str(given)) if here is None else LocalStore(here)
    try:
        return LocalStore(Path(given).resolve())
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        raise InputFault(f"{str(given)!r:.80} is no path ({error})", expected="a folder") from error
