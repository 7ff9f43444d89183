"""Read a dialect's rules from a file that replaces its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from playground.base.errors import InputFault
from playground.base.user_files import read_user_text

_EXPECTED: Final = "a text file with the dialect's rules, or a folder with one NAME.md a dialect"


@dataclass(frozen=True)
class GivenRules:
    """Rules by dialect, and where they come from.

    They are read once: a pipe gives them no second time, and a file may change during a trial.
    """

    path: str
    texts: Mapping[str, str]

    def of(self, dialect: str) -> str | None:
        """Return a dialect's rules, or None if its own are to be used."""
        return self.texts.get(dialect)


def read_rules(rules_path: str | os.PathLike[str], dialects: Iterable[str]) -> GivenRules:
    """Read the rules in a file, or those in a folder's `DIALECT.md`s, for these dialects.

    A folder may have none for one of them. Raises InputFault.
    """
    given = os.fspath(rules_path)
    if not given:  # it would be the folder that one stands in
        raise InputFault("no rules: the name of their file is empty", expected=_EXPECTED)
    path = Path(given)
    if path.is_dir():
        files = {name: path / f"{name}.md" for name in dialects}
        found = {n: read_user_text(f, _EXPECTED) for n, f in files.items() if f.exists()}
        return GivenRules(given, found)
    return GivenRules(given, dict.fromkeys(dialects, read_user_text(path, _EXPECTED)))


def chosen_rules(rules_path: str | os.PathLike[str], dialects: Iterable[str]) -> GivenRules:
    """Read rules for the dialects that somebody chose.

    Raises InputFault also if a folder has rules for none of them: nothing would be changed.
    """
    names = list(dialects)
    given = read_rules(rules_path, names)
    if names and not given.texts:
        wanted = [f"{name}.md" for name in names]
        few = ", ".join(wanted[:3]) + (" …" if len(wanted) > 3 else "")
        raise InputFault("the folder has no rules", where=given.path, expected=f"in it {few}")
    return given
