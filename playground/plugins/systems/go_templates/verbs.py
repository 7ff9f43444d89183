"""Write one value with one verb, as Go's `fmt` does."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Final

from playground.plugins.systems.go_templates.floats import add_point, float_text
from playground.plugins.systems.go_templates.tokens import is_printable, quote_text
from playground.plugins.systems.go_templates.values import Byte, encode, type_name


@dataclass(slots=True)
class Flags:
    """The flags, width and precision between `%` and the verb."""

    minus: bool = False
    plus: bool = False
    sharp: bool = False
    space: bool = False
    zero: bool = False
    width: int | None = None
    precision: int | None = None
    go_syntax: bool = False  # %#v
    plus_v: bool = False  # %+v

    def pad(self, text: str) -> str:
        """Return a text padded to the width in characters, with blanks or zeros."""
        missing = (self.width or 0) - len(text)
        if missing <= 0:
            return text
        if self.minus:
            return text + " " * missing
        return ("0" if self.zero else " ") * missing + text

    def align(self, text: str) -> str:
        """Return a number's text padded with blanks; the verb has added zeros already."""
        width = self.width or 0
        return text.ljust(width) if self.minus else text.rjust(width)

    def sign(self, negative: bool) -> str:
        """Return the sign to write before a number."""
        if negative:
            return "-"
        return "+" if self.plus else " " if self.space else ""


def default_text(value: Any) -> str:
    """Return a value as %v writes it."""
    return format_value(value, "v", Flags())


def with_type(value: Any) -> str:
    """Return a value with its type, as error texts show it."""
    return "<nil>" if value is None else f"{type_name(value)}={default_text(value)}"


def _bad_verb(verb: str, value: Any, flags: Flags) -> str:
    """Return the error text for a verb that does not fit the value's type."""
    text = "<nil>" if value is None else f"{type_name(value)}={format_value(value, 'v', flags)}"
    return f"%!{verb}({text})"


def format_value(value: Any, verb: str, flags: Flags) -> str:
    """Write a value with a verb; a verb that does not fit the type gives an error text, as in
    Go."""
    match value:
        case None:
            return flags.pad("<nil>") if verb in "Tv" else _bad_verb(verb, value, flags)
        case _ if verb == "T":
            return flags.pad(_truncate(type_name(value), flags))
        case bool():  # before int, because in Python a bool is an int
            text = "true" if value else "false"
            return flags.pad(text) if verb in "tv" else _bad_verb(verb, value, flags)
        case int():
            return _format_integer(value, verb, flags)
        case float():
            return _real(value, verb, flags)
        case complex():
            return _complex(value, verb, flags)
        case str():
            return _text(value, verb, flags)
    return _container(value, verb, flags)


def _container(value: Any, verb: str, flags: Flags) -> str:
    if verb in "pw":
        return _bad_verb(verb, value, flags)

    def inner(item: Any) -> str:
        if item is None:
            return "interface {}(nil)" if flags.go_syntax else "<nil>"
        return format_value(item, verb, flags)

    if isinstance(value, list):
        name, parts = "", [inner(item) for item in value]
    else:
        keys = sorted(value, key=encode)
        name = "map"
        parts = [f"{format_value(key, verb, flags)}:{inner(value[key])}" for key in keys]
    if flags.go_syntax:
        return f"{type_name(value)}{{{', '.join(parts)}}}"
    return f"{name}[{' '.join(parts)}]"


# text

_NOT_IN_BACKQUOTES: Final = re.compile("[\x00-\x08\x0a-\x1f`\x7f\ufeff\udc80-\udcff]")


def _text(value: str, verb: str, flags: Flags) -> str:
    match verb:
        case "v" if flags.go_syntax:
            return flags.pad(quote_text(_truncate(value, flags)))
        case "v" | "s":
            return flags.pad(_truncate(value, flags))
        case "q":
            return flags.pad(_quote(_truncate(value, flags), flags))
        case "x" | "X":
            return flags.pad(_hexadecimal(value, verb, flags))
    return _bad_verb(verb, value, flags)


def _truncate(value: str, flags: Flags) -> str:
    return value if flags.precision is None else value[: flags.precision]


def _quote(value: str, flags: Flags) -> str:
    if flags.sharp and not _NOT_IN_BACKQUOTES.search(value):
        return f"`{value}`"
    if flags.plus:
        return "".join(c if c.isascii() else _unicode_escape(c) for c in quote_text(value))
    return quote_text(value)


