"""The interface of every store of a corpus, and the lock of the one process that builds in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from playground.base.errors import InputFault
from playground.base.locks import holder_of, open_lock, try_lock, write_holder
from playground.base.output import faults_naming

CATALOG: Final = "corpus.json"
LOCK: Final = "lock"


class Store(Protocol):
    """The files of a corpus by their names. What the system refuses is an InputFault, but for
    reading: that raises OSError, FileNotFoundError where there is no such file."""

    @property
    def address(self) -> str:
        """The address that opens the same store in another process."""
        ...

    @property
    def name(self) -> str:
        """The store's name in words."""
        ...

    @property
    def root(self) -> str:
        """The prefix of a name in DuckDB, joined by `/`, after `attach` was called."""
        ...

    @property
    def scratch(self) -> Path:
        """A folder of this machine for what is being made; nothing in it counts."""
        ...

    def read(self, name: str) -> bytes: ...
    def opened(self, name: str) -> Any:
        """Return the file as pyarrow reads it, from any place in it."""
        ...

    def size(self, name: str) -> int: ...
    def sizes(self) -> Callable[[str], int]:
        """`size`, as of now, for many names."""
        ...

    def names(self, folder: str) -> list[str]:
        """Return the files in a folder, in order; without those in folders below it."""
        ...

    def write(self, name: str, text: str) -> None: ...
    def write_whole(self, name: str) -> AbstractContextManager[Path]:
        """Return a file of this machine to write, which takes the name on leaving without an
        error.
        """
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


@contextmanager
def held(lock: Path, where: str) -> Iterator[None]:
    """A lock file is this process's alone. Raises InputFault, and says who, where another one holds
    it."""
    with faults_naming(where):
        handle = open_lock(lock, 0o666)
    try:
        with faults_naming(where):
            if not try_lock(handle):
                raise another_build(where, holder_of(handle))
            write_holder(handle)
        yield
    finally:
        os.close(handle)


def another_build(where: str, holder: str) -> InputFault:
    """Return the error for a corpus in which somebody else writes."""
    expected = "to wait for its end, or another folder"
    return InputFault(f"another build is at work here: {holder}", where=where, expected=expected)


def other_files(where: str) -> InputFault:
    """Return the error for a folder that is no corpus, and not empty."""
    expected = "an empty folder, or that of a corpus"
    return InputFault("this folder holds other files", where=where, expected=expected)
