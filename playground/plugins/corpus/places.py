"""Read files on this machine or at an address such as `s3://bucket/logs`.

An address is opened by pyarrow, or by fsspec if pyarrow does not know its scheme. It never contains
a key: keys come from the environment, in the variables of each client. For pyarrow an address is a
URI with percent-encoded names; fsspec takes names literally.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Final, NamedTuple
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

import pyarrow as pa
from pyarrow import fs

from playground.base.errors import InputFault
from playground.base.output import faults_naming
from playground.base.user_files import open_regular_file

_BUFFER_BYTES: Final = 1 << 20
SETTLED: Final = 60.0  # seconds until a file's time is trusted, because clocks differ
# A user name in any address of a chain such as `simplecache::s3://`. `gs://anonymous@bucket` is
# allowed, because it means access without a key.
_USER: Final = re.compile(r"://(?!anonymous@)[^/?#]*@")
_OPTIONS: Final = ("endpoint_override", "region", "scheme", "retry_limit_seconds", "project_id")


def is_remote(path: str | Path) -> bool:
    """Return True for an address, False for a path of this machine."""
    return "://" in str(path)


def recorded_place(source: str | Path) -> str:
    """Return an input as a corpus records it: a path as an absolute one, an address as it is."""
    return str(source) if is_remote(source) else str(Path(source).resolve())


def plain_path(path: str) -> str:
    """Return an address without its options, or a path unchanged."""
    return path.partition("?")[0] if is_remote(path) else path


def open_at(path: str) -> IO[bytes]:
    """Open a file with random access. Raises OSError, and InputFault for a bad address."""
    if not is_remote(path):
        return open_regular_file(path)
    place = place_at(path)
    file: Any = place.system.open_input_file(place.path)
    return io.BufferedReader(file, _BUFFER_BYTES)


def size_of(path: str) -> int:
    """Return a file's size in bytes. Raises OSError if there is no such file."""
    if not is_remote(path):
        return Path(path).stat().st_size
    place = place_at(path)
    size: int | None = info_at(place.system, place.path).size
    if size is None:
        raise FileNotFoundError(2, "No such file", path)
    return size


def folder_of(address: str) -> Path | None:
    """Return the folder of this machine that an address names, as `file:///logs` does, or None."""
    system, path, _ = place_at(address)
    if isinstance(system, fs.LocalFileSystem):
        return Path(path)
    module = type(system.handler.fs).__module__ if isinstance(system, fs.PyFileSystem) else ""
    return Path(path) if module == "fsspec.implementations.local" else None


def is_of_one_process(address: str | Path) -> bool:
    """Return True if only this process can see files at an address (`memory://`)."""
    return is_remote(address) and "memory://" in str(address)


@contextmanager
def as_faults(where: str, *, missing: bool = False) -> Iterator[None]:
    """Turn an OSError in the `with` block into an InputFault of one line, with stars for keys.

    With `missing`, a FileNotFoundError is raised as it is.
    """
    try:
        yield
    except OSError as error:
        if missing and isinstance(error, FileNotFoundError):
            raise
        from playground.plugins.corpus.cleaning import Cleaner

        message = Cleaner().text(str(error.strerror or error).splitlines()[0])
        raise InputFault(message, where=where, expected=_EXPECTED_ADDRESS) from error


_EXPECTED_ADDRESS: Final = "an address that answers, and keys in the environment that may use it"


def reading_faults(path: str) -> AbstractContextManager[None]:
    """Turn an OSError in the `with` block, which reads a path or an address, into an InputFault."""
    return as_faults(plain_path(path)) if is_remote(path) else faults_naming(path)


class InputFile(NamedTuple):
    """An input file. Its `stamp`, made of size and time, changes if the file changes.

    The stamp is "" if the time is unknown, or so recent that a later change might give the same
    stamp.
    """

    path: str
    stamp: str = ""


def files_at(address: str) -> Iterator[InputFile]:
    """Yield the files that an address names, sorted, without hidden ones.

    An address names one file, a folder with all files below it, or a pattern, in which `*` also
    spans folders.
    """
    base, sep, options = address.partition("?")
    files: Iterator[InputFile]
    if "*" in base:
        folder = base[: base.index("*")].rpartition("/")[0]
        below = _files_below(f"{folder}{sep}{options}")
        files = (
            file
            for file in below
            if fnmatch(_decoded(file.path), _decoded(f"{base}{sep}{options}"))
        )
    else:
        system, path, _ = place_at(address)
        info = info_at(system, path)
        file = InputFile(address, _stamp(system, info))
        files = iter([file]) if info.is_file else _files_below(address)
    yield from files


def _files_below(address: str) -> Iterator[InputFile]:
    base, sep, options = address.partition("?")
    system, path, is_uri = place_at(address)
    for rest, info in list_below(system, path, recursive=True):
        if not any(name.startswith(".") for name in rest.split("/")):
            name = quote(rest, safe=_PLAIN) if is_uri else rest
            yield InputFile(f"{base.rstrip('/')}/{name}{sep}{options}", _stamp(system, info))


