"""The inputs of a corpus, split into pieces: files, folders, patterns, `.gz`, `.zst` and tars.

A piece is identified by the hash of its bytes, so moved or copied content is not built again.
"""

from __future__ import annotations

import gzip
import os
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

import pyarrow as pa

from playground.base.characters import is_whole
from playground.base.errors import InputFault
from playground.base.output import faults_naming
from playground.base.user_files import check_regular_file
from playground.plugins.corpus.places import (
    InputFile,
    files_at,
    is_remote,
    open_at,
    plain_path,
    reading_faults,
    size_of,
)
from playground.plugins.corpus.temporary_files import scratch_file
from playground.sessions.formats import recognised
from playground.sessions.source import LINES, MAX_BYTES, Source

PIECE_BYTES: Final = 32 << 20  # a longer file of lines is cut into stretches of this size
_READ_BYTES: Final = 1 << 20
_HASH_BYTES: Final = 16
_TARS: Final = (".tar", ".tar.gz", ".tgz", ".tar.zst")  # endings of files
_PACKED: Final = (".gz", ".zst")  # endings of compressed files
# The limits on a packed file's unpacked size, as multiples of its packed size. Real logs unpacked
# to 33 times their size with gzip, and to 170 times with zstd, which finds repetitions that are
# farther apart (150 requests, each with its whole history).
_TIMES_GZIP: Final = 500
_TIMES_ZSTD: Final = 5_000
_UNPACKED_BYTES: Final = 256 << 20  # any file may unpack to this size


@dataclass(frozen=True, slots=True)
class InputPiece:
    """A file, or its bytes from `start` to `start + size`.

    `content` is the hash of these bytes; of a packed file that is no tar, it is the hash of the
    unpacked bytes, which packing does not change. `name` is for people: the path, and for a tar's
    member also `!` and its name. `stamp` shows changes of a file at an address (`places.py`).
    """

    content: str
    name: str
    path: str
    start: int
    size: int
    stamp: str = ""

    @property
    def number(self) -> int:
        """The number of the piece in rows: the first 64 bits of its content's hash."""
        return number_of(self.content)

    @property
    def is_tar(self) -> bool:
        """True if the piece is a complete packed tar; its members can only be read in order."""
        return "!" not in self.name and plain_path(self.path).endswith(_TARS)


def number_of(content: str) -> int:
    """Return the number of a piece in rows: the first 64 bits of its content's hash."""
    return int(content[:16], 16)


def find_files(inputs: Iterable[str], out: str) -> Iterator[InputFile]:
    """Yield the files that inputs name. A folder's files come sorted, without hidden files and
    links. The corpus' own files, in its folder or address `out`, are left out.

    Raises InputFault for unreadable inputs.
    """
    folder = Path(os.path.realpath(out))
    for source in inputs:
        with reading_faults(source):
            files = (
                _remote_files(source, out) if is_remote(source) else _local_files(source, folder)
            )
            first = next(files, None)
            if first is None and (is_remote(source) or not Path(source).is_dir()):
                expected = "a file, a folder, or a pattern that some file fits"
                raise InputFault("nothing is there", where=source, expected=expected)
            if first is not None:
                yield first
                yield from files


def _remote_files(address: str, out: str) -> Iterator[InputFile]:
    return (file for file in files_at(address) if not plain_path(file.path).startswith(f"{out}/"))


def _local_files(source: str, out: Path) -> Iterator[InputFile]:
    """Yield the files of this machine that a path or pattern names."""
    path = Path(source)
    paths: Iterable[Path] = [path]
    if path.is_dir():
        paths = _walk(path, out)
    elif not path.is_file():
        paths = sorted(path for path in matching(source) if path.exists() and not path.is_dir())
    return (InputFile(str(file)) for file in paths)


def matching(pattern: str) -> Iterator[Path]:
    """Yield the paths that fit a pattern; `**` spans folders."""
    path = Path(pattern)
    yield from Path(path.anchor or ".").glob(str(path.relative_to(path.anchor)))


