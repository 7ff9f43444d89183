"""Gemini's schemas as JSON Schema: capital types, `nullable` and counts as strings are converted.

Source: the Schema object of the Gemini API, a subset of OpenAPI 3.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_TYPES: Final = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
_SIZES: Final = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_OUTER: Final = ("description", "default", "title")  # these describe the value, also if it is null
_BY_NAME: Final = ("properties", "$defs", "definitions", "patternProperties")


def json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a schema of Gemini or OpenAPI 3.0 to JSON Schema; return any other unchanged."""
    copy = dict(schema)
    return _convert(copy) if _is_foreign(copy) else copy


def _is_foreign(node: Any) -> bool:
    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            if item.get("type") in _TYPES or isinstance(item.get("nullable"), bool):
                return True
            stack += item.values()
        elif isinstance(item, list):
            stack += item
    return False


def _convert(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    converted = {
        key: _value(key, value) for key, value in node.items() if key != "propertyOrdering"
    }
    if converted.get("type") in _TYPES:
        converted["type"] = converted["type"].lower()
    # Gemini's format "enum" is unknown to JSON Schema, and the keyword `enum` says the same.
    if converted.get("format") == "enum":
        del converted["format"]
    if converted.pop("nullable", False) is not True:
        return converted
    # A `$ref` or an `enum` must become one part of an `anyOf` whose other part allows null.
    outer = {key: converted.pop(key) for key in _OUTER if key in converted}
    return {"anyOf": [converted, {"type": "null"}], **outer}


def _value(key: str, value: Any) -> Any:
    # Protobuf's JSON form writes an int64 as a string.
    if key in _SIZES and isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    # The keys inside these keywords' values are names: a property called `nullable` is not a
    # keyword.
    if key in _BY_NAME and isinstance(value, dict):
        return {name: _convert(inner) for name, inner in value.items()}
    if key in ("items", "additionalProperties", "not"):
        return _convert(value)
    if key in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(value, list):
        return [_convert(item) for item in value]
    return value
