"""The operations on a workspace. Their steps are ordered so that a crash loses nothing."""

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

_LONGEST: Final = 180  # bytes of a file's name; most systems allow 255


@dataclass(frozen=True)
class Workspace:
    """A shelf of entries by name, and a shelf of removed entries."""

    shelf: Shelf
    trash: Shelf

    def names(self) -> list[str]:
        """Return all names in order. Raises InputFault if the folder cannot be read."""
        return self.shelf.names()

    def text(self, name: str) -> str:
        """Return an entry's text. Raises UnknownNameError."""
        found = self.shelf.read(name)
        if found is None:
            raise UnknownNameError("session", name, self.names())
        return found

    def entry(self, name: str) -> Entry:
        """Return an entry. Raises UnknownNameError, and InputFault if it cannot be read."""
        return read_entry(self.text(name), name)

    def add(self, name: str, text: str) -> str:
        """Store an entry under this name or the next free name, and return that name."""
        return _add(self.shelf, name, text)

    def put(self, name: str, before: str | None, after: str) -> bool:
        """Replace an entry's text `before`; return False if the text has changed meanwhile."""
        return self.shelf.swap(name, before, after)

    def rename(self, name: str, new: str) -> str:
        """Rename an entry, return its name. Raises UnknownNameError; InputFault if `new` exists."""
        new, text = fitting(new), self.text(name)
        if new == name:
            return name
        if not self.shelf.swap(new, None, text):
            raise InputFault(f"there is a session {new!r} already", expected="a name of its own")
        self.shelf.swap(name, text, None)  # an entry changed meanwhile keeps its old name, too
        return new

    def duplicate(self, name: str) -> str:
        """Copy an entry, and return the copy's name."""
        return self.add(f"{name} copy", self.text(name))

    def remove(self, name: str) -> str:
        """Move an entry into the trash, and return its name there.

        Raises UnknownNameError, and InputFault if the entry was changed meanwhile.
        """
        text = self.text(name)
        stored_name = _add(self.trash, name, text)
        if not self.shelf.swap(name, text, None):
            raise InputFault(f"{name!r} was changed elsewhere just now", expected="another try")
        return stored_name

    def trashed(self) -> list[str]:
        return self.trash.names()

    def restore(self, name: str) -> str:
        """Move an entry out of the trash, and return its name. Raises UnknownNameError."""
        text = self.trash.read(name)
        if text is None:
            raise UnknownNameError("session in the trash", name, self.trashed())
        stored_name = self.add(name, text)
        self.trash.swap(name, text, None)
        return stored_name

    def empty(self) -> int:
        """Delete all entries in the trash, and return their number."""
        names = self.trashed()
        for name in names:
            self.trash.swap(name, self.trash.read(name), None)
        return len(names)


def on_disk() -> Workspace:
    """Return the workspace of this machine's user."""
    return Workspace(Folder(paths.workspace()), Folder(paths.workspace() / "trash"))


def belongings_on_disk() -> Belongings:
    """Return the shelf of other values of this machine's user."""
    return Belongings(Folder(paths.workspace() / "own"))


def fitting(name: str) -> str:
    """Return the name, shortened to fit a file's name. Raises InputFault for an empty name."""
    cleaned = " ".join(name.encode("utf-8", "replace").decode().split())
    while len(paths.file_of(cleaned).encode()) > _LONGEST:
        cleaned = cleaned[:-1].rstrip()
    if not cleaned:
        raise InputFault(f"{name!r} is not a name", expected="at least one letter")
    return cleaned


def free_names(name: str) -> Iterator[str]:
    """Yield the name, and then the name with ever higher numbers."""
    name = fitting(name)
    yield name
    for number in count(2):
        end = f" ({number})"
        room = _LONGEST - len(end.encode())
        while len(paths.file_of(name).encode()) > room:
            name = name[:-1]
        yield name + end


def _add(shelf: Shelf, name: str, text: str) -> str:
    for each in free_names(name):
        if shelf.swap(each, None, text):
            return each
    raise AssertionError  # never reached, since the numbers have no end
