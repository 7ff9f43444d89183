"""The interface of importers: recognise a file, read its sessions, and state which parts are
kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar, NamedTuple

from playground.sessions.building import SessionBuilder
from playground.sessions.source import Source


class Keeps(NamedTuple):
    """The parts of a file that a session keeps, each "yes", "no" or a condition in words; `missing`
    says in words what else is lost."""

    tools: str = "no"
    times: str = "no"
    usage: str = "no"
    chunks: str = "no"
    missing: str = ""


class SessionFormat(ABC):
    """One format of session files, read as one session or several."""

    name: ClassVar[str]
    title: ClassVar[str]
    keeps: ClassVar[Keeps]
    session_per_line: ClassVar[bool] = False  # each line of a file is a session of its own
    # Paths of texts outside the conversation -> the reason why they are ignored. `*` is one step,
    # `**` several; a key that begins with `^` is a pattern of the text instead of the path.
    left_aside: ClassVar[Mapping[str, str]] = {}
    own: ClassVar[bool] = False  # True for our own formats, whose sessions may be empty

    @abstractmethod
    def recognises(self, source: Source) -> bool:
        """Return True if the file's head is of this format; may raise an error otherwise."""

    @abstractmethod
    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        """Yield the sessions of the file. Raises InputFault if it cannot be read."""
