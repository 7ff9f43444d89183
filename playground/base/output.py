"""Files out: what is written is whole or not there, and never takes the place of what was read.

Every writer of the project comes through here. A file is written beside its place under another
name, brought to the disk, and then renamed, so that a full disk, a crash or Ctrl-C leaves the old
file as it was. Only a recording grows at its own place (`recordings/growing.py`).
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import IO, Final, Self, cast

from playground.base.errors import InputFault
from playground.base.locks import CAN_LOCK, try_lock
from playground.base.paths import named_file

_PREFIX: Final = ".playground-"
_PART: Final = ".part"
_FOLDER: Final = ".folder"  # beside a mark of the same name
_OPEN: Final = 100  # files of a batch that stay open, and so locked, until all are named
_TRIES: Final = 1_000  # at a folder that others make and take away
# A file system without second names; other refusals of one have another reason.
_NO_LINKS: Final = {
    errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK,
    errno.EINVAL, errno.EXDEV,
}  # fmt: skip
_FORCE: Final = "another name, or --force"
_STANDARD_INPUT: Final = "-"
_HEAD: Final = 4096  # bytes in which a mark of ours is looked for


def write_file(
    path: str | Path,
    text: str,
    *,
    inputs: Iterable[str | Path] = (),
    force: bool = False,
    ours: str = "",
    errors: str = "strict",
) -> None:
    """Write a text as UTF-8 with the line ends that it has; `errors` are those of `str.encode`.

    A file that is there is replaced with `force`, or where `ours` stands in its first 4 kB: a mark
    of what wrote it. Raises InputFault in one line where that is not so, where the file is one of
    `inputs` (by a link, too), and where the disk is full or the folder cannot be written.
    """
    with Batch(inputs=inputs, force=force, ours=ours) as batch, batch.file(path) as file:
        if errors != "strict":
            cast(TextIOWrapper, file).reconfigure(errors=errors)
        file.write(text)


def create_beside(
    place: Path, ending: str = _PART, mode: int = 0o666, flags: int = 0
) -> tuple[Path, int]:
    """Create a file under a name of its own beside `place`, in a folder that is made where it is
    missing: its path, and its handle, which holds its lock as long as it is open.

    Raises OSError.
    """
    for tries in range(_TRIES):
        try:
            return _created(place, ending, mode, flags)
        except FileNotFoundError:
            if tries == _TRIES - 1:
                raise
            place.parent.mkdir(parents=True, exist_ok=True)
    raise AssertionError  # the last try returns or raises


def _created(place: Path, ending: str, mode: int, flags: int) -> tuple[Path, int]:
    while True:
        path = place.with_name(f"{_PREFIX}{token_hex(8)}{ending}")
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | flags, mode)
        except FileExistsError:
            continue
        is_ours = True
        with suppress(OSError):  # a file system without locks: nobody can take it for a leftover
            is_ours = try_lock(handle)
        if is_ours and os.fstat(handle).st_nlink:
            return path, handle
        os.close(handle)  # whoever removes leftovers came between, and takes it away


def remove_leftovers(folder: Path) -> None:
    """Remove, in a folder and all below it, the temporary files of programs that were killed.

    Whose lock is held belongs to somebody who is alive, and stays; so does every file where the
    file system has no locks.
    """
    for inside, _, names in os.walk(folder) if CAN_LOCK else ():
        for name in names:
            if name.startswith(_PREFIX) and name.endswith(_PART):
                _remove_leftover(Path(inside, name))


def _remove_leftover(path: Path) -> None:
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            if try_lock(handle):
                shutil.rmtree(path.with_suffix(_FOLDER), ignore_errors=True)
                path.unlink()
        finally:
            os.close(handle)


class _Draft:
    """A file that is being written under a name of its own, beside the place that it will take."""

    def __init__(self, place: Path, mode: int = 0o666) -> None:
        self.place = place
        self.path, self.handle = create_beside(place, mode=mode)
        self._identity: tuple[int, ...] = ()

    def written(self, *, keep_open: bool) -> None:
        """Bring what was written to the disk. The lock is held while the file stays open."""
        os.fsync(self.handle)
        self._identity = _identity(os.fstat(self.handle))
        if not keep_open or not CAN_LOCK:  # Windows names no file that is open
            self._close()

    def take_place(self, *, replace: bool) -> None:
        """Take the place; without `replace`, a file that came there in the meantime is refused."""
        if replace:
            self.path.replace(self.place)
        elif _linked(self.path, self.place):
            self.path.unlink(missing_ok=True)
        else:
            _take_free_place(self.path, self.place)

    def give_back(self, before: Path | None) -> None:
        """Put back what stood at the place, unless somebody else has written there since."""
        found = _standing(self.place)
        if found is not None and _identity(found) != self._identity:
            return
        if before is not None:
            before.replace(self.place)
        else:
            self.place.unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove the file under its own name, if it is still there."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        self._close()

    def _close(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Another name beside `path`, for a library that writes files itself; on leaving without an
    error what lies there is brought to the disk and takes the name, in the place of what had it.

    For folders that are ours alone. Raises InputFault where the disk is full or refuses.
    """
    with faults_naming(path):
        draft = _Draft(path)
        try:
            yield draft.path
            with draft.path.open("rb") as file:  # which the library may have made anew
                os.fsync(file.fileno())
            draft.written(keep_open=True)
            draft.take_place(replace=True)
        finally:
            draft.discard()
        synced(path.parent)


