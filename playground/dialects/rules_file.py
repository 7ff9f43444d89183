"""Read rules from files, to replace dialects' own rules."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from playground.base.errors import InputFault
from playground.base.user_files import read_user_text

_EXPECTED: Final = (
    "a text file with the dialect's rules, or a folder with a NAME.md for each dialect"
)


@dataclass(frozen=True)
class FileRules:
    """Rules by dialect, and the path that they were read from.

    They are read once, because a pipe cannot be read again, and a file may change meanwhile.
    """

    path: str
    texts: Mapping[str, str]

    def of(self, dialect: str) -> str | None:
        """Return a dialect's rules, or None if its own are to be used."""
        return self.texts.get(dialect)


def read_rules(rules_path: str | os.PathLike[str], dialects: Iterable[str]) -> FileRules:
    """Read the rules for these dialects from a file, or from the `NAME.md` files of a folder.

    A folder may lack rules for some of them. Raises InputFault if a file cannot be read.
    """
    source = os.fspath(rules_path)
    if not source:  # Path("") would be the current folder
        raise InputFault("no rules: the name of their file is empty", expected=_EXPECTED)
    path = Path(source)
    if path.is_dir():
        files = {name: path / f"{name}.md" for name in dialects}
        texts = {n: read_user_text(f, _EXPECTED) for n, f in files.items() if f.exists()}
        return FileRules(source, texts)
    return FileRules(source, dict.fromkeys(dialects, read_user_text(path, _EXPECTED)))


def read_chosen_rules(rules_path: str | os.PathLike[str], dialects: Iterable[str]) -> FileRules:
    """Read rules for the dialects that the user chose.

    Raises InputFault, also if a folder has rules for none of them.
    """
    names = list(dialects)
    rules = read_rules(rules_path, names)
    if names and not rules.texts:
        file_names = [f"{name}.md" for name in names]
        examples = ", ".join(file_names[:3]) + (" …" if len(file_names) > 3 else "")
        raise InputFault("the folder has no rules", where=rules.path, expected=f"in it {examples}")
    return rules