def _walk(folder: Path, out: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and Path(os.path.realpath(root), name) != out
        )
        for name in sorted(files):
            path = Path(root, name)
            if not name.startswith(".") and not path.is_symlink():
                yield path  # even a pipe: `pieces_of` reports it, and does not read it


def pieces_of(path: str) -> Iterator[InputPiece]:
    """Yield the pieces of a file. Raises InputFault if it cannot be read."""
    if not is_whole(path):  # half of a surrogate pair, which tables cannot store
        raise InputFault("its name is not UTF-8", where=path, expected="another name")
    with reading_faults(path):
        if not is_remote(path):
            check_regular_file(path)
        if plain_path(path).endswith(".tar"):
            yield from _members(path)
        elif _is_split(path):
            yield from _stretches(path)
        elif _is_packed(path):
            digest = blake2b(digest_size=_HASH_BYTES)
            with _stream(path) as stream:
                for data in _read_whole(path, stream):
                    digest.update(data)
            yield InputPiece(digest.hexdigest(), plain_path(path), path, 0, size_of(path))
        else:
            yield _piece(path, plain_path(path), 0, size_of(path))


def _is_packed(path: str) -> bool:
    """Return True if a path names a packed file that is not a tar."""
    return plain_path(path).endswith(_PACKED) and not plain_path(path).endswith(_TARS)


def _piece(path: str, name: str, start: int, size: int) -> InputPiece:
    with open_at(path) as file:
        file.seek(start)
        return InputPiece(_hash_of_stream(file, size), name, path, start, size)


def _hash_of_stream(file: IO[bytes], size: int) -> str:
    digest = blake2b(digest_size=_HASH_BYTES)
    while size and (data := file.read(min(_READ_BYTES, size))):
        digest.update(data)
        size -= len(data)
    return digest.hexdigest()


def _members(path: str) -> Iterator[InputPiece]:
    """Yield the members of an uncompressed tar, each as a range of the tar's bytes."""
    try:
        with open_at(path) as file, tarfile.open(fileobj=file, mode="r:") as tar:
            for member in tar:
                if member.isreg():
                    name = _member_name(path, member)
                    yield _piece(path, name, member.offset_data, member.size)
    except tarfile.TarError as error:
        raise InputFault(f"not a whole tar ({error})", where=path, expected="a tar") from error


def _member_name(path: str, member: tarfile.TarInfo) -> str:
    """Return the name of a tar's member, with `?` for bytes that are not UTF-8."""
    return f"{plain_path(path)}!{member.name.encode(errors='replace').decode()}"


def _is_split(path: str) -> bool:
    """Return True for a file above PIECE_BYTES, in a format with a session per line."""
    if PurePosixPath(plain_path(path)).suffix.lower() not in LINES or size_of(path) <= PIECE_BYTES:
        return False
    with open_at(path) as file:  # reads some complete lines
        source = Source(plain_path(path), file.read(_READ_BYTES) + file.readline(MAX_BYTES))
    try:
        return recognised(source).session_per_line
    except InputFault:
        return False


def _stretches(path: str) -> Iterator[InputPiece]:
    """Yield a file of lines in stretches, each of which ends with a complete line.

    If lines are appended to the file, only its last stretch changes.
    """
    total, start = size_of(path), 0
    with open_at(path) as file:
        while start < total:
            file.seek(min(start + PIECE_BYTES, total))
            while (rest := file.readline(_READ_BYTES)) and not rest.endswith(b"\n"):
                pass  # reads to the end of a line, in parts
            stop = file.tell()
            yield _piece(path, plain_path(path), start, stop - start)
            start = stop


@contextmanager
def open_piece(piece: InputPiece, scratch: Path) -> Iterator[Iterator[Source]]:
    """Yield the sources of a piece: the piece itself, or the members of a packed tar.

    A packed file is first unpacked into the folder `scratch`, so that it need not fit in memory;
    a long file at an address is copied there. Raises InputFault if the piece has changed.
    """
    path, name = piece.path, plain_path(piece.path)
    with reading_faults(path):
        is_whole = piece.start == 0 and piece.size == size_of(path)
        if not is_whole or piece.size <= PIECE_BYTES and not name.endswith(_PACKED + _TARS):
            data = _read_bytes(piece)
            yield iter([Source(piece.name, data)])
        elif piece.is_tar:
            yield _read_tar(path)
            check_unchanged(piece)
        elif name.endswith(_PACKED) or is_remote(path):
            inner = piece.name.rpartition(".")[0] if name.endswith(_PACKED) else piece.name
            with _unpacked(piece, scratch) as plain:
                yield iter([Source.open(plain, inner)])
        else:
            yield iter([Source.open(path, piece.name)])
            check_unchanged(piece)


