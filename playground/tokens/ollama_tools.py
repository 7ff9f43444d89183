"""Write tools and arguments as Ollama passes them to a template: as JSON of Go structs.

Source: ollama's api/types.go and template/template.go. Keywords that the structs lack are left out.
The server's version decides which empty fields are written: descriptions until 0.12.5 (2025-10),
`required` until 0.12.10 (2025-11). From 0.14 to 0.29 (2026-01 to 05) templates got Go's own form of
a struct by mistake, which is a few tokens shorter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_ESCAPED: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


@dataclass(frozen=True, slots=True)
class _Version:
    """A version of Ollama, by the fields that it writes."""

    descriptions: bool  # descriptions and types of properties, even if empty
    required: bool  # the list of required properties, even if empty
    nested: bool  # properties of properties


_OLDEST: Final = _Version(descriptions=True, required=True, nested=False)
_NEWEST: Final = _Version(descriptions=False, required=False, nested=True)


def tool_text(function: Mapping[str, Any]) -> str:
    """Write a tool as Ollama 0.30 and later do."""
    return _tool(function, _NEWEST)


def extra_of_old_versions(function: Mapping[str, Any]) -> int:
    """Return the most tokens by which the text of old versions may be longer.

    That is the number of additional characters, or 0 if all versions write the tool alike.
    """
    new, old = _tool(function, _NEWEST), _tool(function, _OLDEST)
    return 0 if new == old else max(1, len(old) - len(new))


def arguments_text(arguments: Any) -> str:
    """Write a call's arguments; a text that is no JSON stays as it is."""
    if isinstance(arguments, str):
        try:
            return go_json(with_sorted_keys(json.loads(arguments)))
        except (ValueError, RecursionError):
            return arguments
    return go_json(with_sorted_keys(arguments if isinstance(arguments, dict) else {}))


def go_json(value: Any) -> str:
    """Write a value as Go's encoding/json does: without blanks, with `<`, `>` and `&` escaped."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for letter, escaped in _ESCAPED.items():
        text = text.replace(letter, escaped)
    return text


def with_sorted_keys(value: Any) -> Any:
    """Return a value with the keys of objects sorted, as Go writes maps."""
    if isinstance(value, dict):
        return {key: with_sorted_keys(value[key]) for key in sorted(value, key=str)}
    return [with_sorted_keys(item) for item in value] if isinstance(value, list) else value


def _tool(function: Mapping[str, Any], version: _Version) -> str:
    value = function.get("parameters")
    parameters = value if isinstance(value, dict) else {}
    properties = parameters.get("properties")
    inner: dict[str, Any] = {"type": parameters.get("type") or ""}
    for key in ("$defs", "items"):
        if parameters.get(key) is not None:
            inner[key] = with_sorted_keys(parameters[key])
    if parameters.get("required") or version.required:
        inner["required"] = parameters.get("required")
    inner["properties"] = (
        {key: _property(properties[key], version) for key in sorted(properties)}
        if isinstance(properties, dict)
        else None
    )
    value_written = {
        "name": function["name"],
        "description": function.get("description") or "",
        "parameters": inner,
    }
    return go_json({"type": "function", "function": value_written})


def _property(value: Any, version: _Version) -> dict[str, Any]:
    schema = value if isinstance(value, dict) else {}
    fields: dict[str, Any] = {}
    if isinstance(schema.get("anyOf"), list) and schema["anyOf"]:
        fields["anyOf"] = [_property(schema_part, version) for schema_part in schema["anyOf"]]
    kind = schema.get("type")
    if kind or version.descriptions:
        fields["type"] = kind[0] if isinstance(kind, list) and len(kind) == 1 else kind
    if schema.get("items") is not None:
        fields["items"] = with_sorted_keys(schema["items"])
    if schema.get("description") or version.descriptions:
        fields["description"] = schema.get("description") or ""
    if schema.get("enum"):
        fields["enum"] = schema["enum"]
    if version.nested and isinstance(schema.get("properties"), dict) and schema["properties"]:
        fields["properties"] = {
            key: _property(schema_part, version)
            for key, schema_part in schema["properties"].items()
        }
    if version.nested and schema.get("required"):
        fields["required"] = schema["required"]
    return fields
