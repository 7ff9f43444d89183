"""The opening of the user's files: every path that a user gives is opened here.

A file is opened. A pipe is read to its end if it has a writer, because reading one without a
writer would never end. `/dev/null` is an empty file. Other devices are refused: `/dev/zero` has no
end, and opening a tape would rewind it.

Standard input and a shell's `<(…)` also have paths (`/dev/stdin`, `/dev/fd/63`). Such a path means
an open descriptor of this program, which is read like `-`.
"""

from __future__ import annotations

import io
import os
import re
import select
import stat
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_LE
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from playground.base.errors import InputFault

MOST_BYTES: Final = 64 * 1024 * 1024  # the most that is read from a pipe
_WRITER: Final = 1.0  # seconds for a shell to start the writer of a pipe
_PIECE: Final = 1 << 20
_OWN_DESCRIPTOR: Final = re.compile(r"/dev/(?:fd/(\d+)|stdin)|/proc/(?:self|thread-self)/fd/(\d+)")
_FILE: Final = "a file"
_KINDS: Final = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def open_user_file(path: str | os.PathLike[str], expected: str = _FILE) -> IO[bytes]:
    """Open a user's file, or the contents of a pipe up to MOST_BYTES.

    Raises OSError if it cannot be read, and InputFault as `read_stream` does.
    """
    if is_stream(Path(path).stat()):
        return io.BytesIO(read_stream(path, MOST_BYTES, expected))
    return open_regular_file(path, expected)


def open_regular_file(
    path: str | os.PathLike[str], expected: str = _FILE, *, buffering: int = -1
) -> IO[bytes]:
    """Open a regular file, to be read more than once or at any place.

    Raises OSError if it cannot be read, InputFault for a pipe, a device or a socket.
    """
    check_regular_file(path, expected)
    return open(path, "rb", buffering=buffering, opener=_open_regular)


def check_regular_file(path: str | os.PathLike[str], expected: str = _FILE) -> None:
    """Raise InputFault for a pipe, a device or a socket, OSError if there is no file."""
    if (kind := kind_of_stream(Path(path).stat())) is not None:
        raise no_file(path, kind, expected)


def no_file(path: str | os.PathLike[str], kind: str, expected: str = _FILE) -> InputFault:
    """Make the fault for a pipe, a device or a socket in place of a file."""
    return InputFault(f"{kind}, not a file", where=str(path), expected=expected)


def _open_regular(path: str, flags: int) -> int:
    """Open a file without waiting, even if it has become a pipe since it was checked."""
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if (kind := kind_of_stream(os.fstat(handle))) is not None:
        os.close(handle)
        raise no_file(path, kind)
    return handle


def kind_of_stream(file: os.stat_result) -> str | None:
    """Return "a pipe", "a device" or "a socket"; None for a file or a folder."""
    return _KINDS.get(stat.S_IFMT(file.st_mode))


def is_stream(file: os.stat_result) -> bool:
    """Return True for a pipe, a device or a socket, which can be read only once."""
    return kind_of_stream(file) is not None


def read_stream(
    path: str | os.PathLike[str], most: int = MOST_BYTES, expected: str = _FILE
) -> bytes:
    """Read a pipe, or a descriptor that this program has open, to its end; `/dev/null` gives b"".

    Raises InputFault for a pipe without a writer, for more than `most` bytes, and for anything else
    (a file, a folder, another device); OSError if it cannot be read.
    """
    name = str(path)
    if (descriptor := _OWN_DESCRIPTOR.fullmatch(name)) is not None:
        return _read_own(int(descriptor[1] or descriptor[2] or 0), name, most)
    kind = kind_of_stream(Path(path).stat())
    if kind == "a pipe":
        return _read_pipe(path, most, expected)
    if Path(path).samefile(os.devnull):  # like an empty file
        return b""
    raise no_file(path, kind or "a folder", expected)


def _read_own(number: int, name: str, most: int) -> bytes:
    """Read an open descriptor of this program."""
    if number == 0:
        return read_standard_input(name, most)
    descriptor = os.dup(number)
    try:
        return read_descriptor(descriptor, name, most)
    finally:
        os.close(descriptor)


