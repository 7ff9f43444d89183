"""A call's arguments by the tool's schema, before the tool runs.

As pydantic does in its lax mode: `"1"` is read as an integer where one is wanted, `"one"` is not.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal, NotRequired, Required, Union

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, WrapValidator, with_config
from pydantic_core import SchemaError
from typing_extensions import TypedDict

from playground.findings import Finding, finding
from playground.parsing.values import same
from playground.tools import Schema, ToolMetadata, resolve

_PLAIN: Final[Mapping[str, Any]] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": None,
}
_NUMBERS: Final = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
}
_FORMATS: Final[Mapping[str, Any]] = {
    "date": datetime.date,
    "date-time": datetime.datetime,
    "time": datetime.time,
    "duration": datetime.timedelta,
    "uuid": uuid.UUID,
}
# JSON Schema's bounds by type, and pydantic's words for them
_BOUNDS: Final[Mapping[str, Mapping[str, str]]] = {
    "integer": _NUMBERS,
    "number": _NUMBERS,
    "string": {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"},
    "array": {"minItems": "min_length", "maxItems": "max_length"},
}
_DEEPEST: Final = 8  # a schema may lead back to itself; what lies deeper is taken as it is


def checked_arguments(
    tool: ToolMetadata, given: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Finding]]:
    """The arguments as the schema wants them, and a finding for each that was read as another type.

    Arguments that the schema does not know stay. Raises ValueError naming every argument that is
    missing or does not fit.
    """
    values, found, wrong = dict(given), [], []
    wrong += [f"{name}: missing" for name in tool.required_parameters if name not in given]
    for name in tool.parameters:
        if name not in given:
            continue
        try:
            adapter = TypeAdapter(_type(tool.parameter_schema(name), tool.input_schema))
            value = adapter.validate_python(given[name])
        except ValidationError as error:
            wrong.append(f"{name}: {error.errors()[0]['msg']}, not {given[name]!r:.80}")
            continue
        if not same(value, given[name]):
            text = f"{given[name]!r:.80} is read as {value!r:.80}"
            found.append(finding("argument-coerced", f"tool {tool.name}, argument {name}", text))
            values[name] = value
    if wrong:
        raise ValueError("; ".join(wrong))
    return values, found


def _type(schema: Any, root: Schema, depth: int = 0) -> Any:
    """A Python type that takes what a schema takes; Any for what it does not say."""
    schema = resolve(schema, root)
    if depth > _DEEPEST or not isinstance(schema, Mapping):
        return Any
    if "const" in schema or schema.get("enum"):
        return Literal[tuple(schema.get("enum") or [schema["const"]])]
    variants = schema.get("anyOf") or schema.get("oneOf")
    kinds = schema.get("type")
    if isinstance(kinds, list):
        variants = [{**schema, "type": kind} for kind in kinds]
    if variants:
        return Union[tuple(_type(each, root, depth + 1) for each in variants)]  # noqa: UP007
    if kinds == "array":
        items = _type(schema.get("items", {}), root, depth + 1)
        return _bounded(list[items], schema)  # type: ignore[valid-type]
    if kinds == "object":
        return _object(dict(schema), root, depth)
    if kinds == "string" and schema.get("format") in _FORMATS:
        return Annotated[_FORMATS[schema["format"]], WrapValidator(_as_given)]
    return _bounded(_PLAIN.get(str(kinds), Any), schema)


def _as_given(value: Any, validate: Callable[[Any], Any]) -> Any:
    """Validated, and left alone: the tool gets a date as the text that the model wrote."""
    validate(value)
    return value


def _bounded(kind: Any, schema: Mapping[str, Any]) -> Any:
    """The type within the schema's bounds: those that pydantic would have written there."""
    for keyword, name in _BOUNDS.get(str(schema.get("type")), {}).items():
        if keyword not in schema:
            continue
        bounded = Annotated[kind, Field(**{name: schema[keyword]})]
        try:
            TypeAdapter(bounded)
        except (SchemaError, TypeError):  # no bound at all, or a pattern of another language
            continue
        kind = bounded
    return kind


def _object(schema: Schema, root: Schema, depth: int) -> Any:
    """An object's known fields by their types; others stay, or are what the schema says of them."""
    others = schema.get("additionalProperties", True)
    if not schema.get("properties"):
        return dict[str, _type(others, root, depth + 1)]  # type: ignore[misc]
    required = schema.get("required", [])
    fields = {
        name: (Required if name in required else NotRequired)[_type(each, root, depth + 1)]
        for name, each in schema["properties"].items()
    }
    made: Any = TypedDict("Arguments", fields)  # type: ignore[misc]
    return with_config(ConfigDict(extra="forbid" if others is False else "allow"))(made)
