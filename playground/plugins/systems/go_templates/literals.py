"""Read Go's string, character and number literals as Python values."""

from __future__ import annotations

import math
import re
from typing import Final

from playground.plugins.systems.go_templates.tokens import quote_text

_SIMPLE_ESCAPES: Final = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
# \x and \377 are bytes, which may be part of a character; \u and \U are complete characters
_NUMBERED_ESCAPE: Final = re.compile(
    r"x(?P<byte>[0-9a-fA-F]{2})|(?P<octal>[0-7]{3})"
    r"|(?:u(?=[0-9a-fA-F]{4})|U(?=[0-9a-fA-F]{8}))(?P<character>(?<=u).{4}|(?<=U).{8})"
)
_INTEGER: Final = re.compile(
    r"[+-]?(?:0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+"
    r"|0(?:_?[0-7])*|[1-9](?:_?[0-9])*)\Z"
)
_FLOAT: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
_HEX_FLOAT: Final = re.compile(
    r"[+-]?0[xX](?=\.?[0-9a-fA-F])[0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+-]?\d+\Z"
)
_COMPLEX_PART: Final = (
    r"(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?"
    r"|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)"
)
_COMPLEX: Final = re.compile(rf"((?>[+-]?i?{_COMPLEX_PART}))([+-](?!i)(?>{_COMPLEX_PART}))i")


class LiteralFault(ValueError):
    """The error of a literal that Go refuses, with Go's message."""


def unquote(source: str) -> str:
    """Return the value of a quoted or raw string."""
    quote, inner = source[0], source[1:-1]
    if quote == "`":
        return inner.replace("\r", "")
    data = bytearray()
    at = 0
    while at < len(inner):
        point, is_byte, at = _character(inner, at, quote)
        data += bytes([point]) if is_byte else chr(point).encode("utf-8", "surrogateescape")
    return data.decode("utf-8", "surrogateescape")


def rune(source: str) -> int:
    """Return the value of a character constant."""
    inner = source[1:]
    if inner.startswith("'"):
        raise LiteralFault("invalid syntax")
    point, _, at = _character(inner, 0, "'")
    if inner[at:] != "'":
        raise LiteralFault(f"malformed character constant: {source}")
    return point


def _character(text: str, at: int, quote: str) -> tuple[int, bool, int]:
    """Read a character; return its number, True if it is a single byte, and the position after
    it."""
    if text[at] != "\\":
        return ord(text[at]), False, at + 1
    letter = text[at + 1 : at + 2]
    if letter in _SIMPLE_ESCAPES:
        return _SIMPLE_ESCAPES[letter], False, at + 2
    if letter == quote:
        return ord(quote), False, at + 2
    match = _NUMBERED_ESCAPE.match(text, at + 1)
    if match is None:
        raise LiteralFault("invalid syntax")
    kind = str(match.lastgroup)
    point = int(match[kind], 8 if kind == "octal" else 16)
    if not _is_allowed(point, kind):
        raise LiteralFault("invalid syntax")
    return point, kind != "character", match.end()


def _is_allowed(point: int, kind: str) -> bool:
    """Return True if a number may be a character or, for `\\x` and octal escapes, a byte."""
    if kind == "octal":
        return point < 256
    return kind == "byte" or (point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF)


def number(source: str) -> int | float | complex:
    """Return the value of a number literal: an int, a float or an imaginary number."""
    imaginary = _float(source[:-1]) if source.endswith("i") else None
    if imaginary is not None:
        return complex(0, imaginary)
    integer, has_sign = _integer(source), source[0] in "+-"
    most = 2**63 if has_sign else 2**64  # int64 with a sign, else uint64
    if integer is not None and -(2**63) <= integer < most:
        is_float = has_sign and "e" in source.lower()  # Go reads +0xe as a float
        return float(integer) if is_float else integer
    value = _float(source)
    if value is None:
        raise LiteralFault(f"illegal number syntax: {quote_text(source)}")
    if not re.search("[.eEpP]", source):
        raise LiteralFault(f"integer overflow: {quote_text(source)}")
    return value


def complex_number(source: str) -> complex:
    """Return the value of a complex literal such as `1+2i`."""
    match = _COMPLEX.match(source)
    if match is None:
        raise LiteralFault("syntax error scanning complex number")
    return complex(_parse_float(match[1]), _parse_float(match[2]))


def _integer(source: str) -> int | None:
    if not _INTEGER.match(source):
        return None
    text = source.lstrip("+-")
    if len(text) > 1 and text[0] == "0" and (text[1].isdigit() or text[1] == "_"):
        text = "0o" + text[1:].lstrip("_")
    try:
        value = int(text, 0)
    except ValueError:  # Python reads at most 4,300 digits; Go's integers have at most 20
        return None
    return -value if source[0] == "-" else value


def _float(source: str) -> float | None:
    try:
        return _parse_float(source)
    except LiteralFault:
        return None


def _parse_float(source: str) -> float:
    plain, prefix = source.replace("_", ""), f"strconv.ParseFloat: parsing {quote_text(source)}"
    is_hexadecimal = bool(_HEX_FLOAT.match(plain))
    is_valid = is_hexadecimal or _FLOAT.match(plain)
    if not is_valid or _misplaced_underscore(source, is_hexadecimal):
        raise LiteralFault(f"{prefix}: invalid syntax")
    try:
        value = float.fromhex(plain) if is_hexadecimal else float(plain)
    except OverflowError:
        value = math.inf
    if math.isinf(value):
        raise LiteralFault(f"{prefix}: value out of range")
    return value


def _misplaced_underscore(source: str, is_hexadecimal: bool) -> bool:
    """Return True if an underscore is not between two digits; `0x` counts as a digit."""
    if not is_hexadecimal:
        return bool(re.search("(?<![0-9])_|_(?![0-9])", source))
    digits = re.sub(r"\A([+-]?)0[xX]", r"\g<1>0", source)
    return bool(re.search("(?<![0-9a-fA-F])_|_(?![0-9a-fA-F])", digits))