@contextmanager
def scratch_file(folder: Path) -> Iterator[Path]:
    """A file of this program's own in a folder, which goes again. Raises InputFault."""
    with faults_naming(folder):
        draft = _Draft(folder / "scratch")
    try:
        yield draft.path
    finally:
        draft.discard()


class ScratchFolder:
    """The path of a folder of this program's own, for a library that makes it and writes there.

    It goes with `close`. What a killed program left is removed by `remove_leftovers`: a locked file
    beside the folder marks it as somebody's. Raises OSError if that cannot be made.
    """

    def __init__(self, parent: Path) -> None:
        self._mark = _Draft(parent / "scratch")
        self.path = self._mark.path.with_suffix(_FOLDER)

    def close(self) -> None:
        """Remove the folder and what is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._mark.discard()


class Batch:
    """Several files that come into being together: on leaving it without an error, or not at all.

    Until then they lie under other names beside their places. The parameters are `write_file`'s.
    """

    def __init__(
        self, *, inputs: Iterable[str | Path] = (), force: bool = False, ours: str = ""
    ) -> None:
        self._inputs, self._force, self._ours = list(inputs), force, ours
        self._waiting: list[_Draft] = []  # in the order in which they take their places
        self._folders: list[Path] = []  # made by us, outermost first

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._name_all()
        finally:
            for draft in self._waiting:
                draft.discard()
            for folder in reversed(self._folders):
                with suppress(OSError):  # one that is not empty stays
                    folder.rmdir()

    @contextmanager
    def file(self, path: str | Path) -> Iterator[IO[str]]:
        """Yield a file to write, whose name is taken when the batch ends. Raises InputFault."""
        with faults_naming(path):
            if is_special(path):
                with _special(Path(path)) as file:
                    yield file
                return
            place = Path(os.path.realpath(path))  # a link stays a link: its target is written
            found = _standing(place)
            self.check(path)
            self._make_folders(place.parent)
            mode = stat.S_IMODE(found.st_mode) if found else 0o666
            draft = _Draft(place, mode)
            self._waiting.append(draft)
            with open(draft.handle, "w", encoding="utf-8", newline="\n", closefd=False) as file:
                if found:
                    with suppress(OSError):  # also what the umask took away, where modes are kept
                        os.fchmod(draft.handle, mode)
                yield file
                file.flush()
            draft.written(keep_open=len(self._waiting) <= _OPEN)

    def check(self, path: str | Path) -> None:
        """Raises InputFault where this file may not be written, before it costs anything."""
        with faults_naming(path):
            for given in self._inputs:
                if _is_or_holds(given, Path(path)):
                    raise InputFault(
                        f"this is the file that is being read ({given})",
                        where=str(path),
                        expected="another file to write to",
                    )
            place = Path(os.path.realpath(path))
            if self._force or is_special(path) or _standing(place) is None:
                return
            if any(place == draft.place for draft in self._waiting):
                return
            if not self._ours or self._ours not in _head(place):
                raise InputFault("this file exists already", where=str(path), expected=_FORCE)

    def _make_folders(self, folder: Path) -> None:
        for each in reversed([folder, *folder.parents]):
            if not each.exists():
                with suppress(FileExistsError):  # another program has made it: it is not ours
                    each.mkdir()
                    self._folders.append(each)

    def _name_all(self) -> None:
        """Give all files their names; where one fails, those before it are taken back."""
        befores: dict[_Draft, Path] = {}
        done: list[_Draft] = []
        try:
            for draft in self._waiting if len(self._waiting) > 1 else ():
                with faults_naming(draft.place):
                    if (before := _second_name(draft.place)) is not None:
                        befores[draft] = before
            for draft in self._waiting:
                with faults_naming(draft.place):
                    draft.take_place(replace=self._force or bool(self._ours))
                    done.append(draft)
        except BaseException:
            for draft in reversed(done):
                try:
                    draft.give_back(befores.get(draft))
                except OSError:
                    befores.pop(draft, None)  # what was there stays under this name
            raise
        finally:
            for before in befores.values():
                before.unlink(missing_ok=True)
        for folder in {draft.place.parent for draft in self._waiting}:
            synced(folder)
        self._folders.clear()


def is_special(path: str | Path) -> bool:
    """Return True if the path is no file: a device, a pipe, `/dev/stdout`, a folder.

    The name itself is examined, because what `/dev/stdout` links to has no name if it is a pipe.
    """
    found = _standing(Path(path))
    return found is not None and not stat.S_ISREG(found.st_mode)


@contextmanager
def faults_naming(path: str | Path, *, reading: bool = False) -> Iterator[None]:
    """Turn an error of the system within into an InputFault: one line that names the file."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        expected = "a file that can be read" if reading else _expected(error)
        raise InputFault(reason, where=str(path), expected=expected) from error
    except ValueError as error:
        if "null" not in str(error):
            raise
        raise InputFault(str(error), where=str(path), expected="a file's name") from error


