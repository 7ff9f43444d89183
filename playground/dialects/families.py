"""Group dialects by the form of their calls, and find those that a model writes.

No dialect is listed here, because the family is a field of a dialect's notation, and the models are
a field of the dialect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from playground.dialects import dialect_names, get_dialect
from playground.dialects.base import Dialect
from playground.dialects.declared import DeclaredDialect
from playground.dialects.models import dialect_for
from playground.parsing.notations import NOTATIONS

NATIVE: Final = "Native tool calls of the API"
OTHERS: Final = "Others"
_WRITTEN: Final = [notation.family for notation in NOTATIONS.values()]
_SOURCE: Final = re.compile(r"\([^)]*\)")  # in a text of `models`: a source, not a name


def family(dialect: Dialect) -> str:
    """Return the family of a dialect: the form in which it writes a call."""
    if dialect.is_native_toolcalling():
        return NATIVE
    return OTHERS if not isinstance(dialect, DeclaredDialect) else dialect.syntax.notation.family


def families(names: Iterable[str]) -> dict[str, list[str]]:
    """Return these names by family, without empty families; names keep their order."""
    groups: dict[str, list[str]] = {title: [] for title in (NATIVE, *_WRITTEN, OTHERS)}
    for name in names:
        groups[family(get_dialect(name))].append(name)
    return {title: members for title, members in groups.items() if members}


def spoken_by(model: str) -> list[str]:
    """Return the dialects for a model: its own first, then those whose name or models match.

    A part of a name is enough: `qwen` finds the dialects of all Qwen models.
    """
    words = _words(model.rpartition("/")[2])
    own_dialect = dialect_for(model.strip().replace(" ", "-")).dialect
    matching = [
        name
        for name in dialect_names()
        if words and words <= _words(f"{name} {_SOURCE.sub('', get_dialect(name).models)}")
    ]
    return list(dict.fromkeys([*([own_dialect] if own_dialect else []), *matching]))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+|\d+", text.lower()))
