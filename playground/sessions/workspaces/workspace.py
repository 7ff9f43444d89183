"""The operations on a workspace: a swap or two each, so that a crash between them loses nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final

from playground.base import paths
from playground.base.errors import InputFault, UnknownNameError
from playground.sessions.entries import Entry, read_entry
from playground.sessions.workspaces.belongings import Belongings
from playground.sessions.workspaces.shelves import Folder, Shelf

_LONGEST: Final = 180  # bytes of a file's name, which most systems end at 255


@dataclass(frozen=True)
class Workspace:
    """Entries by name on one shelf, and those that were removed on another."""

    shelf: Shelf
    trash: Shelf

    def names(self) -> list[str]:
        """Return every session's name, in order. Raises InputFault if the folder cannot be read."""
        return self.shelf.names()

    def text(self, name: str) -> str:
        """Return an entry's text. Raises UnknownNameError."""
        found = self.shelf.read(name)
        if found is None:
            raise UnknownNameError("session", name, self.names())
        return found

    def entry(self, name: str) -> Entry:
        """Return an entry. Raises UnknownNameError, and InputFault where its file cannot be
        read.
        """
        return read_entry(self.text(name), name)

    def add(self, name: str, text: str) -> str:
        """Put an entry on the shelf under this name, or the next that is free: which one."""
        return _added(self.shelf, name, text)

    def put(self, name: str, before: str | None, after: str) -> bool:
        """Replace an entry by who has seen it as `before`; False where it is another by now."""
        return self.shelf.swap(name, before, after)

    def rename(self, name: str, new: str) -> str:
        """Give an entry another name: the one it has now. Raises InputFault where that is taken."""
        new, text = fitting(new), self.text(name)
        if new == name:
            return name
        if not self.shelf.swap(new, None, text):
            raise InputFault(f"there is a session {new!r} already", expected="a name of its own")
        self.shelf.swap(name, text, None)  # what changed meanwhile stays beside the new name
        return new

    def duplicate(self, name: str) -> str:
        """Return the same under a name of its own: which one."""
        return self.add(f"{name} copy", self.text(name))

    def remove(self, name: str) -> str:
        """Put an entry into the trash: its name there. Raises UnknownNameError."""
        text = self.text(name)
        there = _added(self.trash, name, text)
        if not self.shelf.swap(name, text, None):
            raise InputFault(f"{name!r} was changed elsewhere just now", expected="another try")
        return there

    def trashed(self) -> list[str]:
        """Return the names in the trash."""
        return self.trash.names()

    def restore(self, name: str) -> str:
        """Take an entry out of the trash: its name on the shelf. Raises UnknownNameError."""
        text = self.trash.read(name)
        if text is None:
            raise UnknownNameError("session in the trash", name, self.trashed())
        there = self.add(name, text)
        self.trash.swap(name, text, None)
        return there

    def empty(self) -> int:
        """Forget what is in the trash for good: how many there were."""
        names = self.trashed()
        for name in names:
            self.trash.swap(name, self.trash.read(name), None)
        return len(names)


def on_disk() -> Workspace:
    """Return the workspace of this machine's user."""
    return Workspace(Folder(paths.workspace()), Folder(paths.workspace() / "trash"))


def belongings_on_disk() -> Belongings:
    """Return everything else that is stored for this machine's user."""
    return Belongings(Folder(paths.workspace() / "own"))


def fitting(name: str) -> str:
    """Return the name as a file's name can hold it. Raises InputFault where nothing is left of
    it.
    """
    cleaned = " ".join(name.encode("utf-8", "replace").decode().split())
    while len(paths.file_of(cleaned).encode()) > _LONGEST:
        cleaned = cleaned[:-1].rstrip()
    if not cleaned:
        raise InputFault(f"{name!r} is no name", expected="at least one letter")
    return cleaned


def free_names(name: str) -> Iterator[str]:
    """Yield the name, and then the name with a number."""
    name = fitting(name)
    yield name
    for number in count(2):
        end = f" ({number})"
        room = _LONGEST - len(end.encode())
        while len(paths.file_of(name).encode()) > room:
            name = name[:-1]
        yield name + end


def _added(shelf: Shelf, name: str, text: str) -> str:
    for each in free_names(name):
        if shelf.swap(each, None, text):
            return each
    raise AssertionError  # there is always one more number