def synced(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _expected(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "room on the disk; the file that was there is unchanged"
    if error.errno == errno.EEXIST:
        return _FORCE
    if error.errno == errno.EAGAIN:  # somebody else holds its lock
        return "another try, when that has ended"
    return "a file that can be written"


def _standing(place: Path) -> os.stat_result | None:
    try:
        return place.stat()
    except FileNotFoundError:
        return None


def _head(place: Path) -> str:
    with place.open("rb") as file:
        return file.read(_HEAD).decode("utf-8", "replace")


def _is_or_holds(name: str | Path, path: Path) -> bool:
    """Return True if a file is an input, by whatever name, or lies in a folder that is one."""
    if str(name) == _STANDARD_INPUT:
        return _is_standard_input(path)
    given = named_file(os.fspath(name))
    if not path.exists() or not given.exists():
        return False
    if given.is_dir():
        return Path(os.path.realpath(given)) in Path(os.path.realpath(path)).parents
    return path.samefile(given)


def _is_standard_input(path: Path) -> bool:
    """`import - -o FILE < FILE`: a file that a shell has opened has no name, but is the same."""
    try:
        read = os.fstat(0)
        return stat.S_ISREG(read.st_mode) and os.path.samestat(read, path.stat())
    except OSError:  # nothing is there to be read, or nothing to be lost
        return False


@contextmanager
def _special(place: Path) -> Iterator[IO[str]]:
    """Yield a device or a pipe, which no rename can replace; one that nobody reads is not waited
    for.
    """
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    handle = os.open(place, os.O_WRONLY | os.O_NONBLOCK)
    os.set_blocking(handle, True)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        yield file


def _take_free_place(file: Path, place: Path) -> None:
    """Give a file a name that nobody has, where there are no second names. Raises OSError."""
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL)  # the name is ours now
    reserved = _identity(os.fstat(handle))
    os.close(handle)
    try:
        file.replace(place)
    except BaseException:
        found = _standing(place)
        if found is not None and _identity(found) == reserved:
            place.unlink()
        raise


def _identity(file: os.stat_result) -> tuple[int, ...]:
    """Return what tells one file from another, even from one that takes its number later."""
    return file.st_dev, file.st_ino, file.st_mtime_ns, file.st_size


def _second_name(place: Path) -> Path | None:
    """Return a file that is about to be replaced under another name, so that it can be put back: a
    second name of it or, where there are none (FAT, some network file systems), a copy. None where
    no file is there.
    """
    if not place.exists():
        return None
    before = place.with_name(f"{_PREFIX}{token_hex(8)}.before")
    if _linked(place, before):
        return before
    before, handle = create_beside(place, ".before")
    os.close(handle)
    try:
        shutil.copy2(place, before)
    except BaseException:
        before.unlink(missing_ok=True)
        raise
    return before


def _linked(file: Path, name: Path) -> bool:
    """Give a file a second name; False where the file system cannot. Raises FileExistsError, and
    OSError where the disk refuses."""
    try:
        os.link(file, name)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return False
    return True
