"""A browser tab's view of the workspace: the versions of entries that it shows, stored or not. If
another tab has changed an entry since this tab showed it, this tab's version is stored at once as a
copy, and a notice asks the user to choose. If the disk refuses, the entry stays in the tab's memory
until it can be stored.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, Protocol

from playground.base.errors import InputFault, UnknownNameError
from playground.sessions.workspaces.workspace import Workspace, free_names

_SHOWN: Final = "workspace shown"  # name → the entry's text here, its stored text, its fault
_NOTICE: Final = "workspace notice"  # this and _SHOWN are keys in the tab's memory


@dataclass(frozen=True)
class Notice:
    """A message to the user about an entry.

    "changed elsewhere": `name` was changed in another tab, and this tab's version is `other`; the
    user has to choose. "removed": `name` is in the trash under the name `other`.
    """

    kind: Literal["changed elsewhere", "removed"]
    name: str
    other: str


class Remembers(Protocol):
    """The mapping methods that both Streamlit's session state and a dict have."""

    def get(self, key: str, /) -> Any: ...

    def __setitem__(self, key: str, value: Any, /) -> None: ...


@dataclass(frozen=True)
class Tab:
    """A tab's view of a workspace; `memory` holds plain values and lasts as long as the tab."""

    memory: Remembers
    workspace: Workspace

    def names(self) -> list[str]:
        """Return the names of all sessions, stored or in this tab alone."""
        try:
            stored = self.workspace.names()
        except InputFault:
            stored = []
        return sorted({*stored, *(name for name in self._shown if self.fault(name))})

    def text(self, name: str) -> str | None:
        """Return the entry as this tab shows it; None if there is none."""
        if name not in self._shown:
            self.look(name)
        shown = self._shown.get(name)
        return shown["text"] if shown else None

    def first_line(self, name: str) -> str | None:
        """Return the first line of an entry's stored text, or of this tab's text if that could not
        be stored. Return None if there is no entry. Raises InputFault if it cannot be read."""
        if self.fault(name):
            return str(self._shown[name]["text"]).partition("\n")[0]
        return self.workspace.shelf.first_line(name)

    def look(self, name: str) -> None:
        """Update the shown entry to the stored text, at the start of a run of the app's script. An
        entry that could not be stored stays as it is."""
        if self.fault(name):
            return
        try:
            found = self.workspace.shelf.read(name)
        except InputFault:
            found = None
        self._show(name, found, found)

    def write(self, name: str, text: str) -> str:
        """Store the entry with this text. Return its name, a new one if the text became a copy."""
        shown = self._shown.get(name)
        before = shown["kept"] if shown else None
        try:
            if self.workspace.put(name, before, text):
                self._show(name, text, text)
                return name
            other = self.workspace.add(name, text)
        except InputFault as fault:
            self._show(name, text, before, str(fault))
            return name
        self._show(name, None, None)
        self._tell(Notice("changed elsewhere", name, other))
        return other

    def add(self, name: str, text: str) -> str:
        """Store a new entry under this name or the next free name, and return that name. If the
        same text is already stored under `name`, do nothing."""
        try:
            if self.workspace.shelf.read(name) == text:
                return name
            stored_name = self.workspace.add(name, text)
        except InputFault as fault:
            taken = self.names()
            stored_name = next(each for each in free_names(name) if each not in taken)
            self._show(stored_name, text, None, str(fault))
        else:
            self.look(stored_name)
        return stored_name

    def fault(self, name: str) -> str:
        """Return why the entry is not stored; "" if it is stored."""
        shown = self._shown.get(name)
        return str(shown["fault"]) if shown else ""

    def keep_again(self, name: str) -> str:
        """Try again to store an entry that the disk refused, and return its name."""
        shown = self._shown[name]
        return self.write(name, shown["text"])

    def rename(self, name: str, new: str) -> str:
        """Rename an entry, and return its name. Raises InputFault if the new name is used or
        invalid."""
        stored_name = self.workspace.rename(name, new)
        self._show(name, None, None)
        return stored_name

    def duplicate(self, name: str) -> str:
        """Copy the entry as this tab shows it, and return the copy's name."""
        return self.add(f"{name} copy", self.text(name) or self.workspace.text(name))

    def remove(self, name: str) -> None:
        """Store an entry if need be, and move it into the trash. Raises InputFault if it cannot."""
        if self.fault(name) and not self.workspace.put(
            name, self._shown[name]["kept"], self._shown[name]["text"]
        ):
            problem = f"{name!r} is not saved, and was changed elsewhere"
            raise InputFault(problem, expected="its text to be saved first")
        stored_name = self.workspace.remove(name)
        self._show(name, None, None)
        self._tell(Notice("removed", name, stored_name))

    def restore(self, trashed: str) -> str:
        """Move an entry out of the trash, and return its name."""
        self.forget_notice()
        return self.workspace.restore(trashed)

    # choices after a change in another tab

    def take_the_others(self) -> str:
        """Keep the other tab's version, return its name, and move this tab's into the trash."""
        notice = self._take_notice()
        self.workspace.remove(notice.other)
        self._show(notice.other, None, None)
        return notice.name

    def take_mine(self) -> str:
        """Keep this tab's version under the entry's name, and return that name; the version of the
        other tab goes into the trash."""
        notice = self._take_notice()
        with suppress(UnknownNameError):  # the other version was removed elsewhere
            self.workspace.remove(notice.name)
        self._show(notice.other, None, None)
        self._show(notice.name, None, None)
        return self.workspace.rename(notice.other, notice.name)

    def notice(self) -> Notice | None:
        """Return the notice for the user, if there is one."""
        found = self.memory.get(_NOTICE)
        return Notice(**found) if found else None

    def forget_notice(self) -> None:
        """Drop the notice; if it is about two versions of an entry, both stay."""
        self.memory[_NOTICE] = None

    def _take_notice(self) -> Notice:
        notice = self.notice()
        assert notice is not None and notice.kind == "changed elsewhere"
        self.forget_notice()
        return notice

    def _tell(self, notice: Notice) -> None:
        self.memory[_NOTICE] = asdict(notice)

    @property
    def _shown(self) -> dict[str, dict[str, Any]]:
        return self.memory.get(_SHOWN) or {}

    def _show(self, name: str, text: str | None, stored: str | None, fault: str = "") -> None:
        rest = {other: shown for other, shown in self._shown.items() if other != name}
        if text is not None:
            rest[name] = {"text": text, "kept": stored, "fault": fault}
        self.memory[_SHOWN] = rest
