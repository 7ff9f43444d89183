"""What Flink-Agents makes of a schema that it reads back: shown beside ours, never used for it.

It builds a pydantic model from the schema's types and some of its bounds, and that model's schema
is what a provider is told. Enums, constants, nested fields, patterns and formats are gone; what was
optional without a default is required. Source: cases run on its code at 8ad3a32.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Optional, Union

from pydantic import BaseModel, ConfigDict, Field, create_model

from playground.errors import InputFault

_TYPES: Final[Mapping[str, Any]] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": type(None),
}
_BOUNDS: Final = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
}


def rebuilt_schema(schema: Mapping[str, Any], name: str = "") -> dict[str, Any]:
    """The schema after a way through Flink-Agents.

    Raises InputFault where it cannot read it: a list of types, a union of two types and null, names
    that pydantic refuses.
    """
    try:
        model = _model(name or str(schema.get("title") or "default"), schema, {})
        return model.model_json_schema()
    except InputFault:
        raise
    except Exception as error:  # what is odd in a schema raises there, too
        raise _unreadable("", f"this schema: {str(error).splitlines()[0]}") from error


def from_java_schema(text: str, name: str) -> dict[str, Any]:
    """A schema in the text of its Java side: types and descriptions alone, all required."""
    properties = json.loads(text).get("properties") or {}
    fields: dict[str, Any] = {}
    for key, schema in properties.items():
        description = schema.get("description") or f"Parameter: {key}"
        kind = _type({"type": schema.get("type")}, {}, key)
        fields[key] = (kind, Field(description=description))
    model: type[BaseModel] = create_model(name, **fields)
    return model.model_json_schema()


def to_java_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema as its Java side reads it: of a field, the type and the description."""
    properties = {}
    for key, given in (schema.get("properties") or {}).items():
        variants = [v for v in given.get("anyOf") or [given] if v.get("type") != "null"]
        properties[key] = {
            "type": variants[0].get("type") if variants else "null",
            "description": given.get("description", ""),
        }
    return {"properties": properties, "required": list(schema.get("required") or [])}


def _model(
    name: str, schema: Mapping[str, Any], known: dict[str, type[BaseModel]]
) -> type[BaseModel]:
    for key, inner in (schema.get("$defs") or {}).items():
        known[key] = _model(key, inner, known)
    required = schema.get("required") or ()
    fields: dict[str, Any] = {}
    for key, given in (schema.get("properties") or {}).items():
        bounds = {word: given[bound] for bound, word in _BOUNDS.items() if bound in given}
        default = given.get("default", ...) if key not in required else ...
        said = given.get("description")
        fields[key] = (_type(given, known, key), Field(default, description=said, **bounds))
    config = ConfigDict(protected_namespaces=())
    model: type[BaseModel] = create_model(
        name, __config__=config, __doc__=schema.get("description"), **fields
    )
    return model


def _type(schema: Any, known: Mapping[str, type[BaseModel]], where: str) -> Any:
    if not isinstance(schema, Mapping):
        return Any
    if "$ref" in schema:
        return known.get(str(schema["$ref"]).rpartition("/")[2], Any)
    if "anyOf" in schema:
        return _union(schema["anyOf"], known, where)
    kind = schema.get("type")
    if isinstance(kind, list):
        raise _unreadable(where, f"a list of types: {kind}")
    if kind == "array":
        return list[_type(schema.get("items"), known, where)]  # type: ignore[misc]
    if kind == "object":
        values = schema.get("additionalProperties")
        if isinstance(values, Mapping):
            return dict[str, _type(values, known, where)]  # type: ignore[misc]
        return dict[str, Any]
    return _TYPES.get(str(kind), Any)


def _union(variants: Any, known: Mapping[str, type[BaseModel]], where: str) -> Any:
    kinds = [_type(variant, known, where) for variant in variants]
    others = tuple(kind for kind in kinds if kind is not type(None))
    if len(others) == len(kinds):
        return Union[others]  # noqa: UP007
    if len(others) != 1:
        raise _unreadable(where, f"null and {len(others)} types in one anyOf")
    return Optional[others[0]]  # noqa: UP045


def _unreadable(where: str, why: str) -> InputFault:
    return InputFault(
        f"Flink-Agents cannot read {why}", field=where, expected="one type, or one type and null"
    )
