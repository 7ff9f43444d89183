"""A corpus at an address such as `s3://bucket/corpus`, in an object store.

An object store cannot rename, but each upload is complete or has no effect. So a file is written on
this machine first, and then uploaded under its name. A lock is an object, too: a build that finds
another build's lock waits to see if that build renews it.
"""

from __future__ import annotations

import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from fsspec import AbstractFileSystem
from pyarrow import fs

from playground.base import paths
from playground.base.errors import InputFault
from playground.base.locks import holder_note, note_of
from playground.base.output import faults_naming, remove_leftovers, write_file
from playground.base.waits import tell_wait
from playground.plugins.corpus.places import as_faults, info_at, list_below, place_at, plain_path
from playground.plugins.corpus.store_protocol import (
    CATALOG,
    LOCK,
    another_build,
    lock_file,
    other_files,
)
from playground.plugins.corpus.temporary_files import scratch_file

_LOCKS: Final = "locks"
_UPLOAD_BYTES: Final = 8 << 20  # bytes of a file that are in memory during an upload
BEAT: Final = 10.0  # seconds between two renewals of a lock
SILENCE: Final = 45.0  # after so many seconds without renewal, a lock's build counts as dead
_ROOT: Final = "corpus://here"  # the prefix by which DuckDB reads through this store


