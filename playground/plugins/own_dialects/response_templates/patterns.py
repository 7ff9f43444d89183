"""Regular expressions of a declaration's markers, for a response template of transformers.

Python's `regex` module reads them there, with `.` for line breaks too. White space is free in the
same places as in the well-formed grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from playground.parsing.patterns import NO_NAME, Gap, well_formed
from playground.parsing.template import Hole, Piece

ANYTHING: Final = rf"[^{NO_NAME}]+"
JSON_STRING: Final = r'"(?:[^"\\]|\\.)*"'
PYTHON_STRING: Final = rf"{JSON_STRING}|'(?:[^'\\]|\\.)*'"
LINE_BREAK: Final = r"(?:[ \t]*\r?\n)?"
_SPECIAL: Final = re.compile(r"[\\.^$*+?{}\[\]|()]")
_HOLES: Final = {"index": r"\d+", "number": r"\d+", "word": r"[\w+#.\-]*"}


def group(name: str, pattern: str = ANYTHING) -> str:
    return f"(?P<{name}>{pattern})"


def escape(text: str) -> str:
    """Escape what is special in a pattern, and nothing else: people read these patterns."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def pattern_of(pieces: Iterable[Piece], holes: Mapping[str, str] | None = None) -> str:
    """Build the pattern of pieces, without white space around them. `holes` has the patterns of
    holes that are captured or referred to."""
    patterns = {**_HOLES, **(holes or {})}
    parts = [_part(part, patterns) for part in well_formed(pieces)]
    return "".join(parts).removeprefix(r"\s*").removesuffix(r"\s*")


def _part(part: str | Hole | Gap, holes: Mapping[str, str]) -> str:
    match part:
        case Gap(least):
            return r"\s+" if least else r"\s*"
        case Hole(name):
            return holes.get(name, ANYTHING)
    return escape(part)


def any_of(patterns: Iterable[str]) -> str:
    """Build a pattern for any of the patterns, each once; "" for none. Longer ones come first, so
    that none hides another that begins with it."""
    listed = sorted(dict.fromkeys(filter(None, patterns)), key=len, reverse=True)
    return f"(?:{'|'.join(listed)})" if listed[1:] else "".join(listed)


def has_marker(pieces: Iterable[Piece]) -> bool:
    """Return True if pieces are a marker: with a letter, or of three characters or more."""
    text = "".join(piece for piece in pieces if isinstance(piece, str))
    return any(map(str.isalpha, text)) or len("".join(text.split())) > 2


def without_groups(pattern: str) -> str:
    """Return a pattern that captures nothing."""
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


def end_of_body(opener: str, strings: str, brackets: str, closer: str) -> str:
    """Build the pattern of the end of a body in brackets: its closer, or the place after the
    bracket.

    A closer inside a string ends nothing: the text between the opener and it is no complete body.
    """
    first, last = map(escape, brackets)
    other = rf"""[^{first}{last}"']"""
    body = rf"({first}(?:{other}|{strings}|(?1))*{last})"
    behind = rf"(?<={without_groups(opener)}\s*{body}"
    return rf"{closer}{behind}\s*{closer})" if closer else f"{behind})"
