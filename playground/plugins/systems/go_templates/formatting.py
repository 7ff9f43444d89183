"""Go's `print`, `println` and `printf`, with its flags and its error texts."""

from __future__ import annotations

import re
from typing import Any, Final

from playground.plugins.systems.go_templates.verbs import (
    Flags,
    default_text,
    format_value,
    with_type,
)

_MOST_PADDING: Final = 1_000_000  # Go's limit for a width, a precision or an index
_FLAGS: Final = {"+": "plus", "-": "minus", "#": "sharp", " ": "space", "0": "zero"}
_DIGITS: Final = re.compile(r"[0-9]*")


def sprint(values: list[Any]) -> str:
    """Return the values one after the other, with a space between two that are not strings."""
    parts: list[str] = []
    for index, value in enumerate(values):
        if index and not isinstance(value, str) and not isinstance(values[index - 1], str):
            parts.append(" ")
        parts.append(default_text(value))
    return "".join(parts)


def sprintln(values: list[Any]) -> str:
    return " ".join(map(default_text, values)) + "\n"


def sprintf(form: str, values: list[Any]) -> str:
    """Return the format with its verbs replaced; errors are reported in the text, as in Go."""
    return _Printf(form, values).run()


class _Printf:
    def __init__(self, form: str, values: list[Any]) -> None:
        self._form, self._values = form, values
        self._number = 0  # index of the next value
        self._reordered = False  # True after an index such as [2]; then values may be unused
        self._good_index = True  # False if the current verb has an invalid index
        self._out: list[str] = []

    def run(self) -> str:
        at = 0
        while at < len(self._form):
            start = self._form.find("%", at)
            if start < 0:
                self._out.append(self._form[at:])
                break
            self._out.append(self._form[at:start])
            at = self._verb(start + 1)
        extra = self._values[self._number :]
        if extra and not self._reordered:
            extra_texts = ", ".join(with_type(value) for value in extra)
            self._out.append(f"%!(EXTRA {extra_texts})")
        return "".join(self._out)

    def _verb(self, at: int) -> int:
        """Write one verb and return the position after it."""
        self._good_index, after_index = True, False
        flags = Flags()
        while name := _FLAGS.get(self._form[at : at + 1]):
            setattr(flags, name, True)
            at += 1
        at, after_index = self._index(at)
        at, after_index = self._width(at, flags, after_index)
        at, after_index = self._precision(at, flags, after_index)
        if not after_index:
            at, _ = self._index(at)
        if at >= len(self._form):
            self._out.append("%!(NOVERB)")
            return at
        self._write(self._form[at], flags)
        return at + 1

    def _index(self, at: int) -> tuple[int, bool]:
        """Read an argument's index such as `[2]`. Return the position after it, and True if it is
        a number, even if no value has that number."""
        if self._form[at : at + 1] != "[":
            return at, False
        self._reordered = True
        close = self._form.find("]", at)
        if close < 0 or at + 2 >= len(self._form):  # "[]" at the end is not an index
            self._good_index = False
            return at + 1, False
        number, end = self._digits(at + 1)
        if number is None or end != close:
            self._good_index = False
            return close + 1, False
        if 1 <= number <= len(self._values):
            self._number = number - 1
        else:
            self._good_index = False
        return close + 1, True

    def _width(self, at: int, flags: Flags, after_index: bool) -> tuple[int, bool]:
        if self._form[at : at + 1] == "*":
            width = self._value_of_star()
            if width is None:
                self._out.append("%!(BADWIDTH)")
            elif width < 0:
                flags.width, flags.minus, flags.zero = -width, True, False
            else:
                flags.width = width
            return at + 1, False
        flags.width, end = self._digits(at)
        if flags.width is not None and after_index:  # "%[3]2d"
            self._good_index = False
        return end, after_index

    def _precision(self, at: int, flags: Flags, after_index: bool) -> tuple[int, bool]:
        if self._form[at : at + 1] != "." or at + 1 >= len(self._form):
            return at, after_index
        at += 1
        if after_index:  # "%[3].2d"
            self._good_index = False
        at, after_index = self._index(at)
        if self._form[at : at + 1] == "*":
            precision = self._value_of_star()
            if precision is None or precision < 0:
                self._out.append("%!(BADPREC)")
            else:
                flags.precision = precision
            return at + 1, False
        digits, end = self._digits(at)
        flags.precision = digits or 0
        return end, after_index

    def _digits(self, at: int) -> tuple[int | None, int]:
        """Read a number; return it (None if absent or too large) and the position after it."""
        match = _DIGITS.match(self._form, at)
        text = match[0] if match else ""
        significant = text.lstrip("0")
        if len(significant) > 8 or int(significant[:-1] or 0) > _MOST_PADDING:
            return None, len(self._form)
        return int(significant or 0) if text else None, at + len(text)

    def _value_of_star(self) -> int | None:
        if self._number >= len(self._values):
            return None
        value = self._values[self._number]
        self._number += 1
        whole = isinstance(value, int) and not isinstance(value, bool)
        return int(value) if whole and abs(value) <= _MOST_PADDING else None

    def _write(self, verb: str, flags: Flags) -> None:
        if verb == "%":
            self._out.append("%")
        elif not self._good_index:
            self._out.append(f"%!{verb}(BADINDEX)")
        elif self._number >= len(self._values):
            self._out.append(f"%!{verb}(MISSING)")
        else:
            value = self._values[self._number]
            self._number += 1
            if verb in "vw":
                flags.go_syntax, flags.sharp = flags.sharp, False
                flags.plus_v, flags.plus = flags.plus, False
            if flags.minus:
                flags.zero = False
            self._out.append(format_value(value, verb, flags))
