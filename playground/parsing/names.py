"""The patterns of tools' names: of any tool, or only of the session's tools."""

from __future__ import annotations

import re
from typing import Final

from playground.parsing.declaration import Declaration
from playground.parsing.patterns import IDENTIFIER, name_before

# tags around calls in other dialects: they name no tool, unless the session has such a tool
_AROUND_CALLS: Final = "(?!(?:tool|function)_calls?>)"
NAME_SPACES: Final = ("functions", "tools", "default_api")  # models write these before a name


def name_of(syntax: Declaration, names: tuple[str, ...]) -> str:
    """Return the pattern of the name in a call of this syntax."""
    if not syntax.known_names:
        return name_before(syntax.call_template.before, "name")
    if not names:
        return f"{_AROUND_CALLS}{IDENTIFIER}"
    # the longest first: of `read` and `read_file` `read` would win
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return rf"(?:(?:{'|'.join(NAME_SPACES)})\.)?+(?:{known})"
