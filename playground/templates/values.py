"""Values as Go sees them: JSON data, what came out of a container, and what is not there.

A value out of a list or map is an `Interface` until a pipeline's step takes it out; errors name its
type. Strings are bytes to Go: lengths and offsets count those of UTF-8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


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


@dataclass(frozen=True, slots=True)
class Interface:
    """What lies in a container; None is a JSON null."""

    value: Any


def from_json(data: Any) -> Any:
    """JSON as Go decodes it: every number is a float64."""
    if isinstance(data, bool) or data is None or isinstance(data, str | float):
        return data
    if isinstance(data, int):
        return float(data)
    if isinstance(data, list | tuple):
        return [from_json(item) for item in data]
    return {str(key): from_json(item) for key, item in dict(data).items()}


def unwrapped(value: Any) -> Any:
    """The value inside of an interface; INVALID for a null."""
    if isinstance(value, Interface):
        return INVALID if value.value is None else value.value
    return value


def type_name(value: Any) -> str:
    """The name of a value's type, in Go's words."""
    return _NAMES.get(type(value), "interface {}")


_NAMES: Final = {
    bool: "bool",
    int: "int",
    Byte: "uint8",
    float: "float64",
    complex: "complex128",
    str: "string",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}


def truth(value: Any) -> bool:
    """Whether a value counts as true: what is empty or zero does not."""
    found = unwrapped(value)
    return found is not INVALID and bool(found)


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
