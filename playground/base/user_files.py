"""The one way in for files of the user's: whatever is named like one is opened here.

A file is opened; a pipe that somebody writes to is read to its end; everything else is refused in
one line: a pipe that nobody writes to would be waited for until morning, `/dev/zero` has no end at
all, and a tape would be wound back.

Standard input and a shell's `<(…)` have names, too (`/dev/stdin`, `/dev/fd/63`). Who gives such a
name means what this program holds open under its number, which is read as `-` is.
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

MOST_BYTES: Final = 64 * 1024 * 1024  # of what comes out of a pipe
_WRITER: Final = 1.0  # seconds: a writer that a shell is only just starting gets a moment
_PIECE: Final = 1 << 20
_OWN: Final = re.compile(r"/dev/(?:fd/(\d+)|stdin)|/proc/(?:self|thread-self)/fd/(\d+)")
_FILE: Final = "a file"
_KINDS: Final = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def open_user_file(path: str | os.PathLike[str], expected: str = _FILE) -> IO[bytes]:
    """Open what the user has named: a file, or all that comes out of a pipe, up to MOST_BYTES.

    Raises OSError if there is none that can be read, InputFault if it is neither.
    """
    if is_stream(Path(path).stat()):
        return io.BytesIO(read_stream(path, MOST_BYTES, expected))
    return open_regular_file(path, expected)


def open_regular_file(
    path: str | os.PathLike[str], expected: str = _FILE, *, buffering: int = -1
) -> IO[bytes]:
    """Open a file that has to be one: it is read more than once, or from any place in it.

    Raises OSError if it cannot be read, InputFault if it is no file.
    """
    check_regular_file(path, expected)
    return open(path, "rb", buffering=buffering, opener=_open_regular)


def check_regular_file(path: str | os.PathLike[str], expected: str = _FILE) -> None:
    """Raises InputFault if a pipe, a device or a socket is named, OSError if nothing is there."""
    if (kind := kind_of_stream(Path(path).stat())) is not None:
        raise no_file(path, kind, expected)


def no_file(path: str | os.PathLike[str], kind: str, expected: str = _FILE) -> InputFault:
    """Return the error for a pipe, a device or a socket."""
    return InputFault(f"{kind}, and no file", where=str(path), expected=expected)


def _open_regular(path: str, flags: int) -> int:
    """A file that was one when it was asked: it is not waited for, whatever it has become."""
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if (kind := kind_of_stream(os.fstat(handle))) is not None:
        os.close(handle)
        raise no_file(path, kind)
    return handle


def kind_of_stream(file: os.stat_result) -> str | None:
    """Return in words what this is, or None if it is a file or a folder."""
    return _KINDS.get(stat.S_IFMT(file.st_mode))


def is_stream(file: os.stat_result) -> bool:
    """Return True if this is something that can only be read from its start to its end."""
    return kind_of_stream(file) is not None


def read_stream(
    path: str | os.PathLike[str], most: int = MOST_BYTES, expected: str = _FILE
) -> bytes:
    """Read all that comes out of a pipe, up to `most` bytes.

    Raises InputFault if nothing ever would, if it does not end by then, and for a device that is
    not standard input; OSError if it cannot be read.
    """
    name = str(path)
    if (own := _OWN.fullmatch(name)) is not None:
        return _read_own(int(own[1] or own[2] or 0), name, most)
    kind = kind_of_stream(Path(path).stat())
    if kind == "a pipe":
        return _read_pipe(path, most, expected)
    if Path(path).samefile(os.devnull):  # as good as an empty file
        return b""
    raise no_file(path, kind or "a folder", expected)


def _read_own(number: int, name: str, most: int) -> bytes:
    """Read what this program holds open under a number."""
    if number == 0:
        return read_standard_input(name, most)
    descriptor = os.dup(number)
    try:
        return read_descriptor(descriptor, name, most)
    finally:
        os.close(descriptor)


def _read_pipe(path: str | os.PathLike[str], most: int, expected: str) -> bytes:
    """Read a pipe of the file system. Raises InputFault if nobody writes to it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        first = _first_piece(descriptor)
        if first == b"":
            raise InputFault("a pipe that nobody writes to", where=str(path), expected=expected)
        os.set_blocking(descriptor, True)
        return read_descriptor(descriptor, str(path), most, first or b"")
    finally:
        os.close(descriptor)


