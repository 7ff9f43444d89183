"""Tools from OpenAPI 3 documents: an operation is a tool, its parameters and JSON body a schema.

Each `$ref` within the document is replaced by its target. An operation with a `$ref` that leads
back to itself, or out of the document, is left out with a finding. Source: OpenAPI Specification
3.0 and 3.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.nouns.tools import target_of

_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_DROPPED_FIELDS: Final = ("responses", "security", "servers", "callbacks")
_MOST_VALUES: Final = 200_000  # in one operation, once its references are replaced
_Operation = tuple[dict[str, Any] | None, list[Finding]]


def is_openapi(value: Mapping[str, Any]) -> bool:
    """Return True for a complete document of OpenAPI 3."""
    return str(value.get("openapi", "")).startswith("3") and isinstance(value.get("paths"), Mapping)


def operations(document: Mapping[str, Any], where: str) -> Iterator[_Operation]:
    """Yield each operation as a tool, or None if it is left out, with the findings about it.

    Raises InputFault if no operation can be read.
    """
    any_read, first_refusal = False, ""
    names: set[str] = set()
    for path, item in document["paths"].items():
        for method, operation in (item if isinstance(item, Mapping) else {}).items():
            if method not in _METHODS or not isinstance(operation, Mapping):
                continue
            place = f"{where}, {method.upper()} {path}"
            try:
                shared = item.get("parameters") or ()
                tool, findings = _tool(document, operation, shared, f"{method}_{path}", place)
            except _Refused as refusal:
                first_refusal = first_refusal or str(refusal)
                yield None, [finding(refusal.code, place, f"left out: {refusal}")]
                continue
            if tool["name"] in names:
                taken_name, tool["name"] = tool["name"], f"{tool['name']}_{len(names)}"
                text = f"{taken_name} is used twice: called {tool['name']}"
                findings.append(finding("name-mended", place, text))
            names.add(tool["name"])
            any_read = True
            yield tool, findings
    if not any_read:
        problem = f"no operation can be read{': ' if first_refusal else ''}{first_refusal}"
        raise InputFault(problem, field=where, expected="an operation whose $refs can be resolved")


class _Refused(Exception):
    """Raised if an operation cannot be a tool; the message is the reason."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


def _tool(
    document: Mapping[str, Any],
    operation: Mapping[str, Any],
    shared: Any,
    default_name: str,
    place: str,
) -> tuple[dict[str, Any], list[Finding]]:
    refs = _References(document)
    findings: list[Finding] = []
    properties: dict[str, Any] = {}
    required: list[str] = []
    by_location: dict[tuple[str, str], dict[str, Any]] = {}
    # An operation's own parameter replaces the path's parameter of the same name and location.
    for parameter in [*refs.mappings(shared), *refs.mappings(operation.get("parameters"))]:
        if isinstance(parameter.get("name"), str):
            by_location[str(parameter.get("in")), parameter["name"]] = parameter
        else:
            findings.append(finding("tool-fields", place, "a parameter without a name is not kept"))
    for (location, name), parameter in by_location.items():
        # `id` may be in the path and in the query, but a tool has only one namespace.
        key = name if name not in properties else f"{name}_{location}"
        properties[key] = _described_schema(parameter)
        if parameter.get("required"):
            required.append(key)
    dropped = [key for key in _DROPPED_FIELDS if key in operation]
    dropped += ["the location of parameters"] if by_location else []
    if dropped:
        findings.append(finding("tool-fields", place, f"not kept: {', '.join(dropped)}"))
    body = refs.resolve(operation.get("requestBody"))
    if isinstance(body, Mapping):
        _add_body(body, properties, required)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    name = str(operation.get("operationId") or "")
    if not name:
        name = re.sub(r"[^A-Za-z0-9]+", "_", default_name).strip("_")
        findings.append(finding("name-mended", place, f"no operationId: called {name}"))
    description = operation.get("description") or operation.get("summary") or ""
    return {"name": name, "description": str(description), "input_schema": schema}, findings


def _described_schema(parameter: Mapping[str, Any]) -> Any:
    """Return a parameter's schema, with the parameter's own description."""
    schema = parameter.get("schema")
    if not isinstance(schema, Mapping):
        schema = next(iter(_content(parameter)), {})
    description = parameter.get("description")
    return {**schema, "description": str(description)} if description else dict(schema)


def _add_body(body: Mapping[str, Any], properties: dict[str, Any], required: list[str]) -> None:
    """Add the fields of a body to the parameters. A body that is not an object, or has a field with
    a parameter's name, is added as the parameter `body`."""
    schema = next(iter(_content(body)), {})
    fields = schema.get("properties")
    if not isinstance(fields, Mapping) or set(fields) & set(properties):
        properties["body"] = schema
        if body.get("required"):
            required.append("body")
        return
    properties |= fields
    body_required = schema.get("required")
    if isinstance(body_required, list):
        required += [name for name in body_required if isinstance(name, str)]


def _content(holder: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the schemas in the `content` of a parameter or body, those for JSON first."""
    content = holder.get("content")
    kinds = content if isinstance(content, Mapping) else {}
    ordered = sorted(kinds, key=lambda kind: "json" not in str(kind))
    schemas = [kinds[kind].get("schema") for kind in ordered if isinstance(kinds[kind], Mapping)]
    return [dict(schema) for schema in schemas if isinstance(schema, Mapping)]


class _References:
    """A replacer of `$ref`s by their targets in a document; the number of values has a limit."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document, self._remaining = dict(document), _MOST_VALUES

    def mappings(self, values: Any) -> list[dict[str, Any]]:
        resolved = self.resolve(list(values) if isinstance(values, list) else [])
        return [item for item in resolved if isinstance(item, dict)]

    def resolve(self, node: Any, inside: tuple[str, ...] = ()) -> Any:
        """Return a value with each `$ref` in it replaced by its target. `inside` are the references
        that led to the value. Raises _Refused."""
        # Nested references may double at every level: a kilobyte may expand to gigabytes.
        self._remaining -= 1
        if self._remaining < 0:
            raise _Refused("cyclic-ref", f"its $refs expand to more than {_MOST_VALUES:,} values")
        if isinstance(node, list):
            return [self.resolve(item, inside) for item in node]
        if not isinstance(node, Mapping):
            return node
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return {key: self.resolve(value, inside) for key, value in node.items()}
        if reference in inside:
            raise _Refused("cyclic-ref", " → ".join([*inside, reference]))
        target = target_of(reference, self._document)
        if target is None:
            raise _Refused("unresolved-ref", f"nothing at {reference}")
        # OpenAPI 3.1 allows other keywords next to a `$ref`, 3.0 ignores them; here they stay.
        resolved = self.resolve(target, (*inside, reference))
        other_keywords = {key: value for key, value in node.items() if key != "$ref"}
        return {**resolved, **other_keywords} if isinstance(resolved, dict) else resolved
