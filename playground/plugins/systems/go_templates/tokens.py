"""The kinds of a template's tokens, and Go's names and quotations of characters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

import regex


class Kind(Enum):
    """The kind of a token; each keyword has its own kind."""

    ERROR = auto()
    BOOL = auto()
    CHAR = auto()
    CHAR_CONSTANT = auto()
    COMPLEX = auto()
    ASSIGN = auto()
    DECLARE = auto()
    EOF = auto()
    FIELD = auto()
    IDENTIFIER = auto()
    LEFT_DELIM = auto()
    LEFT_PAREN = auto()
    NUMBER = auto()
    PIPE = auto()
    RAW_STRING = auto()
    RIGHT_DELIM = auto()
    RIGHT_PAREN = auto()
    SPACE = auto()
    STRING = auto()
    TEXT = auto()
    VARIABLE = auto()
    DOT = auto()
    BLOCK = auto()
    BREAK = auto()
    CONTINUE = auto()
    DEFINE = auto()
    ELSE = auto()
    END = auto()
    IF = auto()
    NIL = auto()
    RANGE = auto()
    TEMPLATE = auto()
    WITH = auto()


KEYWORDS: Final = {
    kind.name.lower(): kind
    for kind in (
        Kind.BLOCK,
        Kind.BREAK,
        Kind.CONTINUE,
        Kind.DEFINE,
        Kind.ELSE,
        Kind.END,
        Kind.IF,
        Kind.NIL,
        Kind.RANGE,
        Kind.TEMPLATE,
        Kind.WITH,
    )
}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a template, with its position and its line (from 1)."""

    kind: Kind
    pos: int
    text: str
    line: int


def rune_name(character: str) -> str:
    """Return a character as Go's %#U writes it."""
    if not character:
        return "U+FFFFFFFFFFFFFFFF"  # the end of the text
    point = f"U+{ord(character):04X}"
    return f"{point} '{character}'" if is_printable(character) else point


# Go 1.27 knows Unicode 17, Python 3.11 knows 14
_WORD: Final = regex.compile(r"[\p{L}\p{Nd}_]")
_PRINTABLE: Final = regex.compile(r"[\p{L}\p{M}\p{N}\p{P}\p{S} ]")


def is_word(character: str) -> bool:
    return _WORD.match(character) is not None


def is_printable(character: str) -> bool:
    return character.isprintable() or _PRINTABLE.match(character) is not None


def quote_text(text: str) -> str:
    """Return a text as Go's %q writes it."""
    return '"' + "".join(_escape(character) for character in text) + '"'


_ESCAPES: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if is_printable(character):
        return character
    point = ord(character)
    if 0xDC80 <= point <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\x{point - 0xDC00:02x}"
    if point < 0x80:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
