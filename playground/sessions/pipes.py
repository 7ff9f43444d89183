"""What is named like a file and is none: pipes, devices, a terminal. They are read to an end.

A shell's `<(…)` is a pipe that somebody writes to; a pipe that nobody writes to would be waited for
until morning, and `/dev/zero` has no end at all.
"""

from __future__ import annotations

import os
import select
import stat
import sys
from pathlib import Path

from playground.errors import InputFault


def is_stream(file: os.stat_result) -> bool:
    """Whether this is something that can only be read from its start to its end."""
    return not (stat.S_ISREG(file.st_mode) or stat.S_ISDIR(file.st_mode))


def read_stream(path: Path, most: int) -> bytes:
    """All that comes out of it, up to `most` bytes. Raises InputFault where nothing ever would, or
    where it does not end by then; OSError where it cannot be read."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode) and _is_abandoned(descriptor):
            raise InputFault("a pipe that nobody writes to", where=str(path), expected="a file")
        os.set_blocking(descriptor, True)
        return read_descriptor(descriptor, str(path), most)
    finally:
        os.close(descriptor)


def _is_abandoned(descriptor: int) -> bool:
    """Whether no writer holds the pipe open. Linux reports nothing of one that never had a writer,
    and a hang-up without input of one whose writers left."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    found = poll.poll(1000)  # a writer that a shell is only just starting gets a moment
    if found:
        return not found[0][1] & select.POLLIN
    try:
        return os.read(descriptor, 1) == b""
    except BlockingIOError:  # a writer that is slow
        return False


def read_descriptor(descriptor: int, name: str, most: int) -> bytes:
    """All that comes out of an open one, up to `most` bytes. Raises InputFault beyond that."""
    pieces: list[bytes] = []
    size = 0
    while piece := os.read(descriptor, 1 << 20):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            limit = f"{most // 1024**2} MB"
            raise InputFault(f"more than {limit} came", where=name, expected=f"at most {limit}")
    return b"".join(pieces)


def read_standard_input(name: str, most: int) -> bytes:
    """All that is piped in. Raises InputFault where nothing can be, and beyond `most` bytes."""
    if sys.stdin is None:
        raise InputFault("closed", where=name, expected="a file, or something piped in")
    return read_descriptor(sys.stdin.fileno(), name, most)
