"""Values as Go sees them: JSON data, items of containers, and missing values.

An item of a list or map is an `Interface` (Go's errors call its type `interface {}`), until a step
of a pipeline unwraps it. In Go a string is bytes, so lengths and offsets count bytes of UTF-8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from playground.base.errors import InputFault


class _Nothing:
    """A constant that takes the place of a missing value."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


INVALID: Final = _Nothing("INVALID")  # the value of a missing key, or of nil
MISSING: Final = _Nothing("MISSING")  # the piped value of a command that gets none


class Byte(int):
    """One byte of a string."""


class Slice(list[Any]):
    """A slice of a list. As in Go, slicing it again can reach the `spare` items after its end."""

    def __init__(self, items: list[Any], spare: list[Any]) -> None:
        super().__init__(items)
        self.spare = spare


@dataclass(frozen=True, slots=True)
class Interface:
    """An item of a container; a `value` of None is a JSON null."""

    value: Any


def from_json(data: Any) -> Any:
    """Convert JSON values like Go's decoder: numbers to float64, half surrogate pairs to U+FFFD.

    Raises InputFault if the data is not JSON, too deep, or has a number that is too large.
    """
    try:
        return _decode_json(data)
    except RecursionError:
        raise InputFault("data that is nested too deeply", expected="JSON") from None
    except OverflowError:
        raise InputFault(
            "a number too large for a float64", expected="JSON as Go reads it"
        ) from None


def _decode_json(data: Any) -> Any:
    match data:
        case None | bool():
            return data
        case int() | float():  # Go's numbers; besides, numpy's cannot be sent to the worker
            return float(data)
        case str():
            return whole_characters(data)
        case list() | tuple():
            return [_decode_json(item) for item in data]
        case Mapping():
            return {whole_characters(str(key)): _decode_json(item) for key, item in data.items()}
    raise InputFault(f"data of type {type(data).__name__}", expected="what JSON can hold")


def whole_characters(text: str) -> str:
    """Return a text with U+FFFD in place of half surrogate pairs, which UTF-8 cannot encode."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def unwrap(value: Any) -> Any:
    """Return the value in an Interface, INVALID for null; return any other value unchanged."""
    if isinstance(value, Interface):
        return INVALID if value.value is None else value.value
    return value


def type_name(value: Any) -> str:
    """Return Go's name of a value's type."""
    return _TYPE_NAMES.get(type(value), "interface {}")


_TYPE_NAMES: Final = {
    bool: "bool",
    int: "int",
    Byte: "uint8",
    float: "float64",
    complex: "complex128",
    str: "string",
    list: "[]interface {}",
    Slice: "[]interface {}",
    dict: "map[string]interface {}",
}


def is_true(value: Any) -> bool:
    """Return True if a value counts as true, which it does unless it is empty, zero or missing."""
    plain = unwrap(value)
    return plain is not INVALID and bool(plain)


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def join_output(pieces: list[str]) -> str:
    """Join pieces of output; bytes that are not valid UTF-8 become U+FFFD."""
    text = "".join(pieces)
    return text if text.isascii() else encode(text).decode("utf-8", "replace")


def decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