class RemoteStore:
    """A store of objects at an address.

    Temporary files are in a scratch folder of this machine, which only one build at a time uses.
    """

    def __init__(self, address: str) -> None:
        base, separator, options = address.partition("?")
        self.address = f"{base.rstrip('/')}{separator}{options}"
        self.name, self.root = plain_path(self.address), _ROOT
        key = blake2b(self.address.encode(), digest_size=8).hexdigest()
        self.scratch = paths.remote_scratch() / key
        with as_faults(self.name):
            self._system, path, _ = place_at(self.address)
        self._path = path.rstrip("/")
        self._lock = ""  # the name of our lock, or "" while we have none

    def read(self, name: str) -> bytes:
        with self.open_file(name) as file, as_faults(self.name, missing=True):
            data: bytes = file.read()
        return data

    def open_file(self, name: str) -> Any:
        with as_faults(self.name, missing=True):
            return self._system.open_input_file(self._at(name))

    def size(self, name: str) -> int:
        with as_faults(self.name):
            size: int | None = info_at(self._system, self._at(name)).size
        if size is None:
            raise FileNotFoundError(2, "No such file", f"{self.name}/{name}")
        return size

    def sizes(self) -> Callable[[str], int]:
        sizes = {name: info.size for name, info in self._list("", recursive=True)}

        def size(name: str) -> int:
            if name not in sizes:
                raise FileNotFoundError(2, "No such file", f"{self.name}/{name}")
            return int(sizes[name])

        return size

    def names(self, folder: str) -> list[str]:
        return sorted(name for name, _ in self._list(folder, recursive=False))

    def write(self, name: str, text: str) -> None:
        with as_faults(self.name), self._open_output(name) as file:
            file.write(text.encode())

    @contextmanager
    def write_whole(self, name: str) -> Iterator[Path]:
        with scratch_file(self.scratch) as temporary:
            with faults_naming(temporary):
                yield temporary
            with (
                as_faults(self.name),
                temporary.open("rb") as file,
                self._open_output(name) as output,
            ):
                shutil.copyfileobj(file, output, _UPLOAD_BYTES)

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError), as_faults(self.name, missing=True):
            self._system.delete_file(self._at(name))

    @contextmanager
    def locked(self) -> Iterator[None]:
        with faults_naming(self.scratch):
            self.scratch.mkdir(parents=True, exist_ok=True)
        with lock_file(self.scratch / LOCK, self.name):
            remove_leftovers(self.scratch)
            self._refuse_others()
            self._lock = self._lock_name()
            stop = threading.Event()
            renewal = threading.Thread(target=self._keep_renewing, args=[stop], daemon=True)
            self._renew(0)
            renewal.start()
            try:
                self._refuse_other_builds()
                yield
            finally:
                stop.set()
                renewal.join()
                with suppress(InputFault):  # an earlier error is more important
                    self.remove(f"{_LOCKS}/{self._lock}")

    def confirm(self) -> None:
        if self._lock not in self.names(_LOCKS):
            expected = "another attempt later: the parts that were built are kept"
            raise InputFault("another build has taken the lock", where=self.name, expected=expected)

    def attach(self, connection: Any) -> None:
        connection.register_filesystem(_Objects(self))
        connection.execute("SET parquet_metadata_cache = true")  # saves a request for every file

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"

    def _list(self, folder: str, *, recursive: bool) -> Iterator[tuple[str, Any]]:
        with as_faults(self.name):
            path = self._at(folder).rstrip("/")
            yield from list_below(self._system, path, recursive=recursive)

    @contextmanager
    def _open_output(self, name: str) -> Iterator[Any]:
        path = self._at(name)
        try:
            file = self._system.open_output_stream(path, compression=None)
        except FileNotFoundError:  # raised by file systems that have folders
            self._make_folder(path.rpartition("/")[0])
            file = self._system.open_output_stream(path, compression=None)
        with file:
            yield file

    def _make_folder(self, path: str) -> None:
        """Make a folder. Raises FileNotFoundError if its bucket does not exist."""
        bucket = re.match("/*[^/]+", path)
        if bucket and info_at(self._system, bucket[0]).type == fs.FileType.NotFound:
            raise FileNotFoundError(2, f"there is no {bucket[0]}")
        self._system.create_dir(path, recursive=True)

    # the lock

    def _refuse_others(self) -> None:
        """Raise InputFault if there is no catalog, but there are files that no build writes."""
        own_folders = (_LOCKS, "attempts", "facts", "blocks", "manifest", "files")
        folders = (name.partition("/")[0] for name, _ in self._list("", recursive=True))
        if CATALOG not in self.names("") and not set(folders) <= set(own_folders):
            raise other_files(self.name)

    def _lock_name(self) -> str:
        """Return the name of this machine's lock, which is stored in the scratch folder. All builds
        with this scratch folder use the same name, so a build takes over the lock of a dead one at
        once. This is safe, because only one build at a time can lock the folder."""
        name_file = self.scratch / "name"
        if not name_file.exists():
            write_file(name_file, secrets.token_hex(8), force=True)
        return name_file.read_text()

    def _renew(self, number: int) -> None:  # a new number shows other builds that this one lives
        self.write(f"{_LOCKS}/{self._lock}", f"{number} {holder_note()}")

    def _keep_renewing(self, stop: threading.Event) -> None:
        number = 0
        while not stop.wait(BEAT):
            number += 1
            with suppress(InputFault):  # the next renewal may succeed; `confirm` checks the lock
                if self._lock not in self.names(_LOCKS):
                    return
                self._renew(number)

    def _refuse_other_builds(self) -> None:
        """Raise InputFault if another build's lock is renewed; delete locks that are not renewed.

        Our own lock is written before this check and renewed during it, so that two builds that
        start at once see each other.
        """
        locks = self._other_locks()
        if not locks:
            return
        holder = note_of(next(iter(locks.values())).decode("utf-8", "replace"))
        tell_wait(
            f"waiting {SILENCE:.0f} seconds for a sign of life of another build in {self.name}: "
            f"{holder}"
        )
        time.sleep(SILENCE)
        for name, text in self._other_locks().items():
            if locks.get(name) != text:
                raise another_build(self.name, note_of(text.decode("utf-8", "replace")))
            self.remove(f"{_LOCKS}/{name}")

    def _other_locks(self) -> dict[str, bytes]:
        locks = {}
        for name in self.names(_LOCKS):
            with suppress(FileNotFoundError):
                if name != self._lock:
                    locks[name] = self.read(f"{_LOCKS}/{name}")
        return locks


class _Objects(AbstractFileSystem):  # type: ignore[misc]
    """A read-only file system through which DuckDB reads a corpus' objects."""

    protocol = "corpus"
    cachable = False
    _MODIFIED = datetime(1970, 1, 1, tzinfo=UTC)

    def __init__(self, store: RemoteStore) -> None:
        super().__init__()
        self._store = store
        self._sizes: dict[str, int] = {}

    def _open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        if mode != "rb":
            raise PermissionError(13, "DuckDB may only read a corpus", path)
        return self._store.open_file(self._name(path))

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        name = self._name(path)
        if name not in self._sizes:
            self._sizes[name] = self._store.size(name)
        return {"name": path, "size": self._sizes[name], "type": "file"}

    def modified(self, path: str) -> datetime:
        return self._MODIFIED  # a file never changes its content

    def glob(self, path: str, **_: Any) -> list[str]:
        return [path]

    def _name(self, path: str) -> str:
        name = path.removeprefix("corpus://").removeprefix("here/")
        if ".." in name.split("/"):
            raise FileNotFoundError(2, "No such file", path)
        return name
