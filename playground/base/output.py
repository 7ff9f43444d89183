"""The writing of files: completely or not at all, and never over a file that is being read.

All code of the project writes files through this module. A file is written under another name in
the same folder, synced to the disk, and then renamed: a full disk, a crash or Ctrl-C leaves the old
file as it was. Only a recording grows at its own place (`recordings/append_only_file.py`).
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
FOLDER: Final = ".folder"  # of a temporary folder; the `.part` file beside it is locked
_OPEN: Final = 100  # the first files of a batch stay open, and thus locked, until all are renamed
_TRIES: Final = 1_000  # to create a file, because another program may remove its folder meanwhile
# Errors of a file system without hard links.
_NO_LINKS: Final = {
    errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK,
    errno.EINVAL, errno.EXDEV,
}  # fmt: skip
_FORCE: Final = "another name, or --force"
_STANDARD_INPUT: Final = "-"
_HEAD: Final = 4096  # the first bytes of a file, where `ours` is searched for


def write_file(
    path: str | Path,
    text: str,
    *,
    inputs: Iterable[str | Path] = (),
    force: bool = False,
    errors: str = "strict",
) -> None:
    """Write a text as UTF-8, its line ends unchanged; `errors` is that of `str.encode`.

    Raises InputFault if the file exists (`force` replaces it), if it is one of `inputs` (even by a
    link), if the disk is full, or if the folder cannot be written.
    """
    with Batch(inputs=inputs, force=force) as batch, batch.file(path) as file:
        if errors != "strict":
            cast(TextIOWrapper, file).reconfigure(errors=errors)
        file.write(text)


def create_beside(
    place: Path, ending: str = _PART, mode: int = 0o666, flags: int = 0
) -> tuple[Path, int]:
    """Create a file with a new name in the folder of `place`, which is made if it is missing.
    Return its path and its handle. If the system has locks, the open handle locks the file.

    `ending` ends its name; `mode` and `flags` are those of `os.open`. Raises OSError.
    """
    for tries in range(_TRIES):
        try:
            return _try_to_create(place, ending, mode, flags)
        except FileNotFoundError:
            if tries == _TRIES - 1:
                raise
            place.parent.mkdir(parents=True, exist_ok=True)
    raise AssertionError  # the last try returns or raises


def _try_to_create(place: Path, ending: str, mode: int, flags: int) -> tuple[Path, int]:
    while True:
        path = place.with_name(f"{_PREFIX}{token_hex(8)}{ending}")
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | flags, mode)
        except FileExistsError:
            continue
        is_ours = True
        with suppress(OSError):  # without locks, `remove_leftovers` removes nothing
            is_ours = try_lock(handle)
        if is_ours and os.fstat(handle).st_nlink:
            return path, handle
        os.close(handle)  # another program is removing it as a leftover


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of killed programs from a folder and all its subfolders.

    A locked file belongs to a running program and stays. If the file system has no locks, all files
    stay.
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
                shutil.rmtree(path.with_suffix(FOLDER), ignore_errors=True)
                path.unlink()
        finally:
            os.close(handle)


class FileDraft:
    """A file that is written under a temporary name, in the folder of its final place."""

    def __init__(self, place: Path, mode: int = 0o666) -> None:
        self.place = place
        self.path, self.handle = create_beside(place, mode=mode)
        self._identity: tuple[int, ...] = ()

    def sync(self, *, keep_open: bool) -> None:
        """Sync the file to the disk. With `keep_open` it stays open, and so locked."""
        os.fsync(self.handle)
        self._identity = _identity(os.fstat(self.handle))
        if not keep_open or not CAN_LOCK:  # Windows cannot rename an open file
            self._close()

    def take_place(self, *, replace: bool) -> None:
        """Rename the file to its place. Without `replace`, raises OSError if a file is there."""
        if replace:
            self.path.replace(self.place)
        elif _make_hard_link(self.path, self.place):
            self.path.unlink(missing_ok=True)
        else:
            _take_free_place(self.path, self.place)

    def give_back(self, previous: Path | None) -> None:
        """Undo `take_place` unless the file has changed since; `previous` is the replaced file."""
        existing = _stat_or_none(self.place)
        if existing is not None and _identity(existing) != self._identity:
            return
        if previous is not None:
            previous.replace(self.place)
        else:
            self.place.unlink(missing_ok=True)

    def discard(self) -> None:
        """Close the file, and remove it if it still has its temporary name."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        self._close()

    def _close(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1


class Batch:
    """Several files that are written together: all of them when the block ends without an error, or
    none.

    Until then they have temporary names. `inputs` and `force` are those of `write_file`. `ours` is
    a text that this program writes into its files: a file with it in its first 4 kB is replaced.
    """

    def __init__(
        self, *, inputs: Iterable[str | Path] = (), force: bool = False, ours: str = ""
    ) -> None:
        self._inputs, self._force, self._ours = list(inputs), force, ours
        self._waiting: list[FileDraft] = []  # in the order of renaming
        self._folders: list[Path] = []  # folders that the batch has made, outermost first

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
                self._rename_all()
        finally:
            for draft in self._waiting:
                draft.discard()
            for folder in reversed(self._folders):
                with suppress(OSError):  # a folder that is not empty stays
                    folder.rmdir()

    @contextmanager
    def file(self, path: str | Path) -> Iterator[IO[str]]:
        """Yield a file to write, which is renamed at the end of the batch (a device is written at
        once). Raises InputFault if it may not or cannot be written."""
        with faults_naming(path):
            if is_special(path):
                with _special(Path(path)) as file:
                    yield file
                return
            place = Path(os.path.realpath(path))  # the target of a link is replaced
            existing = _stat_or_none(place)
            self.check(path)
            self._make_folders(place.parent)
            mode = stat.S_IMODE(existing.st_mode) if existing else 0o666
            draft = FileDraft(place, mode)
            self._waiting.append(draft)
            with open(draft.handle, "w", encoding="utf-8", newline="\n", closefd=False) as file:
                if existing:
                    with suppress(OSError):  # the mode without the umask, if the system can
                        os.fchmod(draft.handle, mode)
                yield file
                file.flush()
            draft.sync(keep_open=len(self._waiting) <= _OPEN)

    def check(self, path: str | Path) -> None:
        """Raise InputFault if this file may not be written, before any work is done for it."""
        with faults_naming(path):
            for input_path in self._inputs:
                if _is_or_holds(input_path, Path(path)):
                    raise InputFault(
                        f"this is the file that is being read ({input_path})",
                        where=str(path),
                        expected="another file to write to",
                    )
            place = Path(os.path.realpath(path))
            if self._force or is_special(path) or _stat_or_none(place) is None:
                return
            if any(place == draft.place for draft in self._waiting):
                return
            if not self._ours or self._ours not in _head(place):
                raise InputFault("this file exists already", where=str(path), expected=_FORCE)

    def _make_folders(self, folder: Path) -> None:
        for parent in reversed([folder, *folder.parents]):
            if not parent.exists():
                with suppress(FileExistsError):  # another program has just made it
                    parent.mkdir()
                    self._folders.append(parent)

    def _rename_all(self) -> None:
        """Rename all files to their places. If one fails, undo those before it."""
        kept_files: dict[FileDraft, Path] = {}
        renamed: list[FileDraft] = []
        try:
            for draft in self._waiting if len(self._waiting) > 1 else ():
                with faults_naming(draft.place):
                    if (kept_file := _second_name(draft.place)) is not None:
                        kept_files[draft] = kept_file
            for draft in self._waiting:
                with faults_naming(draft.place):
                    draft.take_place(replace=self._force or bool(self._ours))
                    renamed.append(draft)
        except BaseException:
            for draft in reversed(renamed):
                try:
                    draft.give_back(kept_files.get(draft))
                except OSError:
                    kept_files.pop(draft, None)  # the old file keeps its temporary name
            raise
        finally:
            for kept_file in kept_files.values():
                kept_file.unlink(missing_ok=True)
        for folder in {draft.place.parent for draft in self._waiting}:
            sync_folder(folder)
        self._folders.clear()


def is_special(path: str | Path) -> bool:
    """Return True if the path exists and is no regular file: a device, a pipe or a folder.

    The path is not resolved first, because the target of `/dev/stdout` has no path if it is a pipe.
    """
    existing = _stat_or_none(Path(path))
    return existing is not None and not stat.S_ISREG(existing.st_mode)


@contextmanager
def faults_naming(path: str | Path, *, reading: bool = False) -> Iterator[None]:
    """Turn a system's error or a bad name in the block into an InputFault that names the file."""
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


def sync_folder(folder: Path) -> None:
    """Sync a folder, with the names of its files, to the disk, if the system can."""
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
    if error.errno == errno.EAGAIN:  # another program holds its lock
        return "another try, when that has ended"
    return "a file that can be written"


def _stat_or_none(place: Path) -> os.stat_result | None:
    try:
        return place.stat()
    except FileNotFoundError:
        return None


def _head(place: Path) -> str:
    with place.open("rb") as file:
        return file.read(_HEAD).decode("utf-8", "replace")


def _is_or_holds(name: str | Path, path: Path) -> bool:
    """Return True if `path` is the input file `name`, perhaps under another name, or a file in the
    input folder `name`."""
    if str(name) == _STANDARD_INPUT:
        return _is_standard_input(path)
    input_path = named_file(os.fspath(name))
    if not path.exists() or not input_path.exists():
        return False
    if input_path.is_dir():
        return Path(os.path.realpath(input_path)) in Path(os.path.realpath(path)).parents
    return path.samefile(input_path)


def _is_standard_input(path: Path) -> bool:
    """Return True if a file is also standard input, as in `import - -o FILE < FILE`."""
    try:
        stdin = os.fstat(0)
        return stat.S_ISREG(stdin.st_mode) and os.path.samestat(stdin, path.stat())
    except OSError:  # no standard input, or no such file
        return False


@contextmanager
def _special(place: Path) -> Iterator[IO[str]]:
    """Open a device or a pipe, which no rename can replace. Does not wait for a reader."""
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    handle = os.open(place, os.O_WRONLY | os.O_NONBLOCK)
    os.set_blocking(handle, True)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        yield file


def _take_free_place(file: Path, place: Path) -> None:
    """Rename a file to a free name, on a file system without hard links. Raises OSError."""
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL)  # reserves the name
    reserved = _identity(os.fstat(handle))
    os.close(handle)
    try:
        file.replace(place)
    except BaseException:
        existing = _stat_or_none(place)
        if existing is not None and _identity(existing) == reserved:
            place.unlink()
        raise


def _identity(file: os.stat_result) -> tuple[int, ...]:
    """Return a key that no other file has, not even one that gets the same inode later."""
    return file.st_dev, file.st_ino, file.st_mtime_ns, file.st_size


def _second_name(place: Path) -> Path | None:
    """Give a second name to a file that will be replaced, and return that name; None if there is no
    file. It is a hard link, or a copy on systems without them (FAT, some network file systems)."""
    if not place.exists():
        return None
    kept_file = place.with_name(f"{_PREFIX}{token_hex(8)}.before")
    if _make_hard_link(place, kept_file):
        return kept_file
    kept_file, handle = create_beside(place, ".before")
    os.close(handle)
    try:
        shutil.copy2(place, kept_file)
    except BaseException:
        kept_file.unlink(missing_ok=True)
        raise
    return kept_file


def _make_hard_link(file: Path, name: Path) -> bool:
    """Make a hard link; return False if the file system cannot. Raises FileExistsError, and OSError
    for other errors of the disk."""
    try:
        os.link(file, name)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return False
    return True