def list_below(system: Any, path: str, *, recursive: bool) -> Iterator[tuple[str, Any]]:
    """Yield the files in a folder of a file system, sorted by name: the name, relative to the
    folder, and pyarrow's information. If `recursive`, yield those in its subfolders, too."""
    _clear_listings(system)
    infos = system.get_file_info(fs.FileSelector(path, recursive=recursive, allow_not_found=True))
    start = len(path.strip("/"))
    for info in sorted(infos, key=lambda info: str(info.path)):
        if info.is_file:
            yield info.path.strip("/")[start:].strip("/"), info


def _stamp(system: Any, info: Any) -> str:
    changed = info.mtime
    # fsspec's file systems have several names for the time of the last change
    if changed is None and isinstance(system, fs.PyFileSystem):
        with suppress(NotImplementedError, KeyError, OSError):
            changed = system.handler.fs.modified(info.path)
    if changed is None or time.time() - changed.timestamp() < SETTLED:
        return ""
    return f"{info.size} {changed.isoformat()}"


def info_at(system: Any, path: str) -> Any:
    """Return what a file system currently knows of a path, such as size and time."""
    _clear_listings(system)
    return system.get_file_info(path)


def _clear_listings(system: Any) -> None:
    """Clear fsspec's cache of listings, because another process may have changed the files."""
    if isinstance(system, fs.PyFileSystem):
        system.handler.fs.invalidate_cache()


_PLAIN: Final = "/!$&'()+,:;=@~"  # characters that need no encoding in a URI's path


def _decoded(address: str) -> str:
    """Return an address without options, and with its names decoded."""
    return unquote(plain_path(address)) if place_at(address).is_uri else plain_path(address)


class _Place(NamedTuple):
    system: Any
    path: str
    is_uri: bool  # True if names in the address are percent-encoded


@lru_cache(maxsize=4096)
def place_at(address: str) -> _Place:
    """Return the file system of an address, and the path in that file system.

    Raises InputFault for an address with a key, a user, an unknown option or an unknown scheme.
    """
    parts = urlsplit(address)
    if _USER.search(address):
        raise InputFault(
            f"an address of {parts.scheme} with a key or a user in it",
            expected="an address without them: keys come from the environment",
        )
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if name not in _OPTIONS:  # an unknown option may be a signature, which must not be stored
            problem = f"an address of {parts.scheme} with the option {name!r}"
            raise InputFault(problem, expected=f"no option but {', '.join(_OPTIONS)}")
    try:
        system, path = fs.FileSystem.from_uri(_with_fast_put(address, parts))
        return _Place(system, path, is_uri=True)
    except (ValueError, OSError, NotImplementedError) as error:  # pyarrow lacks this file system
        return _fsspec_place(address, error)


def _with_fast_put(address: str, parts: SplitResult) -> str:
    """Return an address; add to one of S3 the option to upload a short object by one request."""
    if parts.scheme != "s3":
        return address
    return f"{address}{'&' if parts.query else '?'}allow_delayed_open=true"


def _fsspec_place(address: str, pyarrow_error: Exception) -> _Place:
    expected = "an address that pyarrow or an installed fsspec package reads, such as s3://bucket"
    where = plain_path(address)
    try:
        from fsspec.core import url_to_fs

        system, path = url_to_fs(address)
    except ImportError as error:  # fsspec's message names the missing package
        message = str(error).splitlines()[0]
        raise InputFault(
            f"no reader for it is installed ({message})", where=where, expected=expected
        ) from error
    except (ValueError, TypeError, OSError) as error:  # TypeError: an argument is missing
        message = str(pyarrow_error).splitlines()[0]
        raise InputFault(f"no reader for it ({message})", where=where, expected=expected) from error
    return _Place(fs.PyFileSystem(_Handler(system)), path, is_uri=False)


class _Handler(fs.FSSpecHandler):  # type: ignore[misc]
    """fsspec's file systems for pyarrow; every error of their packages becomes an OSError."""

    def get_file_info(self, paths: Any) -> Any:
        return _call_or_os_error(super().get_file_info, paths)

    def get_file_info_selector(self, selector: Any) -> Any:
        return _call_or_os_error(super().get_file_info_selector, selector)

    def open_input_file(self, path: str) -> Any:
        """Open a file without first checking its type. pyarrow's handler checks, and reports a
        refused request as "no file"."""
        file = _call_or_os_error(self.fs.open, path, "rb")
        # all readers of a `memory://` file share one file object, and so its position
        if isinstance(file, io.BytesIO):
            file = io.BytesIO(file.getvalue())
        return pa.PythonFile(file, mode="r")

    def open_input_stream(self, path: str) -> Any:
        return self.open_input_file(path)

    def open_output_stream(self, path: str, metadata: Any) -> Any:
        return _call_or_os_error(super().open_output_stream, path, metadata)

    def delete_file(self, path: str) -> Any:
        return _call_or_os_error(super().delete_file, path)


def _call_or_os_error(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except OSError:
        raise
    except Exception as error:  # any package may raise any error
        raise OSError(f"{type(error).__name__}: {error}") from error
