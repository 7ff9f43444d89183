"""The inputs of the server's tools: JSON in a call's arguments, or files below allowed roots.

A file is only read as data, never executed. A path that leads out of every root, by `..` or by a
link, is refused.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playground.base import paths
from playground.base.errors import InputFault
from playground.sessions.loading import LoadedSession, first_session, source_of
from playground.sessions.source import Source

Given = dict[str, Any] | list[Any] | str


@dataclass(frozen=True)
class Roots:
    """The folders whose files may be read."""

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, folders: Sequence[str]) -> Roots:
        """Return the roots. Raises InputFault for a path that is not a folder."""
        for folder in folders:
            if not Path(folder).is_dir():
                raise InputFault("no such folder", where=f"--root {folder}", expected="a folder")
        return cls(tuple(Path(folder).resolve() for folder in folders or (".",)))

    def file(self, given: str) -> Path:
        """Return the path of a file or folder, with links followed. A relative path starts at the
        first root in which the file exists. Raises InputFault if there is no such file, or if it
        is not below a root."""
        allowed = " or ".join(map(str, self.folders))
        try:
            found = [Path(os.path.realpath(root / given)) for root in self.folders]
        except ValueError:  # raised for a null byte
            raise InputFault("the path holds a null byte", where=repr(given)) from None
        inside = [path for path in found if any(map(path.is_relative_to, self.folders))]
        if not inside:
            problem = "outside of the folders that may be read"
            raise InputFault(problem, where=given, expected=f"a path below {allowed} (see --root)")
        existing = next((path for path in inside if path.exists()), None)
        if existing is None:
            raise InputFault("no such file", where=given, expected=f"a file below {allowed}")
        return existing

    def name(self, path: str) -> str:
        """Return the path of a file, of one of its sessions (`FILE#2`), or of a sample."""
        if path in paths.samples():
            return str(paths.samples()[path])
        file, number = paths.one_of(path)
        return f"{self.file(file)}#{number}" if number else str(self.file(file))

    def source(self, path: str) -> Source:
        """Open a file, one of its sessions, or a sample. Raises InputFault."""
        return Source.open(self.name(path), path)

    def session(self, given: Given, argument: str) -> LoadedSession:
        """Load a session from JSON, or the first session of a file. Raises InputFault."""
        if not given:
            expected = "a session, or a file's path"
            raise InputFault("nothing is given", field=argument, expected=expected)
        return first_session(self.source(given) if isinstance(given, str) else source_of(given))
