"""One value by one verb, as Go's `fmt` writes it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from playground.templates.tokens import quoted
from playground.templates.values import Byte, encoded, type_name


@dataclass(slots=True)
class Flags:
    """What stands between % and the verb."""

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
        """Filled to the width, counted in characters."""
        missing = (self.width or 0) - len(text)
        if missing <= 0:
            return text
        if self.minus:
            return text + " " * missing
        return ("0" if self.zero else " ") * missing + text


def shown(value: Any) -> str:
    """A value as %v writes it."""
    return formatted(value, "v", Flags())


def typed(value: Any) -> str:
    """A value with its type, as complaints name it."""
    return "<nil>" if value is None else f"{type_name(value)}={shown(value)}"


def _bad(verb: str, value: Any, flags: Flags) -> str:
    """A verb that the value's type has not; the value with the verb's flags."""
    told = "<nil>" if value is None else f"{type_name(value)}={formatted(value, 'v', flags)}"
    return f"%!{verb}({told})"


def formatted(value: Any, verb: str, flags: Flags) -> str:
    if value is None:
        return flags.pad("<nil>") if verb in "Tv" else _bad(verb, value, flags)
    if verb == "T":
        return flags.pad(type_name(value))
    if isinstance(value, bool):
        return flags.pad("true" if value else "false") if verb in "tv" else _bad(verb, value, flags)
    if isinstance(value, int):
        return _whole(value, verb, flags)
    if isinstance(value, float):
        return _real(value, verb, flags)
    if isinstance(value, complex):
        return _complex(value, verb, flags)
    if isinstance(value, str):
        return _text(value, verb, flags)
    return _container(value, verb, flags)


def _container(value: Any, verb: str, flags: Flags) -> str:
    if verb == "p":
        return _bad(verb, value, flags)

    def inner(item: Any) -> str:
        if item is None:
            return "interface {}(nil)" if flags.go_syntax else "<nil>"
        return formatted(item, verb, flags)

    if isinstance(value, list):
        parts = [inner(item) for item in value]
        head, joint, ends = "", " ", "[]"
    else:
        parts = [
            f"{formatted(key, verb, flags)}:{inner(value[key])}"
            for key in sorted(value, key=encoded)
        ]
        head, joint, ends = "map", " ", "[]"
    if flags.go_syntax:
        head, joint, ends = type_name(value), ", ", "{}"
    return f"{head}{ends[0]}{joint.join(parts)}{ends[1]}"


# text


def _text(value: str, verb: str, flags: Flags) -> str:
    if verb == "v":
        return flags.pad(quoted(value)) if flags.go_syntax else flags.pad(_cut(value, flags))
    if verb == "s":
        return flags.pad(_cut(value, flags))
    if verb == "q":
        return flags.pad(_quoted(_cut(value, flags), flags))
    if verb in "xX":
        return flags.pad(_hexadecimal(value, verb, flags))
    return _bad(verb, value, flags)


def _cut(value: str, flags: Flags) -> str:
    return value if flags.precision is None else value[: flags.precision]


def _quoted(value: str, flags: Flags) -> str:
    plain = all(c == "\t" or c.isprintable() for c in value) and "`" not in value
    if flags.sharp and plain and "\ufeff" not in value:
        return f"`{value}`"
    if flags.plus:
        return "".join(c if c.isascii() else _unicode_escape(c) for c in quoted(value))
    return quoted(value)


def _unicode_escape(character: str) -> str:
    point = ord(character)
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def _hexadecimal(value: str, verb: str, flags: Flags) -> str:
    data = encoded(value)[: flags.precision]
    prefix = f"0{verb}" if flags.sharp and data else ""
    pairs = [f"{byte:02x}" if verb == "x" else f"{byte:02X}" for byte in data]
    return prefix + (f" {prefix}" if flags.space else "").join(pairs)


# numbers

_BASES: Final = {"b": "b", "o": "o", "O": "o", "d": "d", "x": "x", "X": "X", "v": "d"}
_PREFIXES: Final = {"b": "0b", "o": "0", "x": "0x", "X": "0X"}


def _whole(value: int, verb: str, flags: Flags) -> str:
    if verb == "v" and flags.go_syntax and isinstance(value, Byte):
        return flags.pad(f"0x{int(value):x}")
    if verb in _BASES:
        return _in_base(int(value), verb, flags)
    if verb in "cqU":
        return _as_rune(int(value), verb, flags)
    return _bad(verb, value, flags)


def _in_base(value: int, verb: str, flags: Flags) -> str:
    digits = format(abs(value), _BASES[verb])
    sign = "-" if value < 0 else "+" if flags.plus else " " if flags.space else ""
    if flags.precision is not None:
        digits = "" if flags.precision == 0 and value == 0 else digits.rjust(flags.precision, "0")
        if not digits:
            return " " * (flags.width or 0)
    elif flags.zero and not flags.minus and flags.width:
        digits = digits.rjust(flags.width - len(sign), "0")
    prefix = "0o" if verb == "O" else _PREFIXES.get(verb, "") if flags.sharp else ""
    if prefix == "0" and digits.startswith("0"):
        prefix = ""
    text = sign + prefix + digits
    missing = (flags.width or 0) - len(text)
    return text + " " * missing if flags.minus else " " * missing + text


def _as_rune(value: int, verb: str, flags: Flags) -> str:
    point = value if 0 <= value <= 0x10FFFF and not 0xD800 <= value <= 0xDFFF else 0xFFFD
    if verb == "c":
        return flags.pad(chr(point))
    if verb == "q":
        inner = quoted(chr(point))[1:-1].replace('\\"', '"')
        if flags.plus and point > 126:
            inner = _unicode_escape(chr(point))
        return flags.pad("'" + ("\\'" if inner == "'" else inner) + "'")
    digits = format(value % 2**64, "X").rjust(max(4, flags.precision or 0), "0")
    named = (
        f" '{chr(value)}'" if flags.sharp and point == value and chr(value).isprintable() else ""
    )
    text = f"U+{digits}{named}"
    return text.ljust(flags.width or 0) if flags.minus else text.rjust(flags.width or 0)


_FLOAT_VERBS: Final = "vbgGxXfFeE"


def _real(value: float, verb: str, flags: Flags) -> str:
    if verb not in _FLOAT_VERBS:
        return _bad(verb, value, flags)
    digits = float_text(abs(value), verb, flags)
    negative = value < 0 or str(value).startswith("-")
    special = digits in ("Inf", "NaN")
    sign = "-" if negative else "+" if flags.plus else " " if flags.space else ""
    if digits == "Inf" and not negative and not flags.space and (flags.plus or verb == "v"):
        sign = "+"
    elif digits == "Inf" and not negative:
        sign = sign or "+"
    if flags.zero and not special and flags.width:
        return sign + digits.rjust(flags.width - len(sign), "0")
    missing = (flags.width or 0) - len(sign + digits)
    padding = " " * max(0, missing)
    return sign + digits + padding if flags.minus else padding + sign + digits


def float_text(value: float, verb: str, flags: Flags) -> str:
    """A float that is not negative, without sign and padding."""
    if value != value:  # noqa: PLR0124: not a number
        return "NaN"
    if value == float("inf"):
        return "Inf"
    precision = flags.precision
    if verb in "fF":
        text = f"{value:.{6 if precision is None else precision}f}"
        return text + "." if flags.sharp and "." not in text else text
    if verb in "eE":
        text = f"{value:.{6 if precision is None else precision}e}"
        return text.upper() if verb == "E" else text
    if verb in "bxX":
        return _binary(value, verb, precision)
    text = _general(value, precision, flags.sharp)
    return text.upper() if verb == "G" else text


def _general(value: float, precision: int | None, keeps_zeros: bool) -> str:
    """%g: the shortest digits that give the value back, or so many of them."""
    given = repr(value) if precision is None else f"{value:.{max(1, precision) - 1}e}"
    found = Decimal(given).normalize()
    text = "".join(map(str, found.as_tuple().digits))
    power = found.adjusted() if value else 0
    threshold = 6 if precision is None else max(1, precision)
    if precision is not None and threshold > len(text) > power:
        threshold = len(text)
    if keeps_zeros:
        threshold = 6 if precision is None else max(1, precision)
        text = text.ljust(threshold, "0")
    if power < -4 or power >= threshold:
        return _scientific(text, power)
    if power < 0:
        return "0." + "0" * (-power - 1) + text
    whole, rest = text[: power + 1].ljust(power + 1, "0"), text[power + 1 :]
    return f"{whole}.{rest}" if rest or keeps_zeros else whole


def _scientific(digits: str, power: int) -> str:
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{rest}e{'-' if power < 0 else '+'}{abs(power):02d}"


def _binary(value: float, verb: str, precision: int | None) -> str:
    if verb == "b":
        fraction, exponent = value.as_integer_ratio(), 0
        mantissa, power = value.hex().partition("p")[::2]
        bits = int(mantissa[4:] or "0", 16) | (1 << 52 if mantissa[2] == "1" else 0)
        exponent = int(power) - 52 if fraction[0] else -1074
        return f"{bits}p{exponent:+d}"
    mantissa, power = value.hex().partition("p")[::2]
    whole, _, rest = mantissa[2:].partition(".")
    rest = rest.rstrip("0") if precision is None else rest[:precision].ljust(precision, "0")
    text = f"0x{whole}{'.' + rest if rest else ''}p{int(power):+03d}"
    return text.upper() if verb == "X" else text


def _complex(value: complex, verb: str, flags: Flags) -> str:
    if verb not in _FLOAT_VERBS:
        return _bad(verb, value, flags)
    signed = Flags(plus=True, precision=flags.precision, sharp=flags.sharp)
    real = _real(value.real, "g" if verb == "v" else verb, flags)
    return f"({real}{_real(value.imag, 'g' if verb == 'v' else verb, signed)}i)"
