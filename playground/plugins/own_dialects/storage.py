"""Store a user's own dialects in the workspace, where every command finds them.

As everywhere in the workspace, a file is replaced only by a writer that has read its current text.
"""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

from playground.base.errors import InputFault
from playground.base.output import faults_naming, write_file
from playground.dialects import dialect_names
from playground.dialects.files import dialect_text, parse_dialect
from playground.recordings.environment import environment_secrets
from playground.recordings.scrubbing import Tally, searcher
from playground.recordings.value_scrubbing import scrubbed_with
from playground.sessions.workspaces.dialects import dialect_file, is_kept, kept_text, text_of
from playground.sessions.workspaces.shelves import alone_in


def keep_dialect(
    document: dict[str, Any], seen: str | None = None, tally: Tally | None = None
) -> str:
    """Write a dialect's file without secrets, which `tally` counts, and return its text.

    `seen` is the text of the file to replace, or None for a new file. Raises InputFault if the
    document is not a dialect, another dialect has the name, the file's text is not `seen`, or the
    disk fails.
    """
    clean = scrubbed_with(searcher(tuple(environment_secrets())), document, tally)
    dialect = parse_dialect(json.dumps(clean), f"dialect {document.get('name')!r}")
    path = dialect_file(dialect.name)
    with faults_naming(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with alone_in(path.parent):
        if kept_text(dialect.name) != seen:
            problem = f"{path.name} was changed elsewhere, or another dialect is stored there"
            raise InputFault(problem, field="name", expected="another name")
        if seen is None and dialect.name in dialect_names():
            problem = f"another dialect is called {dialect.name!r} already"
            raise InputFault(problem, field="name", expected="another name")
        text = dialect_text(clean)
        write_file(path, text, force=True)
    return text


def remove_dialect(name: str, seen: str) -> None:
    """Move a dialect's file into the trash. Raises InputFault if the file's text is not `seen`, or
    if the disk fails."""
    path = dialect_file(name)
    clash = InputFault(f"{path.name} was changed or removed elsewhere", expected="the text as read")
    if not is_kept(name):  # the folder may be missing, too
        raise clash
    with alone_in(path.parent):
        if kept_text(name) != seen:
            raise clash
        trashed = _trashed(path)
        with faults_naming(path):
            trashed.parent.mkdir(exist_ok=True, mode=0o700)
            if trashed.exists():  # an earlier dialect of this name gets a number in the trash
                trashed.replace(_free_name(trashed))
            path.replace(trashed)


def restore_dialect(name: str) -> str:
    """Move a dialect's file back from the trash, and return its text.

    Raises InputFault if the trash has no such file, another dialect has the name, or the disk
    fails.
    """
    path = dialect_file(name)
    with alone_in(path.parent):
        if name in dialect_names() or is_kept(name):
            problem = f"another dialect is called {name!r} already"
            raise InputFault(problem, expected="its removal, or a rename")
        with faults_naming(path):
            _trashed(path).replace(path)
        return text_of(path)


def _trashed(path: Path) -> Path:
    return path.parent / "trash" / path.name


def _free_name(path: Path) -> Path:
    numbered = (path.with_name(f"{path.stem} ({number}){path.suffix}") for number in count(2))
    return next(each for each in numbered if not each.exists())