def check_unchanged(piece: InputPiece) -> None:
    """Raise InputFault if a piece has changed since it was planned."""
    path = piece.path
    with reading_faults(path):
        if _piece(path, piece.name, piece.start, piece.size).content != piece.content:
            raise _changed_fault(piece)


def _read_bytes(piece: InputPiece) -> bytes:
    with open_at(piece.path) as file:
        file.seek(piece.start)
        data = file.read(piece.size)
    if blake2b(data, digest_size=_HASH_BYTES).hexdigest() != piece.content:
        raise _changed_fault(piece)
    return data


def _changed_fault(piece: InputPiece) -> InputFault:
    expected = "a file that nobody changes meanwhile; the next build reads it again"
    return InputFault("it changed while it was read", where=piece.name, expected=expected)


def _read_tar(path: str) -> Iterator[Source]:
    try:
        with _stream(path) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
            for member in tar:
                file = tar.extractfile(member) if member.isreg() else None
                if file is not None:
                    yield Source(_member_name(path, member), file.read())
    except (tarfile.TarError, EOFError, OSError, pa.ArrowException) as error:
        raise _damaged_fault(path, error) from error


@contextmanager
def _unpacked(piece: InputPiece, scratch: Path) -> Iterator[Path]:
    path, digest = piece.path, blake2b(digest_size=_HASH_BYTES)
    with scratch_file(scratch) as plain:
        try:
            with faults_naming(plain), _stream(path) as stream, pa.OSFile(str(plain), "wb") as file:
                for data in _read_whole(path, stream):
                    digest.update(data)
                    file.write(data)
        except pa.ArrowException as error:
            raise _damaged_fault(path, error) from error
        if digest.hexdigest() != piece.content:
            raise _changed_fault(piece)
        yield plain


def _read_whole(path: str, stream: Any) -> Iterator[bytes]:
    """Yield all bytes of a packed file. Raises InputFault, which names `path`, if it is damaged."""
    try:
        while data := stream.read(_READ_BYTES):
            yield data
    except (EOFError, OSError, pa.ArrowException) as error:
        raise _damaged_fault(path, error) from error


@contextmanager
def _stream(path: str) -> Iterator[Any]:
    """Yield a file object with the unpacked bytes of a file, up to a limit (`_Bounded`)."""
    with open_at(path) as file:
        if plain_path(path).endswith((".gz", ".tgz")):
            with gzip.open(file, "rb") as plain:
                yield _Bounded(plain, path, _TIMES_GZIP)
        elif plain_path(path).endswith(".zst"):
            with pa.input_stream(file, compression="zstd") as plain:
                yield _Bounded(plain, path, _TIMES_ZSTD)
        else:
            yield file


class _Bounded:
    """A file that is being unpacked, with a limit that keeps it from filling the disk.

    `read` raises InputFault beyond `times` the packed size, or `_UNPACKED_BYTES` if that is more.
    """

    def __init__(self, plain: Any, path: str, times: int) -> None:
        self._plain, self._path, self._times = plain, path, times
        self._remaining = max(_UNPACKED_BYTES, times * size_of(path))

    def read(self, size: int) -> bytes:
        data: bytes = self._plain.read(size)
        self._remaining -= len(data)
        if self._remaining < 0:
            bound = f"{self._times:,} times its {size_of(self._path):,} bytes"
            expected = "a file of sessions; unpack it first if it is one"
            raise InputFault(
                f"it unpacks to more than {bound}", where=self._path, expected=expected
            )
        return data


def _damaged_fault(path: str, error: Exception) -> InputFault:
    return InputFault(f"not a whole file ({error})", where=path, expected="an undamaged file")