def _unicode_escape(character: str) -> str:
    point = ord(character)
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def _hexadecimal(value: str, verb: str, flags: Flags) -> str:
    data = encode(value)[: flags.precision]
    digits = data.hex(" ") if verb == "x" else data.hex(" ").upper()
    prefix = f"0{verb}" if flags.sharp and data else ""
    between = f" {prefix}" if flags.space else ""
    return prefix + digits.replace(" ", between)


# numbers

_BASES: Final = {"b": "b", "o": "o", "O": "o", "d": "d", "x": "x", "X": "X", "v": "d"}
_PREFIXES: Final = {"b": "0b", "x": "0x", "X": "0X"}


def _format_integer(value: int, verb: str, flags: Flags) -> str:
    number = int(value)  # a Byte becomes a plain int
    match verb:
        case "v" if flags.go_syntax and isinstance(value, Byte):
            return _in_base(number, "x", replace(flags, sharp=True))
        case "c":
            return flags.pad(chr(_code_point(number)))
        case "q":
            return flags.pad(_quoted_rune(_code_point(number), flags))
        case "U":
            return flags.align(_unicode(number, flags))
        case _ if verb in _BASES:
            return _in_base(number, verb, flags)
    return _bad_verb(verb, value, flags)


def _in_base(value: int, verb: str, flags: Flags) -> str:
    """Write an integer as `fmtInteger` of Go's fmt does, with zeros, prefix and sign."""
    sign, digits = flags.sign(value < 0), format(abs(value), _BASES[verb])
    if flags.precision == 0 and value == 0:  # Go then leaves out the sign, too
        return " " * (flags.width or 0)
    # `%.3d` and `%03d` add zeros; if both are set, Go uses the precision
    if flags.precision is not None:
        digits = digits.rjust(flags.precision, "0")
    elif flags.zero and not flags.minus:
        digits = digits.rjust((flags.width or 0) - len(sign), "0")
    if flags.sharp and verb in "oO" and not digits.startswith("0"):
        digits = f"0{digits}"
    return flags.align(sign + _prefix(verb, flags) + digits)


def _prefix(verb: str, flags: Flags) -> str:
    if verb == "O":
        return "0o"
    return _PREFIXES.get(verb, "") if flags.sharp else ""


def _code_point(value: int) -> int:
    """Return `value` if it is a character's number, or else that of U+FFFD."""
    surrogate = 0xD800 <= value <= 0xDFFF
    return value if 0 <= value <= 0x10FFFF and not surrogate else 0xFFFD


def _quoted_rune(point: int, flags: Flags) -> str:
    inner = quote_text(chr(point))[1:-1].replace('\\"', '"')  # only the single quote is escaped
    if inner == "'":
        inner = "\\'"
    elif flags.plus and point > 127:
        inner = _unicode_escape(chr(point))
    return f"'{inner}'"


def _unicode(value: int, flags: Flags) -> str:
    """Write `U+0041`, with the flag `#` followed by the character."""
    digits = format(value % 2**64, "X").rjust(max(4, flags.precision or 0), "0")
    shows_character = flags.sharp and _code_point(value) == value and is_printable(chr(value))
    return f"U+{digits} '{chr(value)}'" if shows_character else f"U+{digits}"


_FLOAT_VERBS: Final = "vbgGxXfFeE"
_EQUIVALENT_VERBS: Final = {"v": "g", "F": "f"}


def _real(value: float, verb: str, flags: Flags) -> str:
    if verb not in _FLOAT_VERBS:
        return _bad_verb(verb, value, flags)
    verb = _EQUIVALENT_VERBS.get(verb, verb)
    digits = float_text(abs(value), verb, flags.precision)
    sign = flags.sign(value < 0 or str(value).startswith("-"))  # -0 is not below 0
    if digits == "Inf":
        return flags.align((sign or "+") + digits)
    if digits == "NaN":
        return flags.align(sign + digits)
    if flags.sharp and verb != "b":
        digits = add_point(digits, verb, flags.precision)
    if flags.zero and flags.width:
        return sign + digits.rjust(flags.width - len(sign), "0")
    return flags.align(sign + digits)


def _complex(value: complex, verb: str, flags: Flags) -> str:
    if verb not in _FLOAT_VERBS:
        return _bad_verb(verb, value, flags)
    with_sign = replace(flags, plus=True)
    return f"({_real(value.real, verb, flags)}{_real(value.imag, verb, with_sign)}i)"
