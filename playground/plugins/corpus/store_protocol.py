"""The interface of a corpus' stores, and the lock file that lets only one process build."""

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
    """The files of a corpus by their names.

    Methods raise InputFault if the disk or the network fails. Methods that read a file may raise
    OSError instead; they raise FileNotFoundError if there is no such file.
    """

    @property
    def address(self) -> str:
        """The address with which another process can open the same store."""
        ...

    @property
    def name(self) -> str:
        """The store's name for messages."""
        ...

    @property
    def root(self) -> str:
        """The prefix of file names in DuckDB, without the following `/`. Call `attach` first."""
        ...

    @property
    def scratch(self) -> Path:
        """A folder of this machine for temporary files."""
        ...

    def read(self, name: str) -> bytes: ...
    def open_file(self, name: str) -> Any:
        """Open a file for pyarrow, with random access."""
        ...

    def size(self, name: str) -> int: ...
    def sizes(self) -> Callable[[str], int]:
        """Return a function that does what `size` does, faster for many names. It may return the
        sizes as they were when it was made."""
        ...

    def names(self, folder: str) -> list[str]:
        """Return the names of the files directly in a folder, sorted."""
        ...

    def write(self, name: str, text: str) -> None: ...
    def write_whole(self, name: str) -> AbstractContextManager[Path]:
        """Yield a temporary file, which gets the name if the `with` block ends without error."""
        ...

    def remove(self, name: str) -> None:
        """Delete a file, if it exists."""
        ...

    def locked(self) -> AbstractContextManager[None]:
        """Lock the corpus for writing by this process. Raises InputFault if another process builds
        the corpus, or if the place holds other files."""
        ...

    def confirm(self) -> None:
        """Raise InputFault if this process has lost its lock."""
        ...

    def attach(self, connection: Any) -> None:
        """Let a DuckDB connection read the files."""
        ...


@contextmanager
def lock_file(lock: Path, where: str) -> Iterator[None]:
    """Lock a file. If another process holds the lock, raises InputFault that names it."""
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
    """Return the error for a corpus that another process is building."""
    expected = "to wait for its end, or another folder"
    return InputFault(f"another build is at work here: {holder}", where=where, expected=expected)


def other_files(where: str) -> InputFault:
    """Return the error for a folder that is neither empty nor a corpus."""
    expected = "an empty folder, or that of a corpus"
    return InputFault("this folder holds other files", where=where, expected=expected)
