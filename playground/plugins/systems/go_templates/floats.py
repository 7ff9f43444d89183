"""The digits of a float as Go's `strconv` writes them, without sign and padding."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Final

# Verbs to which `#` adds zeros up to the precision, from the first nonzero digit; Go omits `X`, too
_VERBS_WITH_ZEROS: Final = "gGx"
_FRACTION_BITS: Final = 52  # bits of a float's fraction
_LEAST_POWER: Final = -1074  # the power of two of the smallest float


def float_text(value: float, verb: str, precision: int | None) -> str:
    """Write a float that is not negative with one of the verbs `b e E f g G x X`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf"
    match verb:
        case "f" | "e" | "E":
            return f"{value:.{6 if precision is None else precision}{verb}}"
        case "b":
            return _binary(value)
        case "x":
            return _hexadecimal(value, precision)
        case "X":
            return _hexadecimal(value, precision).upper()
        case "G":
            return _general(value, precision).upper()
    return _general(value, precision)


def add_point(text: str, verb: str, precision: int | None) -> str:
    """Add the point and the trailing zeros that the flag `#` asks for."""
    exponents = "pP" if verb in "xX" else "eEpP"
    end = next((at for at, letter in enumerate(text) if letter in exponents), len(text))
    number, exponent = text[:end], text[end:]
    zeros = 0
    if verb in _VERBS_WITH_ZEROS:
        # a single 0 counts as a digit, too
        digits = len(number.replace(".", "").lstrip("0")) + (number == "0")
        zeros = (6 if precision is None else precision) - digits
    if "." not in number:
        number += "."
    return number + "0" * max(0, zeros) + exponent


def _general(value: float, precision: int | None) -> str:
    """Write `%g`: the shortest digits that identify the value, or `precision` digits."""
    text = repr(value) if precision is None else f"{value:.{max(1, precision) - 1}e}"
    decimal = Decimal(text)
    digits = "".join(map(str, decimal.as_tuple().digits)).rstrip("0") or "0"
    power = decimal.adjusted() if value else 0
    limit = 6 if precision is None else max(1, precision)  # Go writes an exponent from 10**limit
    if power < -4 or power >= limit:
        return _scientific(digits, power)
    if power < 0:
        return "0." + "0" * (-power - 1) + digits
    whole, rest = digits[: power + 1].ljust(power + 1, "0"), digits[power + 1 :]
    return f"{whole}.{rest}" if rest else whole


def _scientific(digits: str, power: int) -> str:
    point = "." if len(digits) > 1 else ""
    return f"{digits[0]}{point}{digits[1:]}e{'-' if power < 0 else '+'}{abs(power):02d}"


def _mantissa_and_power(value: float) -> tuple[int, int]:
    """Return mantissa and power with `value == mantissa * 2**power`; 53 bits unless subnormal."""
    if not value:
        return 0, _LEAST_POWER
    _, power = math.frexp(value)
    power = max(power - _FRACTION_BITS - 1, _LEAST_POWER)
    return int(math.ldexp(value, -power)), power


def _binary(value: float) -> str:
    mantissa, power = _mantissa_and_power(value)
    return f"{mantissa}p{power:+d}"


def _hexadecimal(value: float, precision: int | None) -> str:
    """Write `%x`: one digit before the point, and the rest rounded half to even."""
    mantissa, power = _mantissa_and_power(value)
    if not mantissa:
        power = 0
    else:
        shift = _FRACTION_BITS + 1 - mantissa.bit_length()
        mantissa, power = mantissa << shift, power - shift + _FRACTION_BITS
    if precision is not None and precision * 4 < _FRACTION_BITS:
        mantissa = _round_bits(mantissa, _FRACTION_BITS - precision * 4)
        if mantissa >> (_FRACTION_BITS + 1):  # rounded up to the next power of two
            mantissa, power = mantissa >> 1, power + 1
    digits = f"{mantissa & ((1 << _FRACTION_BITS) - 1):013x}"
    rest = digits.rstrip("0") if precision is None else digits[:precision].ljust(precision, "0")
    point = "." if rest else ""
    return f"0x{mantissa >> _FRACTION_BITS}{point}{rest}p{power:+03d}"


def _round_bits(mantissa: int, lost: int) -> int:
    """Set the last `lost` bits to 0, rounding to the nearest value, and a tie to the even one."""
    upper, lower = mantissa >> lost, mantissa & ((1 << lost) - 1)
    half = 1 << (lost - 1)
    is_odd = bool(upper & 1)
    if lower > half or (lower == half and is_odd):
        upper += 1
    return upper << lost
