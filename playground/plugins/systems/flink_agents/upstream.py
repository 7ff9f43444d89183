"""Build the schema that Flink-Agents would make of a tool's schema, to show it. We never send it.

Flink-Agents builds a pydantic model from a schema's types and some of its bounds, and sends the
schema of that model to providers. Enums, constants, fields of inline objects, patterns and formats
are lost, and an optional field without a default becomes required. Source: cases run on its code at
commit 8ad3a32, and release 0.3.1.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final, Optional, Union

from pydantic import BaseModel, ConfigDict, Field, create_model

from playground.base.errors import InputFault

_TYPES: Final[Mapping[str, Any]] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": dict,
    "array": list,
    "null": type(None),
}
_BOUNDS: Final = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "inclusiveMinimum": "ge",
    "inclusiveMaximum": "le",
    "minItems": "min_length",
    "maxItems": "max_length",
}


def rebuilt_schema(schema: Mapping[str, Any], name: str = "") -> dict[str, Any]:
    """Return a schema as Flink-Agents would rebuild it.

    Raises InputFault for a schema that Flink-Agents cannot read, such as one with a list of types,
    with a union of two types and null, or with names that pydantic refuses.
    """
    try:
        model = _model(name or str(schema.get("title") or "default"), schema, {})
        return model.model_json_schema()
    except InputFault:
        raise
    except Exception as error:  # pydantic may raise anything for a strange schema
        raise _unreadable("", f"this schema: {str(error).splitlines()[0]}") from error


def from_java_schema(text: str, name: str) -> dict[str, Any]:
    """Read a schema from the text of Flink-Agents' Java side, which has types and descriptions.
    All properties are required. Raises InputFault if the text is no JSON object with properties,
    or if a property has no type.
    """
    fields: dict[str, Any] = {}
    try:
        for key, schema in json.loads(text)["properties"].items():
            given_description = schema.get("description")
            description = f"Parameter: {key}" if given_description is None else given_description
            fields[key] = (_TYPES.get(schema["type"]), Field(description=description))
        return _create_model(name, fields).model_json_schema()
    except Exception as error:  # an odd schema may raise anything
        raise _unreadable("", f"this schema: {error!r}".splitlines()[0]) from error


def to_java_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema as Flink-Agents' Java side reads it: types, descriptions, required."""
    properties = {
        key: {
            "type": _java_type(field),
            "description": field.get("description", f"Parameter: {key}"),
        }
        for key, field in (schema.get("properties") or {}).items()
    }
    required = list(schema.get("required") or [])
    return {"properties": properties, **({"required": required} if required else {})}


def _java_type(schema: Mapping[str, Any]) -> str:
    """Return the Java side's type of a field. Enums, models and unknown types become strings.

    On the Java side `list[Any]` is a string, and `list` an array. As both have the same JSON
    Schema, both become arrays here.
    """
    variants = [v for v in schema.get("anyOf") or [schema] if v.get("type") != "null"]
    if not variants:
        return "null"
    first = variants[0]
    typed_items = first.get("items") or first.get("additionalProperties", True) is not True
    if typed_items or {"enum", "const"} & first.keys():
        return "string"
    return str(first.get("type", "string"))


def _model(
    name: str, schema: Mapping[str, Any], models: dict[str, type[BaseModel]]
) -> type[BaseModel]:
    for key, inner in (schema.get("$defs") or {}).items():
        models[key] = _model(key, inner, models)
    fields: dict[str, Any] = {}
    for key, field in (schema.get("properties") or {}).items():
        bounds = {word: field[bound] for bound, word in _BOUNDS.items() if bound in field}
        default = field.get("default", ...)
        description = field.get("description")
        fields[key] = (_type(field, models, key), Field(default, description=description, **bounds))
    return _create_model(name, fields, schema.get("description"))


def _create_model(
    name: str, fields: dict[str, Any], description: str | None = None
) -> type[BaseModel]:
    config = ConfigDict(protected_namespaces=())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pydantic warns if a field has a method's name
        model: type[BaseModel] = create_model(
            name, __config__=config, __doc__=description, **fields
        )
    return model


def _type(schema: Mapping[str, Any], models: Mapping[str, type[BaseModel]], where: str) -> Any:
    if "$ref" in schema:
        return models.get(str(schema["$ref"]).rpartition("/")[2], Any)
    if "anyOf" in schema:
        return _union(schema["anyOf"], where)
    kind = schema.get("type")
    if isinstance(kind, list):
        raise _unreadable(where, f"a list of types: {kind}")
    if kind == "array":
        return list[_type(schema.get("items", {}), models, where)]  # type: ignore[misc]
    if kind == "object":
        values = schema.get("additionalProperties")
        return dict[str, _type(values, models, where) if values else Any]  # type: ignore[misc]
    return _TYPES.get(str(kind), Any)


def _union(variants: Sequence[Mapping[str, Any]], where: str) -> Any:
    """Return a union of the plain types among the variants; references and enums are lost."""
    kinds = [_TYPES.get(variant["type"], Any) for variant in variants if variant.get("type")]
    if type(None) in kinds:
        kinds.remove(type(None))
        if len(kinds) != 1:
            raise _unreadable(where, f"null and {len(kinds)} types in one anyOf")
        return Optional[kinds[0]]  # noqa: UP045
    if not kinds:
        raise _unreadable(where, "an anyOf without plain types")
    return Union[tuple(kinds)]  # noqa: UP007


def _unreadable(where: str, reason: str) -> InputFault:
    return InputFault(
        f"Flink-Agents cannot read {reason}", field=where, expected="one type, or one type and null"
    )
