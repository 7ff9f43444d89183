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
from itertools import count, zip_longest
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self, cast

from playground.errors import InputFault

_NUMBERS: Final = count(1)
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


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Another name beside `path`, for a library that writes files itself; on leaving without an
    error what lies there is brought to the disk and takes the name, in the place of what had it.

    For folders that are ours alone. Raises InputFault where the disk is full or refuses.
    """
    with told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".playground-{os.getpid()}-{next(_NUMBERS)}.part")
        try:
            yield temporary
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        synced(path.parent)


class Batch:
    """Several files that come into being together: on leaving it without an error, or not at all.

    Until then they lie under other names beside their places. The parameters are `write_file`'s.
    """

    def __init__(
        self, *, inputs: Iterable[str | Path] = (), force: bool = False, ours: str = ""
    ) -> None:
        self._inputs, self._force, self._ours = list(inputs), force, ours
        self._waiting: list[tuple[Path, Path]] = []  # where a file lies, where it is to stand
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
                self._rename_all()
        finally:
            for temporary, _ in self._waiting:
                with suppress(OSError):
                    temporary.unlink()
            for folder in reversed(self._folders):
                with suppress(OSError):  # one that is not empty stays
                    folder.rmdir()

    @contextmanager
    def file(self, path: str | Path) -> Iterator[IO[str]]:
        """A file to write, whose name is taken when the batch ends. Raises InputFault."""
        with told(path):
            if is_special(path):
                with _special(Path(path)) as file:
                    yield file
                return
            place = Path(os.path.realpath(path))  # a link stays a link: its target is written
            found = _standing(place)
            self.check(path)
            self._folder(place.parent)
            temporary = place.with_name(f".playground-{os.getpid()}-{next(_NUMBERS)}.part")
            self._waiting.append((temporary, place))
            mode = stat.S_IMODE(found.st_mode) if found else 0o666
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                if found:
                    with suppress(OSError):  # also what the umask took away, where modes are kept
                        os.fchmod(handle, mode)
                yield file
                file.flush()
                os.fsync(handle)

    def check(self, path: str | Path) -> None:
        """Raises InputFault where this file may not be written, before it costs anything."""
        with told(path):
            for given in self._inputs:
                if _is_or_holds(Path(given), Path(path)):
                    raise InputFault(
                        f"this is the file that is being read ({given})",
                        where=str(path),
                        expected="another file to write to",
                    )
            place = Path(os.path.realpath(path))
            if self._force or is_special(path) or _standing(place) is None:
                return
            if any(place == other for _, other in self._waiting):
                return
            if not self._ours or self._ours not in _head(place):
                raise InputFault("this file exists already", where=str(path), expected=_FORCE)

    def _folder(self, folder: Path) -> None:
        missing = [folder, *folder.parents]
        self._folders += [each for each in reversed(missing) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)

    def _rename_all(self) -> None:
        """Give all files their names; where one fails, those before it are taken back."""
        done: list[tuple[Path, Path | None]] = []
        befores: list[Path | None] = []
        try:
            for _, place in self._waiting if len(self._waiting) > 1 else ():
                with told(place):
                    befores.append(_before(place))
            replace = self._force or bool(self._ours)
            for (temporary, place), before in zip_longest(self._waiting, befores):
                with told(place):
                    _named(temporary, place, replace=replace)
                    done.append((place, before))
        except BaseException:
            for place, before in reversed(done):
                try:
                    before.replace(place) if before else place.unlink(missing_ok=True)
                except OSError:
                    befores.remove(before)  # what was there stays under this name
            raise
        finally:
            for before in filter(None, befores):
                before.unlink(missing_ok=True)
        for folder in {place.parent for _, place in self._waiting}:
            synced(folder)
        self._waiting.clear()
        self._folders.clear()


def is_special(path: str | Path) -> bool:
    """Whether something stands there that is no file: a device, a pipe, `/dev/stdout`, a folder.

    The name itself is asked: what `/dev/stdout` links to has none where it is a pipe.
    """
    found = _standing(Path(path))
    return found is not None and not stat.S_ISREG(found.st_mode)


@contextmanager
def told(path: str | Path, *, reading: bool = False) -> Iterator[None]:
    """What the system refuses within becomes an InputFault: one line that names the file."""
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
    return "a file that can be written"


def _standing(place: Path) -> os.stat_result | None:
    try:
        return place.stat()
    except FileNotFoundError:
        return None


def _head(place: Path) -> str:
    with place.open("rb") as file:
        return file.read(_HEAD).decode("utf-8", "replace")


def _is_or_holds(given: Path, path: Path) -> bool:
    """Whether a file is what is read, by whatever name, or lies in the folder that is read."""
    if str(given) == _STANDARD_INPUT:
        return _is_standard_input(path)
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
    """A device or a pipe, which no rename can replace; one that nobody reads is not waited for."""
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    handle = os.open(place, os.O_WRONLY | os.O_NONBLOCK)
    os.set_blocking(handle, True)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        yield file


def _named(temporary: Path, place: Path, *, replace: bool) -> None:
    """Give a file its name; without `replace`, one that came there in the meantime is refused."""
    if not replace:
        if _linked(temporary, place):
            temporary.unlink()
            return
        os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL))  # the name is ours now
    temporary.replace(place)


def _before(place: Path) -> Path | None:
    """A file that is about to be replaced under another name, so that it can be put back: a second
    name of it or, where there are none (FAT, some network file systems), a copy. None where no
    file is there."""
    if not place.exists():
        return None
    before = place.with_name(f".playground-{os.getpid()}-{next(_NUMBERS)}.before")
    if not _linked(place, before):
        try:
            shutil.copy2(place, before)
        except BaseException:
            before.unlink(missing_ok=True)
            raise
    return before


def _linked(file: Path, name: Path) -> bool:
    """Give a file a second name; False where the file system cannot. Raises FileExistsError."""
    try:
        os.link(file, name)
    except FileExistsError:
        raise
    except OSError:
        return False
    return True
