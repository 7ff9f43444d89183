"""JSON as models sometimes write it: single quotes, bare keys, comments, commas before a closer.

Read by putting it right token by token, in one pass, and only where strict JSON has failed.
"""

from __future__ import annotations

import re
from typing import Any, Final

from playground.json_numbers import load_json

_TOKEN: Final = re.compile(
    r"""(?P<double>"(?:[^"\\]|\\.)*+")|(?P<single>'(?:[^'\\]|\\.)*+')"""
    r"""|(?P<comment>(?<![^\s,{\[}\]"'])(?://[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/))"""
    r"""|(?P<bare>(?<=:)\s{0,64}+(?:[A-Za-z_$]|\d{4}-\d|[./~](?![/*]))"""
    r"""(?:[^\s,{}\[\]"']|[ \t](?=[\w.]))*+(?=\s{0,64}+[,}\]]))"""
    r"""|(?P<word>[A-Za-z_$][\w$\-]*+)|(?P<open>["']|/\*)|(?P<other>.)""",
    re.DOTALL,
)
_ESCAPED: Final = re.compile(r'\\.|"', re.DOTALL)
# escapes that JSON does not know: of a quote or a dollar, which shells need; a backslash before a
# line break, which joins the lines; any other is a backslash that should have been doubled
_FOREIGN: Final = re.compile(r"""\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}|(['$`])|(\r?\n)|)""")
_WORDS: Final = ("true", "false", "null", "NaN", "Infinity")
_CONSTANTS: Final = {"True": "true", "False": "false", "None": "null", "undefined": "null"}


def load(text: str) -> Any:
    """Read a value. Raises ValueError or RecursionError, as json.loads does."""
    return load_json(strict(text))


def strict(text: str) -> str:
    """The text with everything rewritten that JSON does not allow; whether it is JSON then, the
    reader decides. Raises ValueError where a string or a comment never ends."""
    pieces: list[str] = []
    comma = -1  # where in `pieces` a comma waits for something to follow it
    for match in _TOKEN.finditer(text):
        token, kind = match[0], match.lastgroup
        if kind == "open":  # looked for once: every further look would be as long
            raise ValueError(f"{token} at character {match.start()} is never closed")
        if kind == "comment":
            continue
        if kind == "single":
            token = '"' + _ESCAPED.sub(_requoted, token[1:-1]) + '"'
        if kind in ("single", "double") and "\\" in token:
            token = _FOREIGN.sub(_escape, token)
        elif kind == "bare":
            token = _bare(token)
        elif kind == "word":
            token = _word(token, text, match.end())
        if token in ("}", "]") and comma >= 0:
            pieces[comma] = ""
        if not token.isspace():
            comma = len(pieces) if token == "," else -1
        pieces.append(token)
    return "".join(pieces)


def _requoted(match: re.Match[str]) -> str:
    return {'"': '\\"', "\\'": "'"}.get(match[0], match[0])


def _escape(match: re.Match[str]) -> str:
    if match[0] == "\\":
        return "\\\\"
    return "" if match[2] else match[1] or match[0]


def _bare(token: str) -> str:
    """A value without quotes: a constant, or a text such as a path or an address."""
    word = token.strip()
    if word in _WORDS:
        return word
    return _CONSTANTS.get(word) or '"' + word.replace("\\", "\\\\") + '"'


def _word(word: str, text: str, stop: int) -> str:
    following = text[stop : stop + 64].lstrip()
    return f'"{word}"' if following.startswith(":") else _CONSTANTS.get(word, word)
