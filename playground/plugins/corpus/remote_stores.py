"""A corpus behind an address, such as `s3://bucket/corpus`: the store of object stores.

A put is whole or not there, and there is no rename: a file is made on this machine and put under
its own name. Locks are objects, too: who finds another one waits whether it is still renewed.
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
SILENCE: Final = 45.0  # seconds without that, after which it is a dead one's
_ROOT: Final = "corpus://here"  # to DuckDB


class RemoteStore:
    """Objects below an address. What is being made lies in a folder of this machine, one for each
    address, which one build at a time may have."""

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
                with suppress(InputFault):  # what ended the build is told, not this
                    self.remove(f"{_LOCKS}/{self._own}")

    def confirm(self) -> None:
        if self._own not in self.names(_LOCKS):
            expected = "to build again: what was built stays"
            raise InputFault("another build took over here", where=self.name, expected=expected)

    def attach(self, made: Any) -> None:
        made.register_filesystem(_Objects(self))
        made.execute("SET parquet_metadata_cache = true")  # a request less for every file

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
        except FileNotFoundError:  # a file system that has folders
            self._make_folder(path.rpartition("/")[0])
            file = self._system.open_output_stream(path, compression=None)
        with file:
            yield file

    def _make_folder(self, path: str) -> None:
        """A folder within one that is there: a bucket is nobody's to make."""
        top = re.match("/*[^/]+", path)
        if top and info_at(self._system, top[0]).type == fs.FileType.NotFound:
            raise FileNotFoundError(2, f"there is no {top[0]}")
        self._system.create_dir(path, recursive=True)

    # the lock

    def _refuse_others(self) -> None:
        """Raises InputFault where something lies there that is no corpus."""
        begun = (_LOCKS, "attempts", "facts", "blocks", "manifest", "files")
        found = (name.partition("/")[0] for name, _ in self._listed("", recursive=True))
        if CATALOG not in self.names("") and not set(found) <= set(begun):
            raise other_files(self.name)

    def _name_here(self) -> str:
        """Return the lock's name that stands for this machine's folder: who holds the folder's own
        lock may have it, whatever became of the one before.
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
            with suppress(InputFault):  # the next one may reach it; `confirm` tells if none did
                if self._own not in self.names(_LOCKS):
                    return
                self._renew(number)

    def _only_one(self) -> None:
        """Raises InputFault where another lock is renewed; one that is not is taken away. Ours is
        there before we look, and renewed while we wait: of two that come at once none misses the
        other."""
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
    """A corpus's objects for DuckDB, to be read."""

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
        return self._SINCE  # what is under a name stays as it is

    def glob(self, path: str, **_: Any) -> list[str]:
        return [path]

    def _name(self, path: str) -> str:
        name = path.removeprefix("corpus://").removeprefix("here/")
        if ".." in name.split("/"):
            raise FileNotFoundError(2, "No such file", path)
        return name
