"""Tool metadata: the JSON Schema is kept as given, and parameters are derived from it."""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, Field, model_validator

from playground.base.arguments import plain_faults
from playground.base.findings import Finding, finding

Schema = dict[str, Any]


class ParameterMetadata(BaseModel):
    """A parameter as a prompt describes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    description: str = ""
    type: str = "string"


class ToolExample(BaseModel):
    """An example of a call, for the tool's documentation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    explanation: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)


@plain_faults('ToolMetadata(name="f", description="…", input_schema={"type": "object", …})')
class ToolMetadata(BaseModel):
    """A tool: its name, description, JSON Schema as given, and examples.

    `parameters=` and `required_parameters=` may be given in place of `input_schema=`: a schema is
    built from them, with properties of type string unless they name a type. `parameters=` and
    `args_schema=` may also be a whole schema, and `args_schema=` a pydantic model.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    description: str = ""
    input_schema: Schema = Field(default_factory=lambda: {"type": "object", "properties": {}})
    examples: tuple[ToolExample, ...] = ()

    if TYPE_CHECKING:  # for type checkers: the validator below takes more than the fields

        def __init__(
            self,
            *,
            name: str,
            description: str = "",
            input_schema: Schema = ...,
            examples: Sequence[ToolExample] = (),
            parameters: Mapping[str, str | Schema | ParameterMetadata] = ...,
            required_parameters: Sequence[str] = ...,
            args_schema: Schema | type[BaseModel] = ...,
        ) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _schema_from_parameters(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        if "args_schema" in data:
            return _with_args_schema(data)
        if not {"parameters", "required_parameters"} & set(data):
            return data
        if "input_schema" in data:
            raise ValueError("give input_schema or parameters, not both")
        rest = {k: v for k, v in data.items() if k not in ("parameters", "required_parameters")}
        parameters = data.get("parameters") or {}
        if parameters.get("type") == "object" and isinstance(parameters.get("properties"), Mapping):
            return {**rest, "input_schema": parameters}  # a JSON Schema under OpenAI's name
        properties = {name: _property(value) for name, value in parameters.items()}
        required = list(data.get("required_parameters") or [])
        schema = {"type": "object", "properties": properties, "required": required}
        return {**rest, "input_schema": schema}

    @property
    def parameters(self) -> dict[str, ParameterMetadata]:
        """The parameters in the schema's order, with each `$ref` followed."""
        return {name: self._parameter(name) for name in self._properties()}

    @property
    def parameter_names(self) -> set[str]:
        """The names of the parameters, for parsers; cheaper than `parameters`."""
        return set(self._properties())

    @property
    def required_parameters(self) -> list[str]:
        required = _as_list(self.input_schema.get("required"))  # may be `true`
        return [name for name in required if isinstance(name, str)]

    def parameter_schema(self, name: str) -> Schema:
        """Return the JSON Schema of one parameter, or {} if the tool does not declare it. A `$ref`
        is followed, also inside a union."""
        return resolve_union(self._properties().get(name, {}), self.input_schema)

    def own_schema(self, name: str) -> Schema:
        """Return the JSON Schema of one parameter as it is written: references are not followed."""
        own = self._properties().get(name, {})
        return own if isinstance(own, dict) else {}

    def _parameter(self, name: str) -> ParameterMetadata:
        schema = self.parameter_schema(name)
        property_schema = self._properties()[name]
        # A description next to a `$ref` is about this parameter, the target's own about the type.
        own = property_schema.get("description") if isinstance(property_schema, dict) else None
        description = own or schema.get("description") or ""
        return ParameterMetadata(
            description=str(description), type=type_name(schema, self.input_schema)
        )

    def _properties(self) -> dict[str, Any]:
        schema = resolve(self.input_schema, self.input_schema)
        properties = schema.get("properties", {})
        return properties if isinstance(properties, dict) else {}


def _with_args_schema(data: Mapping[str, Any]) -> dict[str, Any]:
    """Rename Flink-Agents' `args_schema`, a schema or a pydantic model, to `input_schema`."""
    if {"input_schema", "parameters", "required_parameters"} & set(data):
        raise ValueError("give args_schema or another schema, not both")
    rest = {key: value for key, value in data.items() if key != "args_schema"}
    schema = data["args_schema"]
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        schema = schema.model_json_schema()
    return {**rest, "input_schema": schema}


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _property(value: Any) -> Schema:
    if isinstance(value, ParameterMetadata):
        return {"type": value.type, "description": value.description}
    if isinstance(value, Mapping):
        kind = {} if SCHEMA_WORDS & value.keys() else {"type": "string"}
        return kind | {k: v for k, v in value.items() if (k, v) != ("required", True)}
    return {"type": "string", "description": str(value)}


