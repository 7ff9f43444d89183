"""Values as Go sees them: JSON data, what came out of a container, and what is not there.

A value out of a list or map is an `Interface` until a pipeline's step takes it out; errors name its
type. Strings are bytes to Go: lengths and offsets count those of UTF-8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from playground.base.errors import InputFault


class _Nothing:
    """A value that is not there."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


INVALID: Final = _Nothing("INVALID")  # a key that is not there, the result of nil
MISSING: Final = _Nothing("MISSING")  # no value came through the pipeline


class Byte(int):
    """One byte of a string."""


class Slice(list[Any]):
    """A part of a list, which can be made longer again, as in Go: `spare` is what follows it."""

    def __init__(self, items: list[Any], spare: list[Any]) -> None:
        super().__init__(items)
        self.spare = spare


@dataclass(frozen=True, slots=True)
class Interface:
    """A container's item; None is a JSON null."""

    value: Any


def from_json(data: Any) -> Any:
    """JSON as Go decodes it: every number is a float64, half a surrogate pair U+FFFD.

    Raises InputFault for what is no JSON, or too deep or too large.
    """
    try:
        return _decoded_json(data)
    except RecursionError:
        raise InputFault("data that is nested too deeply", expected="JSON") from None
    except OverflowError:
        raise InputFault(
            "a number too large for a float64", expected="JSON as Go reads it"
        ) from None


def _decoded_json(data: Any) -> Any:
    match data:
        case None | bool():
            return data
        case int() | float():  # Go's decoder knows no whole numbers, marshal no float of numpy's
            return float(data)
        case str():
            return whole_characters(data)
        case list() | tuple():
            return [_decoded_json(item) for item in data]
        case Mapping():
            return {whole_characters(str(key)): _decoded_json(item) for key, item in data.items()}
    raise InputFault(f"data of type {type(data).__name__}", expected="what JSON can hold")


def whole_characters(text: str) -> str:
    """Return the text with halves of surrogate pairs, which no UTF-8 has, as U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def unwrapped(value: Any) -> Any:
    """Return the value inside of an interface; INVALID for a null."""
    if isinstance(value, Interface):
        return INVALID if value.value is None else value.value
    return value


def type_name(value: Any) -> str:
    """Return the name of a value's type, in Go's words."""
    return _NAMES.get(type(value), "interface {}")


_NAMES: Final = {
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


def truth(value: Any) -> bool:
    """Return True if a value counts as true: what is empty or zero does not."""
    found = unwrapped(value)
    return found is not INVALID and bool(found)


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def written(pieces: list[str]) -> str:
    """Output in one: bytes that are no UTF-8, cut out of a text, become U+FFFD."""
    text = "".join(pieces)
    return text if text.isascii() else encoded(text).decode("utf-8", "replace")


def decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
