"""Regular expressions of a declaration's markers, for a response template of transformers.

In transformers, Python's `regex` module reads these patterns; `.` also matches line breaks. White
space is optional in the same places as in the well-formed grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from playground.parsing.patterns import NO_NAME, Gap, well_formed
from playground.parsing.template import Hole, Piece

ANYTHING: Final = rf"[^{NO_NAME}]+"  # characters of a name or a key
JSON_STRING: Final = r'"(?:[^"\\]|\\.)*"'
PYTHON_STRING: Final = rf"{JSON_STRING}|'(?:[^'\\]|\\.)*'"
LINE_BREAK: Final = r"(?:[ \t]*\r?\n)?"
_SPECIAL: Final = re.compile(r"[\\.^$*+?{}\[\]|()]")
_HOLES: Final = {"index": r"\d+", "number": r"\d+", "word": r"[\w+#.\-]*"}


def group(name: str, pattern: str = ANYTHING) -> str:
    return f"(?P<{name}>{pattern})"


def escape(text: str) -> str:
    """Escape only characters that are special in a pattern, so that the pattern stays readable."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def pattern_of(pieces: Iterable[Piece], holes: Mapping[str, str] | None = None) -> str:
    """Return the pattern of the pieces, without white space around them. `holes` maps a hole to its
    pattern, if the hole is captured or is a back reference."""
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
    """Return a pattern that matches any of the patterns; "" if there are none. Longer patterns come
    first, because the first alternative that matches wins."""
    listed = sorted(dict.fromkeys(filter(None, patterns)), key=len, reverse=True)
    return f"(?:{'|'.join(listed)})" if listed[1:] else "".join(listed)


def has_marker(pieces: Iterable[Piece]) -> bool:
    """Return True if the pieces are a marker: they have a letter, or three characters or more."""
    text = "".join(piece for piece in pieces if isinstance(piece, str))
    return any(map(str.isalpha, text)) or len("".join(text.split())) > 2


def without_groups(pattern: str) -> str:
    """Return the pattern with its named groups made non-capturing."""
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


def end_of_body(opener: str, strings: str, brackets: str, closer: str) -> str:
    """Return a pattern that matches the end of a body in brackets: the closer after its last
    bracket, or, without a closer, the position after that bracket.

    A closer inside a string of the body does not match, because the brackets are still open there.
    """
    first, last = map(escape, brackets)
    other = rf"""[^{first}{last}"']"""
    body = rf"({first}(?:{other}|{strings}|(?1))*{last})"
    lookbehind = rf"(?<={without_groups(opener)}\s*{body}"
    return rf"{closer}{lookbehind}\s*{closer})" if closer else f"{lookbehind})"
