"""A corpus at an address such as `s3://bucket/corpus`, in an object store.

An object store has no rename, but a put is complete or did not happen. So a file is written on this
machine first, and then put under its name. A lock is an object, too. A build that finds another
build's lock waits to see whether it is still renewed.
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
from playground.base.output import faults_naming, remove_leftovers, scratch_file, write_file
from playground.base.waits import tell_wait
from playground.plugins.corpus.places import answering, info_at, listed_below, named, place_at
from playground.plugins.corpus.store_protocol import CATALOG, LOCK, another_build, held, other_files

_LOCKS: Final = "locks"
_PUT: Final = 8 << 20  # bytes of a file that are in memory while it is put
BEAT: Final = 10.0  # seconds after which a lock is renewed
SILENCE: Final = 45.0  # a lock that was not renewed for so many seconds belongs to a dead build
_ROOT: Final = "corpus://here"  # the store's address within DuckDB


class RemoteStore:
    """A store of objects at an address.

    Temporary files lie in a folder of this machine, one for each address, which only one build at
    a time may use.
    """

    def __init__(self, address: str) -> None:
        base, mark, options = address.partition("?")
        self.address = f"{base.rstrip('/')}{mark}{options}"
        self.name, self.root = named(self.address), _ROOT
        key = blake2b(self.address.encode(), digest_size=8).hexdigest()
        self.scratch = paths.elsewhere() / key
        with answering(self.name):
            self._system, path, _ = place_at(self.address)
        self._path = path.rstrip("/")
        self._own = ""  # the name of our lock, while we hold it

    def read(self, name: str) -> bytes:
        with self.opened(name) as file, answering(self.name, missing=True):
            data: bytes = file.read()
        return data

    def opened(self, name: str) -> Any:
        with answering(self.name, missing=True):
            return self._system.open_input_file(self._at(name))

    def size(self, name: str) -> int:
        with answering(self.name):
            size: int | None = info_at(self._system, self._at(name)).size
        if size is None:
            raise FileNotFoundError(2, "No such file", f"{self.name}/{name}")
        return size

    def sizes(self) -> Callable[[str], int]:
        found = {name: info.size for name, info in self._listed("", recursive=True)}

        def size(name: str) -> int:
            if name not in found:
                raise FileNotFoundError(2, "No such file", f"{self.name}/{name}")
            return int(found[name])

        return size

    def names(self, folder: str) -> list[str]:
        return sorted(name for name, _ in self._listed(folder, recursive=False))

    def write(self, name: str, text: str) -> None:
        with answering(self.name), self._open_output(name) as file:
            file.write(text.encode())

    @contextmanager
    def write_whole(self, name: str) -> Iterator[Path]:
        with scratch_file(self.scratch) as made:
            with faults_naming(made):
                yield made
            with answering(self.name), made.open("rb") as file, self._open_output(name) as there:
                shutil.copyfileobj(file, there, _PUT)

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError), answering(self.name, missing=True):
            self._system.delete_file(self._at(name))

    @contextmanager
    def locked(self) -> Iterator[None]:
        with faults_naming(self.scratch):
            self.scratch.mkdir(parents=True, exist_ok=True)
        with held(self.scratch / LOCK, self.name):
            remove_leftovers(self.scratch)
            self._refuse_others()
            self._own = self._name_here()
            ended = threading.Event()
            beating = threading.Thread(target=self._beat, args=[ended], daemon=True)
            self._renew(0)
            beating.start()
            try:
                self._only_one()
                yield
            finally:
                ended.set()
                beating.join()
                with suppress(InputFault):  # an earlier error matters more
                    self.remove(f"{_LOCKS}/{self._own}")

    def confirm(self) -> None:
        if self._own not in self.names(_LOCKS):
            expected = "to build again: what was built stays"
            raise InputFault("another build took over here", where=self.name, expected=expected)

    def attach(self, made: Any) -> None:
        made.register_filesystem(_Objects(self))
        made.execute("SET parquet_metadata_cache = true")  # saves a request for every file

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"

    def _listed(self, folder: str, *, recursive: bool) -> Iterator[tuple[str, Any]]:
        with answering(self.name):
            path = self._at(folder).rstrip("/")
            yield from listed_below(self._system, path, recursive=recursive)

    @contextmanager
    def _open_output(self, name: str) -> Iterator[Any]:
        path = self._at(name)
        try:
            file = self._system.open_output_stream(path, compression=None)
        except FileNotFoundError:  # this file system has folders
            self._make_folder(path.rpartition("/")[0])
            file = self._system.open_output_stream(path, compression=None)
        with file:
            yield file

    def _make_folder(self, path: str) -> None:
        """Make a folder. Raises FileNotFoundError if its bucket does not exist."""
        top = re.match("/*[^/]+", path)
        if top and info_at(self._system, top[0]).type == fs.FileType.NotFound:
            raise FileNotFoundError(2, f"there is no {top[0]}")
        self._system.create_dir(path, recursive=True)

    # the lock

    def _refuse_others(self) -> None:
        """Raise InputFault if there are files that belong to no corpus."""
        begun = (_LOCKS, "attempts", "facts", "blocks", "manifest", "files")
        found = (name.partition("/")[0] for name, _ in self._listed("", recursive=True))
        if CATALOG not in self.names("") and not set(found) <= set(begun):
            raise other_files(self.name)

    def _name_here(self) -> str:
        """Return the name of this machine's lock, which is stored in the scratch folder.

        A later build here may reuse the lock of a dead one, because it holds the folder's own lock.
        """
        place = self.scratch / "name"
        if not place.exists():
            write_file(place, secrets.token_hex(8), force=True)
        return place.read_text()

    def _renew(self, number: int) -> None:
        self.write(f"{_LOCKS}/{self._own}", f"{number} {holder_note()}")

    def _beat(self, ended: threading.Event) -> None:
        number = 0
        while not ended.wait(BEAT):
            number += 1
            with suppress(InputFault):  # the next renewal may succeed; `confirm` checks it
                if self._own not in self.names(_LOCKS):
                    return
                self._renew(number)

    def _only_one(self) -> None:
        """Raise InputFault if another build's lock is renewed; delete locks that are not.

        Our own lock is written before this check and renewed during it, so that of two builds that
        start at once each sees the other.
        """
        before = self._others()
        if not before:
            return
        holder = note_of(next(iter(before.values())).decode("utf-8", "replace"))
        tell_wait(
            f"waiting {SILENCE:.0f} seconds for a sign of life of another build in {self.name}: "
            f"{holder}"
        )
        time.sleep(SILENCE)
        for name, said in self._others().items():
            if before.get(name) != said:
                raise another_build(self.name, note_of(said.decode("utf-8", "replace")))
            self.remove(f"{_LOCKS}/{name}")

    def _others(self) -> dict[str, bytes]:
        found = {}
        for name in self.names(_LOCKS):
            with suppress(FileNotFoundError):
                if name != self._own:
                    found[name] = self.read(f"{_LOCKS}/{name}")
        return found


class _Objects(AbstractFileSystem):  # type: ignore[misc]
    """A read-only file system through which DuckDB reads a corpus' objects."""

    protocol = "corpus"
    cachable = False
    _SINCE = datetime(1970, 1, 1, tzinfo=UTC)

    def __init__(self, store: RemoteStore) -> None:
        super().__init__()
        self._store = store
        self._sizes: dict[str, int] = {}

    def _open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        if mode != "rb":
            raise PermissionError(13, "a corpus is asked, not written", path)
        return self._store.opened(self._name(path))

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        name = self._name(path)
        if name not in self._sizes:
            self._sizes[name] = self._store.size(name)
        return {"name": path, "size": self._sizes[name], "type": "file"}

    def modified(self, path: str) -> datetime:
        return self._SINCE  # a file never changes under its name

    def glob(self, path: str, **_: Any) -> list[str]:
        return [path]

    def _name(self, path: str) -> str:
        name = path.removeprefix("corpus://").removeprefix("here/")
        if ".." in name.split("/"):
            raise FileNotFoundError(2, "No such file", path)
        return name
