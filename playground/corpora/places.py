"""Files of a corpus's inputs wherever they lie: on this machine, or behind an address such as
`s3://bucket/logs`, which pyarrow's file systems read, and fsspec's where it has none of that name.

An address never carries a key: those come from the environment, as their clients want them. To
pyarrow it is a URI, in which a name is percent-encoded; to fsspec each character is itself.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Final, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from pyarrow import fs

from playground.errors import InputFault

_BUFFER: Final = 1 << 20
_USER: Final = re.compile(r"://[^/?#]*@")  # of any address in a chain: `simplecache::s3://`
_OPTIONS: Final = ("endpoint_override", "region", "scheme", "retry_limit_seconds", "project_id")


def is_remote(path: str | Path) -> bool:
    """Whether it is an address, and no path of this machine."""
    return "://" in str(path)


def place_of(given: str | Path) -> str:
    """What was given as it is kept: a whole path, or the address."""
    return str(given) if is_remote(given) else str(Path(given).resolve())


def named(path: str) -> str:
    """An address without its options; a path as it is."""
    return path.partition("?")[0] if is_remote(path) else path


def opened_at(path: str) -> IO[bytes]:
    """The bytes, from any place in them. Raises OSError, and InputFault for a bad address."""
    if not is_remote(path):
        return Path(path).open("rb")
    there = _there(path)
    file: Any = there.system.open_input_file(there.path)
    return io.BufferedReader(file, _BUFFER)


def size_of(path: str) -> int:
    """How many bytes there are. Raises OSError where there is no such file."""
    if not is_remote(path):
        return Path(path).stat().st_size
    there = _there(path)
    size: int | None = there.system.get_file_info(there.path).size
    if size is None:
        raise FileNotFoundError(2, "No such file", path)
    return size


def files_at(address: str) -> Iterator[str]:
    """The addresses of the files that are meant, in order, hidden ones aside: one file, all below
    a folder, or with `*`, which stands for folders too, those that fit."""
    base, mark, options = address.partition("?")
    found: Iterator[str]
    if "*" in base:
        folder = base[: base.index("*")].rpartition("/")[0]
        there = _below(f"{folder}{mark}{options}")
        found = (each for each in there if fnmatch(_read(each), _read(f"{base}{mark}{options}")))
    elif _there(address).system.get_file_info(_there(address).path).is_file:
        found = iter([address])
    else:
        found = _below(address)
    yield from found


def _below(address: str) -> Iterator[str]:
    base, mark, options = address.partition("?")
    system, path, is_uri = _there(address)
    listed = system.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
    start = len(path.strip("/"))
    for each in sorted(listed, key=lambda info: str(info.path)):
        rest = each.path.strip("/")[start:].strip("/")
        if each.is_file and not any(name.startswith(".") for name in rest.split("/")):
            name = quote(rest, safe=_PLAIN) if is_uri else rest
            yield f"{base.rstrip('/')}/{name}{mark}{options}"


_PLAIN: Final = "/!$&'()+,:;=@~"  # what stands for itself in the path of a URI


def _read(address: str) -> str:
    """An address without its options, its names as they are there."""
    return unquote(named(address)) if _there(address).is_uri else named(address)


class _Place(NamedTuple):
    system: Any
    path: str
    is_uri: bool  # whether names in its address are percent-encoded


@lru_cache(maxsize=4096)
def _there(address: str) -> _Place:
    parts = urlsplit(address)
    if _USER.search(address):
        raise InputFault(
            f"an address of {parts.scheme} with a key or a user in it",
            expected="one without: keys come from the environment",
        )
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if name not in _OPTIONS:  # it would be kept, and may be a signature
            told = f"an address of {parts.scheme} with the option {name!r}"
            raise InputFault(told, expected=f"no option but {', '.join(_OPTIONS)}")
    try:
        system, path = fs.FileSystem.from_uri(address)
        return _Place(system, path, is_uri=True)
    except (ValueError, OSError) as error:
        return _by_fsspec(address, error)


def _by_fsspec(address: str, refused: Exception) -> _Place:
    expected = "an address that pyarrow or an installed fsspec package reads, such as s3://bucket"
    try:
        from fsspec.core import url_to_fs

        system, path = url_to_fs(address)
    except (ImportError, ValueError, TypeError) as error:  # TypeError: it wants more than that
        said = str(refused).splitlines()[0]
        raise InputFault(f"nobody reads it ({said})", where=address, expected=expected) from error
    return _Place(fs.PyFileSystem(fs.FSSpecHandler(system)), path, is_uri=False)