def type_name(schema: Schema, root: Schema, depth: int = 0) -> str:
    """Return the schema's type in a word or two: `integer`, `string or null`, `array of string`."""
    # The items of a list may refer to the list itself, without end.
    schema = resolve(schema, root) if depth < 8 else {}
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(str(item) for item in kind)
    if kind == "array" and isinstance(schema.get("items"), dict):
        return f"array of {type_name(schema['items'], root, depth + 1)}"
    if kind is None:
        variants = schema.get("anyOf") or schema.get("oneOf") or []
        names = [type_name(item, root, depth + 1) for item in variants if isinstance(item, dict)]
        return " or ".join(dict.fromkeys(names)) or "any"
    return str(kind)


_UNION_DEPTH = 2  # a union of unions may lead back to itself
_UNIONS = ("anyOf", "oneOf", "allOf")
TYPE_NAMES: Final = {  # words of Python and TypeScript that people write as types
    "str": "string", "int": "integer", "float": "number", "double": "number", "bool": "boolean",
    "list": "array", "tuple": "array", "dict": "object", "none": "null",
}  # fmt: skip


def allowed_types(schema: Schema) -> set[str]:
    """Return every JSON type that the schema allows; an empty set if it restricts no types."""
    kind = schema.get("type")
    if isinstance(kind, str | list):
        names = [kind] if isinstance(kind, str) else kind
        return {TYPE_NAMES.get(str(name).lower(), str(name).lower()) for name in names}
    types: set[str] = set()
    for variant in variants(schema):
        types |= allowed_types(variant)
    # Without a type, the listed values show it.
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    return types | {json_type(value) for value in values}


def variants(schema: Schema) -> list[Schema]:
    """Return the alternatives of a union, or the parts of an `allOf`."""
    parts = [item for key in _UNIONS for item in _as_list(schema.get(key))]
    return [item for item in parts if isinstance(item, dict)]


PYTHON_TYPES: Final[dict[str, frozenset[type]]] = {  # of JSON's types
    "string": frozenset({str}), "integer": frozenset({int}), "number": frozenset({int, float}),
    "boolean": frozenset({bool}), "null": frozenset({type(None)}), "array": frozenset({list}),
    "object": frozenset({dict}),
}  # fmt: skip
JSON_TYPES: Final = tuple(PYTHON_TYPES)


def json_type(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    other = "array" if isinstance(value, list) else "object"
    return names.get(type(value), "string" if isinstance(value, str) else other)


def resolve(schema: Any, root: Schema) -> Schema:
    """Follow `$ref` within `root` up to a schema without one; {} for a cycle or a broken path."""
    if type(schema) is dict and "$ref" not in schema:  # most schemas
        return schema
    seen: set[str] = set()
    while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
        reference = schema["$ref"]
        if reference in seen:
            return {}
        seen.add(reference)
        schema = target_of(reference, root)
    return schema if isinstance(schema, dict) else {}


def resolve_union(schema: Any, root: Schema, depth: int = 0) -> Schema:
    """Resolve a schema, and the parts of a union too, so that `allowed_types` sees their types."""
    target = resolve(schema, root)
    if depth == _UNION_DEPTH or not any(key in target for key in _UNIONS):
        return target
    resolved = {
        key: [resolve_union(item, root, depth + 1) for item in _as_list(target[key])]
        for key in _UNIONS
        if key in target
    }
    return {**target, **resolved}


def target_of(reference: str, root: Schema) -> Any:
    """Return what a `$ref` within `root` refers to; None if it leads nowhere or elsewhere."""
    node: Any = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        if not step:
            continue
        # RFC 6901 demands this order: otherwise `~01` would become a slash.
        step = step.replace("~1", "/").replace("~0", "~")
        node = node.get(step) if isinstance(node, dict) else None
    return node if reference.startswith("#") else None


def _has_references(schema: Any) -> bool:
    """Return True if `$ref` is a key anywhere in the schema."""
    with suppress(ValueError):  # a value that marshal does not know
        if b"$ref" not in marshal.dumps(schema):
            return False
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if "$ref" in node:
                return True
            stack += [inner for inner in node.values() if type(inner) is not str]
        elif isinstance(node, list):
            stack += [inner for inner in node if type(inner) is not str]
    return False


SCHEMA_WORDS: Final = frozenset(
    {"type", "properties", "required", "$ref", "$defs", "anyOf", "oneOf", "allOf", "enum", "const"}
)
_OBJECT_KEYWORDS: Final = frozenset((  # keywords of an object's schema whose values are objects
    "properties", "additionalProperties", "patternProperties", "propertyNames", "definitions",
    "dependentSchemas", "not", "if", "then", "else", "default", "example", "const", "$defs", "$ref",
))  # fmt: skip
_SUBSCHEMAS: Final = _OBJECT_KEYWORDS | {  # and keywords that are also common names of parameters
    "items", "contains", "additionalItems", "unevaluatedProperties", "unevaluatedItems",
    "dependencies", "contentSchema", "discriminator", "xml", "externalDocs",
}  # fmt: skip


def is_properties(schema: Mapping[str, Any]) -> bool:
    """Return True if a mapping lists parameters by name, as `properties` in a schema do."""
    inner = [
        each for each in schema.values() if isinstance(each, Mapping) and SCHEMA_WORDS & {*each}
    ]
    return bool(inner) and len(inner) == len(schema) and not _OBJECT_KEYWORDS & schema.keys()


def _misplaced_keys(schema: Schema) -> list[str]:
    """Return the keys of a tool's schema that are no keywords and seem to be parameters."""
    if schema.get("type", "object") != "object":
        return []
    if not {*SCHEMA_WORDS, *_OBJECT_KEYWORDS, "title", "description", "$schema"} & schema.keys():
        return list(schema)
    dicts = {k: v for k, v in schema.items() if isinstance(v, dict) and k not in _SUBSCHEMAS}
    own = [k for k, v in dicts.items() if v.get("type") in JSON_TYPES or is_properties(v)]
    return [key for key in own if not key.startswith("x-")]


# keywords that hold schemas by name, in a list, or a single one
BY_NAME: Final = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
BY_INDEX: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLE: Final = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
UNREAD: Final = ": sent as given, not read"
_KEYWORD_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    **dict.fromkeys(BY_NAME, (dict,)),
    **dict.fromkeys((*BY_INDEX, "enum"), (list, tuple)),
    **dict.fromkeys(SINGLE, (dict, bool)),
    "items": (dict, bool, list, tuple),  # a list is a tuple's schema in older drafts
    "required": (list, tuple, bool),  # some schemas have `required: true` in a parameter
    "type": (str, list, tuple),
}


