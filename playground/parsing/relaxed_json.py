"""JSON as models sometimes write it: single quotes, bare keys, comments, commas before a closer.

`load` is for text that strict JSON refuses. It corrects the text token by token; if that fails too,
it also adds forgotten commas and escapes quotes inside of texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import regex  # possessive groups, which `re` of Python before 3.11.5 reads wrongly

from playground.base.json_numbers import load_json

_STRINGS: Final = r"""(?P<double>"(?:[^"\\]|\\.)*+")|(?P<single>'(?:[^'\\]|\\.)*+')"""
# for repair: a quote closes a text only before characters that may follow a text
_OPEN_STRINGS: Final = (
    r"""(?P<double>"(?:[^"\\]|\\.|"(?!\s{0,64}+(?:[,:}\]]|\Z)|\s{1,64}+["'{\[\d]))*+")"""
    r"""|(?P<single>'(?:[^'\\]|\\.|'(?!\s{0,64}+(?:[,:}\]]|\Z)|\s{1,64}+["'{\[\d]))*+')"""
)
_COMMENT: Final = r"""|(?P<comment>(?<![^\s,{\[}\]"'])(?://[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+\*/))"""
_RUN: Final = (
    r"""(?<=:)\s{0,64}+(?:[A-Za-z_$]|\d{4}-\d|[./~](?![/*]))"""
    r"""(?:[^\s,{}\[\]"']|[ \t](?=[\w.]))*+"""
)
# a run (text without quotes after a colon) is a value only if its member ends after it
_BARE: Final = rf"|(?P<bare>{_RUN}(?=\s{{0,64}}+[,}}\]]))|(?P<run>{_RUN})"
_OTHERS: Final = r"""|(?P<word>[A-Za-z_$][\w$\-]*+)|(?P<open>["']|/\*)|(?P<other>.)"""
_TOKEN: Final = _STRINGS + _COMMENT + _BARE + _OTHERS
_OPEN_TOKEN: Final = _OPEN_STRINGS + _COMMENT + _BARE + _OTHERS
_IN_RUN: Final = _STRINGS + _COMMENT + _OTHERS
_UNESCAPED: Final = r'(\\.)|"'
_ESCAPED: Final = r'\\.|"'
# Escapes that JSON does not know: a quote or a dollar, as shells need them, and a line break, which
# joins two lines. In any other escape the backslash itself should have been doubled.
_FOREIGN: Final = r"""\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}|(['$`])|(\r?\n)|)"""
_OPENERS: Final = ('"', "{", "[")
_VALUES: Final = ("single", "double", "bare", "word")
_ENDS: Final = ("}", "]", *"0123456789")  # the ends of values other than texts
_WORDS: Final = ("true", "false", "null", "NaN", "Infinity")
_CONSTANTS: Final = {"True": "true", "False": "false", "None": "null", "undefined": "null"}


@cache  # compiled on first use: most programs never see relaxed JSON
def _compile(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.DOTALL)


def load(text: str) -> Any:
    """Read a value. Raises ValueError or RecursionError, as json.loads does."""
    try:
        return load_json(to_strict_json(text))
    except ValueError:
        return load_json(to_strict_json(text, repair=True))


def to_strict_json(text: str, repair: bool = False) -> str:
    """Return the text with everything rewritten that JSON does not allow. It may still not be JSON.

    With `repair`, commas are put between values, and quotes inside of texts are escaped. Raises
    ValueError if a string or a comment never ends.
    """
    pieces: list[str] = []
    comma = -1  # the index in `pieces` of a comma that nothing has followed yet
    ended = False  # True right after a value
    doubled: list[bool] = []  # for each open brace, True if it is the second of a doubled brace
    for match in _tokens(text, repair):
        token, kind = match[0], match.lastgroup
        if kind == "open":  # searching on would take quadratic time
            raise ValueError(f"{token} at character {match.start()} is never closed")
        if kind == "comment":
            continue
        token = _rewrite(match, text, repair)
        if token in ("{", "}") and _is_doubled(token, pieces, doubled):
            continue
        if token in ("}", "]") and comma >= 0:
            pieces[comma] = ""
        if not token.isspace():
            comma = len(pieces) if token == "," else -1
            if repair and ended and token[0] in _OPENERS:
                pieces.append(",")
            ended = kind in _VALUES or token[-1] in _ENDS
        pieces.append(token)
    return "".join(pieces)


def _tokens(text: str, repair: bool) -> Iterator[regex.Match[str]]:
    for match in _compile(_OPEN_TOKEN if repair else _TOKEN).finditer(text):
        if match.lastgroup == "run":
            yield from _compile(_IN_RUN).finditer(text, match.start(), match.end())
        else:
            yield match


def _rewrite(token: regex.Match[str], text: str, repair: bool) -> str:
    """Return a token as JSON writes it."""
    match token.lastgroup:
        case "single" | "double":
            return _string(token[0], repair)
        case "bare":
            return _unquoted_value(token[0])
        case "word":
            return _word(token[0], text, token.end())
    return token[0]


def _is_doubled(brace: str, pieces: list[str], doubled: list[bool]) -> bool:
    """Return True if a brace is one of the inner two of `{{` and `}}`, as templates write them."""
    if brace == "{":
        doubled.append(pieces[-1:] == ["{"] and not any(doubled[-1:]))
        return doubled[-1]
    return bool(doubled) and doubled.pop()


def _string(token: str, repair: bool) -> str:
    if token[0] == "'":
        token = '"' + _compile(_ESCAPED).sub(_requote, token[1:-1]) + '"'
    elif repair:
        token = '"' + _compile(_UNESCAPED).sub(_escaped_quote, token[1:-1]) + '"'
    return _compile(_FOREIGN).sub(_escape, token) if "\\" in token else token


def _requote(match: regex.Match[str]) -> str:
    return {'"': '\\"', "\\'": "'"}.get(match[0], match[0])


def _escaped_quote(match: regex.Match[str]) -> str:
    return match[1] or '\\"'


def _escape(match: regex.Match[str]) -> str:
    if match[0] == "\\":
        return "\\\\"
    return "" if match[2] else match[1] or match[0]


def _unquoted_value(token: str) -> str:
    """Return a value without quotes as JSON: a constant, or a text such as a path or an address."""
    word = token.strip()
    if word in _WORDS:
        return word
    return _CONSTANTS.get(word) or '"' + word.replace("\\", "\\\\") + '"'


def _word(word: str, text: str, stop: int) -> str:
    following = text[stop : stop + 64].lstrip()
    return f'"{word}"' if following.startswith(":") else _CONSTANTS.get(word, word)
