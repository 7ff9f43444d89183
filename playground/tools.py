"""Tool metadata: the JSON Schema is kept as given; everything else is read from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from playground.errors import InputFault
from playground.findings import Finding, finding

Schema = dict[str, Any]


class ParameterMetadata(BaseModel):
    """One parameter as a prompt describes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    description: str = ""
    type: str = "string"


class ToolExample(BaseModel):
    """A worked call for the tool's documentation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    explanation: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)


class ToolMetadata(BaseModel):
    """A tool: its name, description, JSON Schema as given, and examples.

    `parameters=` and `required_parameters=` may be given in place of `input_schema=`; a schema of
    string properties is then built from them, so that there is one truth.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    description: str = ""
    input_schema: Schema = Field(default_factory=lambda: {"type": "object", "properties": {}})
    examples: tuple[ToolExample, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _schema_from_parameters(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not {"parameters", "required_parameters"} & set(data):
            return data
        if "input_schema" in data:
            raise ValueError("give input_schema or parameters, not both")
        rest = {k: v for k, v in data.items() if k not in ("parameters", "required_parameters")}
        properties = {
            name: _property(value) for name, value in (data.get("parameters") or {}).items()
        }
        required = list(data.get("required_parameters") or [])
        schema = {"type": "object", "properties": properties, "required": required}
        return {**rest, "input_schema": schema}

    @property
    def parameters(self) -> dict[str, ParameterMetadata]:
        """The parameters in the schema's order, `$ref` followed one step at a time."""
        return {name: self._parameter(name) for name in self._properties()}

    @property
    def required_parameters(self) -> list[str]:
        required = self.input_schema.get("required", [])
        return [name for name in required if isinstance(name, str)] if _is_list(required) else []

    def parameter_schema(self, name: str) -> Schema:
        """The JSON Schema of one parameter, or {} where the tool does not declare it."""
        return resolve(self._properties().get(name, {}), self.input_schema)

    def _parameter(self, name: str) -> ParameterMetadata:
        schema = self.parameter_schema(name)
        given = self._properties()[name]
        own = given.get("description") if isinstance(given, dict) else None
        description = own or schema.get("description") or ""
        return ParameterMetadata(description=str(description), type=type_name(schema))

    def _properties(self) -> dict[str, Any]:
        schema = resolve(self.input_schema, self.input_schema)
        properties = schema.get("properties", {})
        return properties if isinstance(properties, dict) else {}


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _property(value: Any) -> Schema:
    if isinstance(value, ParameterMetadata):
        return {"type": value.type, "description": value.description}
    if isinstance(value, Mapping):
        return {"type": "string", **value}
    return {"type": "string", "description": str(value)}


def type_name(schema: Schema) -> str:
    """The schema's type in a word or two: `integer`, `string or null`, `array of string`."""
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(str(item) for item in kind)
    if kind == "array" and isinstance(schema.get("items"), dict):
        return f"array of {type_name(schema['items'])}"
    if kind is None:
        variants = schema.get("anyOf") or schema.get("oneOf") or []
        names = [type_name(item) for item in variants if isinstance(item, dict)]
        return " or ".join(dict.fromkeys(names)) or "any"
    return str(kind)


_TYPE_NAMES = {  # written by people who think in Python or TypeScript
    "str": "string",
    "int": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "dict": "object",
    "none": "null",
}


def allowed_types(schema: Schema) -> set[str]:
    """Every JSON type that the schema admits; empty where it says nothing of types."""
    kind = schema.get("type")
    if isinstance(kind, str | list):
        names = [kind] if isinstance(kind, str) else kind
        return {_TYPE_NAMES.get(str(name).lower(), str(name).lower()) for name in names}
    found: set[str] = set()
    for variant in [*(schema.get("anyOf") or []), *(schema.get("oneOf") or [])]:
        found |= allowed_types(variant) if isinstance(variant, dict) else set()
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    return found | {json_type(value) for value in values}


def json_type(value: Any) -> str:
    """The JSON Schema type of a Python value."""
    names = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return names.get(type(value), "array" if isinstance(value, list) else "object")


def resolve(schema: Any, root: Schema) -> Schema:
    """Follow `$ref` within `root` until a schema without one; {} for a cycle or a broken path."""
    seen: set[str] = set()
    while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
        reference = schema["$ref"]
        if reference in seen:
            return {}
        seen.add(reference)
        schema = _target(reference, root)
    return schema if isinstance(schema, dict) else {}


def _target(reference: str, root: Schema) -> Any:
    node: Any = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        if not step:
            continue
        step = step.replace("~1", "/").replace("~0", "~")
        node = node.get(step) if isinstance(node, dict) else None
    return node if reference.startswith("#") else None


def schema_findings(tool: ToolMetadata, where: str) -> list[Finding]:
    """`$ref`s that lead nowhere or back to themselves."""
    found: list[Finding] = []
    stack: list[tuple[Any, frozenset[str], str]] = [(tool.input_schema, frozenset(), where)]
    expanded: set[str] = set()
    while stack:
        node, path, place = stack.pop()
        if isinstance(node, list):
            stack += [(item, path, f"{place}.{i}") for i, item in enumerate(node)]
        if not isinstance(node, dict):
            continue
        reference = node.get("$ref")
        if isinstance(reference, str):
            target = _target(reference, tool.input_schema)
            if reference in path:
                found.append(finding("cyclic-ref", place, f"{reference} leads back to itself"))
            elif target is None:
                found.append(finding("unresolved-ref", place, f"nothing at {reference}"))
            elif reference not in expanded:
                expanded.add(reference)
                stack.append((target, path | {reference}, f"{place}.$ref"))
        stack += [(value, path, f"{place}.{key}") for key, value in node.items() if key != "$ref"]
    return found


def read_tool(value: Any, where: str = "tool") -> ToolMetadata:
    """Read one tool in any known form: ours, OpenAI (chat, responses), Anthropic, MCP.

    Raises InputFault naming the place when the form is not recognised.
    """
    if isinstance(value, ToolMetadata):
        return value
    if not isinstance(value, Mapping):
        raise InputFault(f"a tool must be an object, not {value!r:.60}", field=where)
    function = value.get("function")
    body: Mapping[str, Any] = function if isinstance(function, Mapping) else value
    data = {key: body[key] for key in ("name", "description", "examples") if body.get(key)}
    schema = _first(body, ("input_schema", "inputSchema", "parameters"))
    if "required_parameters" in body:
        data |= {"parameters": schema or {}, "required_parameters": body["required_parameters"]}
    elif schema:
        data["input_schema"] = dict(schema)
    try:
        return ToolMetadata.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join([where, *(str(step) for step in first["loc"])])
        raise InputFault(str(first["msg"]), field=field, expected=_TOOL_FORMS) from error


_TOOL_FORMS = "a tool with a name and a JSON Schema (OpenAI, Anthropic, MCP or this project's form)"


def _first(body: Mapping[str, Any], keys: tuple[str, ...]) -> Mapping[str, Any] | None:
    for key in keys:
        if isinstance(body.get(key), Mapping):
            return body[key]  # type: ignore[no-any-return]
    return None


def read_tools(value: Any) -> list[ToolMetadata]:
    """Read a list of tools, or an object that holds one under `tools`."""
    if isinstance(value, Mapping) and "tools" in value:
        value = value["tools"]
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InputFault(f"tools must be a list, not {value!r:.60}", field="tools")
    return [read_tool(item, f"tools.{index}") for index, item in enumerate(value)]