def _read_pipe(path: str | os.PathLike[str], most: int, expected: str) -> bytes:
    """Read a pipe of the file system. Raises InputFault if it has no writer."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        first = _first_piece(descriptor)
        if first == b"":
            raise InputFault("a pipe without a writer", where=str(path), expected=expected)
        os.set_blocking(descriptor, True)
        return read_descriptor(descriptor, str(path), most, first or b"")
    finally:
        os.close(descriptor)


def _first_piece(descriptor: int) -> bytes | None:
    """Return the first bytes of a pipe; b"" if it has no writer, None if nothing is written yet.
    Linux reports no event for a pipe that never had a writer, and a hang-up without input if all
    writers have left."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    events = poll.poll(_WRITER * 1000)
    if events and not events[0][1] & select.POLLIN:
        return b""
    try:
        return os.read(descriptor, _PIECE)
    except BlockingIOError:
        return None


def read_descriptor(descriptor: int, name: str, most: int, first: bytes = b"") -> bytes:
    """Read an open descriptor to its end; `first` was already read. Raises InputFault if there are
    more than `most` bytes."""
    if not first and _is_silent(descriptor):
        from playground.base.waits import tell_wait  # imported here, because waits are rare

        end = ", which Ctrl-D ends" if os.isatty(descriptor) else ""
        tell_wait(f"waiting for {name}{end}")
    pieces = [first]
    size = len(first)
    while piece := _next_piece(descriptor):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            limit = f"{most // 1024**2} MB"
            raise InputFault(f"more than {limit} of input", where=name, expected=f"at most {limit}")
    return b"".join(pieces)


def _is_silent(descriptor: int) -> bool:
    """Return True if no data comes within SOON seconds: the wait should be reported."""
    if not hasattr(select, "poll"):  # Windows
        return False
    from playground.base.waits import SOON

    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return not poll.poll(SOON * 1000)


def _next_piece(descriptor: int) -> bytes:
    while True:
        try:
            return os.read(descriptor, _PIECE)
        except BlockingIOError:  # another program has made the descriptor non-blocking
            select.select([descriptor], [], [])


def read_standard_input(name: str = "standard input", most: int = MOST_BYTES) -> bytes:
    """Read standard input to its end. Raises InputFault if it is closed or too long."""
    if sys.stdin is None:
        raise InputFault("closed", where=name, expected="a file, or something piped in")
    try:
        descriptor = sys.stdin.fileno()
    except OSError:  # a program has replaced `sys.stdin`
        return sys.stdin.buffer.read()
    return read_descriptor(descriptor, name, most)


def read_user_file(path: str | os.PathLike[str], expected: str) -> bytes:
    """Read a small file that a user writes by hand (a cache policy, a set of templates), as UTF-8.
    Raises InputFault, with `expected`, if it cannot be read."""
    try:
        with open_user_file(path, expected) as file:
            return as_utf8(file.read())
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        why = getattr(error, "strerror", None) or "it cannot be read"
        raise InputFault(why, where=str(path), expected=expected) from error


def read_user_text(path: str | os.PathLike[str], expected: str) -> str:
    """Read a user's file as text, with every line end as `\n`. Raises InputFault."""
    text = decode(read_user_file(path, expected), str(path))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def user_text(data: bytes | str, where: str, most_bytes: int) -> str:
    """Return the text of a file or an editor. Raises InputFault above `most_bytes`, or if it is not
    UTF-8."""
    if len(data) > most_bytes:
        expected = f"{most_bytes:,} bytes at most"
        raise InputFault("the file is too long", where=where, expected=expected)
    return data if isinstance(data, str) else decode(data, where)


def as_utf8(data: bytes) -> bytes:
    """Convert UTF-16, as Windows writes it, to UTF-8; the first two bytes show UTF-16. Return other
    bytes, and bytes that cannot be converted, unchanged: a later check reports them."""
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) and not data.startswith(BOM_UTF32_LE):
        with suppress(UnicodeDecodeError):
            return data.decode("utf-16").encode()
    return data


def decode(data: bytes, where: str, line: int | None = None) -> str:
    """Decode UTF-8 and remove a BOM. Raises InputFault with the line of the first bad byte.

    `line` is the line on which the data begins, if it is part of a larger file.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + (line or 1)
        raise InputFault(
            f"byte {data[error.start]:#04x} is not UTF-8",
            where=where,
            line=number,
            expected="UTF-8",
        ) from error
