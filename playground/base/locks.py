"""Locks between programs: an open file is locked, and the lock ends with the program that holds it.

A lock file has a note that names its holder, for programs that wait. The note proves nothing: only
the lock does.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import Final

from playground.base.waits import SOON, tell_wait

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

CAN_LOCK: Final = fcntl is not None
PATIENCE: Final = 2.0  # seconds to wait for one holder if the wait cannot be reported
_OTHER: Final = "another program"
_NOTE: Final = re.compile(r"process \d+ on [^\x00-\x1f]{1,200}")
_LONGEST_NOTE: Final = 1024
_NOTE_TRIES: Final = 100
_PYTHON: Final = re.compile(r"python[\d.]*")
_PROGRAM: Final = re.compile(r"\w[\w.+-]{0,60}")
_WORD: Final = re.compile(r"[a-z][a-z-]{0,30}")
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05  # seconds between two tries
_THREADS: Final = threading.Lock()  # used instead where files cannot be locked


def try_lock(handle: int) -> bool:
    """Lock an open file. Return False if its lock is held, usually by another program. Where files
    cannot be locked (Windows), do nothing and return True.

    Raises OSError if the file system has no locks.
    """
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def lock_soon(handle: int) -> bool:
    """Lock an open file as `try_lock` does, but try several times, because a program that only
    tests the lock holds it for a moment.

    Raises OSError if the file system has no locks.
    """
    end, pause = time.monotonic() + SOON / 2, _SHORTEST_PAUSE
    while not try_lock(handle):
        if time.monotonic() > end:
            return False
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    return True


def open_lock(place: Path, mode: int) -> int:
    """Open a lock file, made if it is missing, and return its handle.

    Raises OSError, and FileExistsError if the name is taken by something else: a link, or a file
    with other text than a holder's note.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    try:
        handle = os.open(place, flags, mode)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise FileExistsError(errno.EEXIST, "this is a link, not a lock file") from error
    if not _is_lock(os.read(handle, _LONGEST_NOTE)):
        os.close(handle)
        raise FileExistsError(errno.EEXIST, "this has a lock file's name, but is not a lock file")
    return handle


def _is_lock(head: bytes) -> bool:
    return not head or bool(_NOTE.fullmatch(head.decode("utf-8", "replace").rstrip("\n")))


@contextmanager
def lock_file(place: Path) -> Iterator[None]:
    """Hold the lock of a lock file, which is created if it is missing.

    On Windows, the lock keeps out only threads. While another program holds the lock, wait, and
    soon report which one. If nobody listens for reports, raises BlockingIOError once the same
    program has held it for PATIENCE seconds. Raises OSError if the file cannot be made or locked.
    """
    handle = open_lock(place, 0o600)
    try:
        if CAN_LOCK:
            _wait(handle, place)
            write_holder(handle)
            yield
        else:
            with _THREADS:
                yield
    finally:
        os.close(handle)


def _wait(handle: int, place: Path) -> None:
    is_reported, start, pause = False, time.monotonic(), _SHORTEST_PAUSE
    note_time = _note_time(handle)
    while not try_lock(handle):
        if note_time != (note_time := _note_time(handle)):  # the holder has changed
            start = time.monotonic()
        waited = time.monotonic() - start
        if not is_reported and waited > SOON:
            is_reported = tell_wait(f"waiting for {place}, which is held by {holder_of(handle)}")
        if not is_reported and waited > PATIENCE:
            raise BlockingIOError(errno.EAGAIN, f"it is held by {holder_of(handle)}")
        time.sleep(pause)
        pause = min(1.5 * pause, _LONGEST_PAUSE)


def _note_time(handle: int) -> int:
    """Return the time at which the note in a lock file was written."""
    return os.fstat(handle).st_mtime_ns


def holder_note() -> str:
    """Return the note that this program writes into a lock that it holds."""
    name = command_of(sys.argv)
    return f"process {os.getpid()} on {socket.gethostname()}{f' ({name})' if name else ''}"


def note_of(text: str) -> str:
    """Return the holder's note from a lock file's text, or "another program"."""
    match = _NOTE.search(text)
    return match[0] if match else _OTHER


def write_holder(handle: int) -> None:
    """Write a note into a lock file: this program holds the lock."""
    with suppress(OSError):  # on a full disk the lock holds without a note
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{holder_note()}\n".encode("utf-8", "replace"), 0)


def holder_of(handle: int) -> str:
    """Return the holder of an open file's lock, in words, as far as it is known: from the note in a
    lock file, or from this machine's list of locks."""
    with suppress(OSError, UnicodeDecodeError):
        for _ in range(_NOTE_TRIES):  # a new holder writes its note after it has the lock
            text = os.pread(handle, 400, 0).decode()
            if note := _NOTE.match(text):
                return note[0]
            if text:
                break
            time.sleep(_SHORTEST_PAUSE)
    with suppress(OSError, ValueError, LookupError):  # there is no such list, or no such process
        return _listed_holder(os.fstat(handle))
    return _OTHER


def _listed_holder(file: os.stat_result) -> str:
    """Return the holder of a lock from Linux's list. Raises LookupError if it is not there."""
    device = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}:{file.st_ino}"
    for line in Path("/proc/locks").read_text("ascii").splitlines():
        # 3: FLOCK  ADVISORY  WRITE 4711 fe:00:655397 0 EOF; a waiting process has `->` before FLOCK
        _, kind, *_, process, place, _start, _stop = line.split()
        if kind == "FLOCK" and place == device and int(process) > 0:
            command = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
            name = command_of([word.decode("utf-8", "replace") for word in command])
            return f"process {process}{f' ({name})' if name else ''}"
    raise LookupError(device)


def command_of(arguments: Sequence[str]) -> str:
    """Return a program's name and its command (`playground corpus`), without further arguments,
    which may contain a key. Return "" if the name is unusual."""
    words = list(arguments)
    if words and _PYTHON.fullmatch(Path(words[0]).name):
        words = ["python"] if "-c" in words else [word for word in words[1:] if word[:1] != "-"]
    if not words:
        return ""
    program = Path(words[0])
    name = program.parent.name if program.name == "__main__.py" else program.name
    command = takewhile(_WORD.fullmatch, words[1:2])
    return " ".join([name, *command]) if _PROGRAM.fullmatch(name) else ""