def _first_piece(descriptor: int) -> bytes | None:
    """Return the first bytes of a pipe; b"" if it has no writer, None if that has not written.

    Linux reports nothing of a pipe that never had a writer, and a hang-up without input of one
    whose writers left.
    """
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    found = poll.poll(_WRITER * 1000)
    if found and not found[0][1] & select.POLLIN:
        return b""
    try:
        return os.read(descriptor, _PIECE)
    except BlockingIOError:
        return None


def read_descriptor(descriptor: int, name: str, most: int, first: bytes = b"") -> bytes:
    """Read all that comes out of an open one, after what came `first`, up to `most` bytes. Raises
    InputFault beyond that."""
    if not first and _is_silent(descriptor):
        from playground.base.waits import tell_wait  # here: few files are waited for

        end = ", which Ctrl-D ends" if os.isatty(descriptor) else ""
        tell_wait(f"waiting for {name}{end}")
    pieces = [first]
    size = len(first)
    while piece := _next_piece(descriptor):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            limit = f"{most // 1024**2} MB"
            raise InputFault(f"more than {limit} came", where=name, expected=f"at most {limit}")
    return b"".join(pieces)


def _is_silent(descriptor: int) -> bool:
    """Return True if nothing comes for the time after which a wait is told."""
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
        except BlockingIOError:  # whoever shares it has made it so
            select.select([descriptor], [], [])


def read_standard_input(name: str = "standard input", most: int = MOST_BYTES) -> bytes:
    """Read all that is piped in. Raises InputFault if nothing can be, and beyond `most` bytes."""
    if sys.stdin is None:
        raise InputFault("closed", where=name, expected="a file, or something piped in")
    try:
        descriptor = sys.stdin.fileno()
    except OSError:  # somebody has put a stream of their own there
        return sys.stdin.buffer.read()
    return read_descriptor(descriptor, name, most)


def read_user_file(path: str | os.PathLike[str], expected: str) -> bytes:
    """The bytes of a small file that a user writes by hand (a cache policy, a set of templates).
    Raises InputFault, naming what is `expected`, where it cannot be read."""
    try:
        with open_user_file(path, expected) as file:
            return as_utf8(file.read())
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        why = getattr(error, "strerror", None) or "it cannot be read"
        raise InputFault(why, where=str(path), expected=expected) from error


def read_user_text(path: str | os.PathLike[str], expected: str) -> str:
    """The text of such a file, each of its line ends as `\n`. Raises InputFault."""
    text = decode(read_user_file(path, expected), str(path))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def user_text(data: bytes | str, where: str, most_bytes: int) -> str:
    """Return a file's text, or one from an editor. Raises InputFault where it is too long, or no
    UTF-8.
    """
    if len(data) > most_bytes:
        expected = f"{most_bytes:,} bytes at most"
        raise InputFault("the file is too long", where=where, expected=expected)
    return data if isinstance(data, str) else decode(data, where)


def as_utf8(data: bytes) -> bytes:
    """Return the same text in UTF-8 where it is UTF-16 by its first two bytes, as Windows writes
    it; what is wrong with it stays as it is, to be told.
    """
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) and not data.startswith(BOM_UTF32_LE):
        with suppress(UnicodeDecodeError):
            return data.decode("utf-16").encode()
    return data


def decode(data: bytes, where: str, line: int | None = None) -> str:
    """UTF-8 text, its BOM removed. Raises InputFault with the line of the first bad byte.

    `line` is where the data begins, for a piece of a larger file.
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