def _unread_keywords(schema: Schema, where: str) -> Iterator[Finding]:
    """Yield a finding for each keyword whose value has a wrong type, and for each other value where
    a schema must be. Skip empty values, which declare nothing."""
    stack: list[tuple[Any, str]] = [(schema, where)]
    seen: set[int] = set()  # a dict in memory may contain itself
    while stack:
        node, place = stack.pop()
        if not node or node is True or id(node) in seen:
            continue
        if not isinstance(node, dict):
            yield finding("schema-unread", place, f"{node!r:.40} is not a schema{UNREAD}")
            continue
        seen.add(id(node))
        for key, value in node.items():
            types, inner = _KEYWORD_TYPES.get(key), f"{place}.{key}"
            if types and value and not isinstance(value, types):
                words = "an object" if dict in types else "a list"
                yield finding("schema-unread", inner, f"{value!r:.40} is not {words}{UNREAD}")
            elif key in BY_NAME and value:
                stack += [(each, f"{inner}.{name}") for name, each in value.items()]
            elif key in (*BY_INDEX, "items") and isinstance(value, list | tuple):
                stack += [(each, f"{inner}.{index}") for index, each in enumerate(value)]
            elif key in SINGLE:
                stack.append((value, inner))


def tools_findings(tools: Sequence[ToolMetadata], place: str) -> Iterator[Finding]:
    """Yield findings about the schemas of tools, and about each name that an earlier tool has.

    `place` is a template of a tool's place in the file, with `{index}` or `{name}`.
    """
    first: dict[str, int] = {}
    for index, tool in enumerate(tools):
        where = place.format(index=index, name=tool.name)
        yield from schema_findings(tool, where)
        if (earlier := first.setdefault(tool.name, index)) != index:
            words = f"tool {earlier + 1} and tool {index + 1} are both named {tool.name!r:.60}"
            yield finding("duplicate-tool", where, words)


def schema_findings(tool: ToolMetadata, where: str) -> list[Finding]:
    """Return findings about a tool's schema: each `$ref` that leads nowhere or back to itself,
    values of wrong types, and keys outside of `properties` that seem to be parameters."""
    findings = [
        finding("schema-misplaced", where, f"{key!r} is not a keyword of JSON Schema here")
        for key in _misplaced_keys(tool.input_schema)
    ]
    findings += _unread_keywords(tool.input_schema, where)
    if not _has_references(tool.input_schema):
        return findings
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
            target = target_of(reference, tool.input_schema)
            if reference in path:
                findings.append(finding("cyclic-ref", place, f"{reference} refers to itself"))
            elif target is None:
                findings.append(finding("unresolved-ref", place, f"nothing at {reference}"))
            # Walk each target once: otherwise nested shared definitions would be walked 2ⁿ times.
            elif reference not in expanded:
                expanded.add(reference)
                stack.append((target, path | {reference}, f"{place}.$ref"))
        stack += [(value, path, f"{place}.{key}") for key, value in node.items() if key != "$ref"]
    return findings
