"""Convert declarations to plain data and back: each value by the type that its field declares.

An unknown field, or a value of another type, is refused with its path.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType, UnionType
from typing import Any, Final, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from playground.base.errors import InputFault, SyntaxFault
from playground.dialects.files.fields import meaning
from playground.parsing.declaration import Declaration
from playground.parsing.syntax import Syntax

_KINDS: Final = {str: "a text", bool: "true or false", int: "a whole number"}
_DEEPEST: Final = 6  # forms within forms


Reader = Callable[[Any, "FieldPlace"], Any]


class FieldPlace(NamedTuple):
    """A place in a file: the file's name, and the dotted path of a field."""

    where: str
    field: str = ""

    def of(self, step: str | int) -> FieldPlace:
        return FieldPlace(self.where, f"{self.field}.{step}" if self.field else str(step))

    def fault(self, problem: str, expected: str) -> InputFault:
        return InputFault(problem, where=self.where, field=self.field, expected=expected)


def as_plain(value: Any) -> Any:
    """Return a declared value as JSON values; dataclasses without fields at their defaults."""
    if dataclasses.is_dataclass(value):
        return {
            field.name: as_plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if getattr(value, field.name) != default_of(field)
        }
    return [as_plain(item) for item in value] if isinstance(value, tuple) else value


def default_of(field: dataclasses.Field[Any]) -> Any:
    """Return a field's default, or MISSING if it has none."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def read_fields(
    kind: Any,  # a dataclass: mypy takes a bare type for unhashable
    data: Any,
    place: FieldPlace,
    readers: Mapping[str, Reader] = MappingProxyType({}),
    left_out: tuple[str, ...] = (),
) -> Any:
    """Build an instance of a dataclass from plain data.

    `readers` has functions for fields with a form of their own; fields in `left_out` are refused.
    Raises InputFault for an unknown or missing field, and for a value that its type does not allow.
    """
    values = _check_fields(kind, data, place, left_out)
    hints = _hints_of(kind)
    field_values = {
        name: readers[name](value, place.of(name))
        if name in readers
        else _read_value(hints[name], value, place.of(name))
        for name, value in values.items()
    }
    try:
        return kind(**field_values)
    except SyntaxFault as fault:
        raise place.of(fault.field).fault(str(fault), "a template that can be read") from fault


def _check_fields(
    kind: type[Any], data: Any, place: FieldPlace, left_out: tuple[str, ...]
) -> Mapping[str, Any]:
    """Check that all given fields exist, and that every field without a default is given."""
    if not isinstance(data, Mapping):
        raise place.fault(_what_was_given(data), "an object with fields")
    fields = {f.name: f for f in dataclasses.fields(kind) if f.name not in left_out}
    for name in data:
        if name not in fields:
            raise place.of(name).fault("no such field", f"one of {', '.join(fields)}")
    for name, field in fields.items():
        if name not in data and default_of(field) is dataclasses.MISSING:
            raise place.of(name).fault("is not given", meaning(place.of(name).field))
    return data


@cache
def _hints_of(kind: Any) -> dict[str, Any]:
    # elsewhere only type checkers load these
    from playground.dialects.preflight import PreflightCheck
    from playground.dialects.raw_prompts import LlamaPrompt
    from playground.dialects.rules_file import FileRules

    types = {"FileRules": FileRules, "LlamaPrompt": LlamaPrompt, "PreflightCheck": PreflightCheck}
    return get_type_hints(kind, localns=types)


def _read_value(hint: Any, data: Any, place: FieldPlace) -> Any:
    """Read one value by its declared type."""
    origin = get_origin(hint)
    if hint in _KINDS:
        if type(data) is not hint:
            raise place.fault(_what_was_given(data), _KINDS[hint])
        return data
    if origin is Literal:
        if data not in get_args(hint) or isinstance(data, bool):
            expected = f"one of {', '.join(map(repr, get_args(hint)))}"
            raise place.fault(_what_was_given(data), expected)
        return data
    if origin is tuple:
        return _read_list(get_args(hint), data, place)
    if origin in (Union, UnionType):
        option = next(option for option in get_args(hint) if option is not type(None))
        return _read_value(option, data, place)
    if place.field.count(".also") > _DEEPEST:
        raise place.fault("forms within forms, too deep", f"{_DEEPEST} at most")
    # A form that is only read is checked like the one that is written.
    return read_fields(Syntax if hint is Declaration else hint, data, place)


def _read_list(hints: tuple[Any, ...], data: Any, place: FieldPlace) -> tuple[Any, ...]:
    """Read a list of one type, or one value for each of several types."""
    if not isinstance(data, list):
        raise place.fault(_what_was_given(data), "a list")
    if hints[-1] is Ellipsis:
        hints = hints[:1] * len(data)
    if len(data) != len(hints):
        raise place.fault(f"a list of {len(data)}", f"a list of {len(hints)}")
    pairs = zip(hints, data, strict=True)
    return tuple(_read_value(hint, item, place.of(i)) for i, (hint, item) in enumerate(pairs))


def _what_was_given(data: Any) -> str:
    return f"{type(data).__name__} {data!r:.60} was given"
