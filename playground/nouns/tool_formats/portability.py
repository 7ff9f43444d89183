"""Find the parts of a tool's schema that a provider refuses or changes, by a data file for each
target (a provider's interface).

Every rule has its source and date. A file leaves a keyword out if no source documents that it is
refused. Schemas are walked without recursion, because they may be nested without bounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from playground.base.errors import UnknownNameError
from playground.base.findings import Finding, finding
from playground.nouns.tools import BY_INDEX, BY_NAME, SINGLE, ToolMetadata, target_of

_FOLDER: Final = Path(__file__).parent / "accepted"
_STRICT: Final = ConfigDict(extra="forbid", frozen=True)
Effect = Literal["refused", "dropped", "changed"]
Schema = dict[str, Any]
_CODES: Final[Mapping[Effect, str]] = {
    "refused": "schema-refused",
    "dropped": "schema-ignored",
    "changed": "schema-changed",
}
INSTEAD: Final[Mapping[str, str]] = {
    "": "there is nothing to write in its place",
    "as anyOf": "write anyOf",
    "as enum": "write an enum of that one value",
    "as texts": "write the values as texts",
    "close": "write additionalProperties: false in every object",
    "describe": "leave it out, and say it in the description",
    "flatten": "write one object with all properties; its description says which belong together",
    "inline": "write the definition where it is referred to",
    "merge": "write its schemas as one",
    "nullable": "write nullable: true, or an anyOf of single types",
    "remove": "leave it out",
    "rename": "give it another name",
    "require": "list it in required, and let it be null",
    "unravel": "replace the $ref by its definition, next to the other keywords",
    "say": "say what the tool does, or leave the description out",
}


class SchemaRule(BaseModel):
    """The `effect` that a target has on a keyword, on one of CASES or on one of `_TOOL_CASES`.

    `instead` is a key of INSTEAD, whose text says what to write. `source` and `confirmed` are where
    the effect is documented.
    """

    model_config = _STRICT

    keyword: str
    effect: Effect
    instead: Literal[
        "", "as anyOf", "as enum", "as texts", "close", "describe", "flatten", "inline", "merge",
        "nullable", "remove", "rename", "require", "say", "unravel",
    ]  # fmt: skip
    source: str = Field(min_length=8)
    date: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")
    note: str = ""
    confirmed: str = ""


class SchemaTarget(BaseModel):
    """A provider's interface for tools, with its rules."""

    model_config = _STRICT

    target: str
    title: str
    rules: tuple[SchemaRule, ...]


@dataclass(frozen=True, slots=True)
class SchemaNode:
    """A schema inside a tool's schema: its path, the schema itself, and the tool's schema."""

    path: tuple[str | int, ...]
    schema: Schema
    root: Schema

    @property
    def is_root(self) -> bool:
        return not self.path

    @property
    def where(self) -> str:
        """The path for people: `geo.lat`, `fields[]`."""
        return schema_path(self.path)


def is_open(node: SchemaNode) -> bool:
    schema = node.schema
    is_object = schema.get("type") == "object" or "properties" in schema
    return is_object and schema.get("additionalProperties") is not False


def is_optional(node: SchemaNode) -> bool:
    names, required = node.schema.get("properties"), node.schema.get("required")
    required_names = required if isinstance(required, list) else []
    return isinstance(names, dict) and any(name not in required_names for name in names)


def _is_recursive(node: SchemaNode) -> bool:
    """Return True if a `$ref` leads, through other references, to a schema that contains it."""
    ref = node.schema.get("$ref")
    seen: set[str] = set()
    stack = [ref] if isinstance(ref, str) else []
    while stack:
        reference = stack.pop()
        if reference == "#" or (reference in seen and reference == ref):
            return True
        if reference in seen:
            continue
        seen.add(reference)
        inner = reference_target(node.root, reference)
        stack += [
            inner_node.schema["$ref"]
            for inner_node in nodes(inner if inner is not None else {})
            if isinstance(inner_node.schema.get("$ref"), str)
        ]
    return False


def _has_enum_of(node: SchemaNode, kind: type | tuple[type, ...]) -> bool:
    values = node.schema.get("enum")
    return isinstance(values, list) and any(
        isinstance(value, kind) and not isinstance(value, bool) for value in values
    )


def _has_ref_and_more(node: SchemaNode) -> bool:
    return isinstance(node.schema.get("$ref"), str) and len(node.schema) > 1


def _has_all_of_with_ref(node: SchemaNode) -> bool:
    parts = node.schema.get("allOf")
    return isinstance(parts, list) and any(isinstance(p, dict) and "$ref" in p for p in parts)


def _needs_several_items(node: SchemaNode) -> bool:
    least = node.schema.get("minItems")
    return isinstance(least, int) and least > 1


CASES: Final[Mapping[str, Callable[[SchemaNode], bool]]] = {
    "anyOf at the root": lambda node: node.is_root and "anyOf" in node.schema,
    "oneOf at the root": lambda node: node.is_root and "oneOf" in node.schema,
    "allOf at the root": lambda node: node.is_root and "allOf" in node.schema,
    "a $ref to itself": _is_recursive,
    "a $ref with keywords beside it": _has_ref_and_more,
    "allOf with a $ref": _has_all_of_with_ref,
    "a property that is not required": is_optional,
    "additionalProperties that is not false": is_open,
    "enum of numbers": lambda node: _has_enum_of(node, (int, float)),
    "enum of objects": lambda node: _has_enum_of(node, (dict, list)),
    "minItems above 1": _needs_several_items,
    "type as a list": lambda node: isinstance(node.schema.get("type"), list),
}
_TOOL_CASES: Final[Mapping[str, Callable[[ToolMetadata], bool]]] = {
    "a name that is no name": lambda tool: not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name),
    "a name that is no name of Gemini's": lambda tool: (
        not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}", tool.name)
    ),
    "an empty description": lambda tool: not tool.description,
}


@cache
def schema_targets() -> dict[str, SchemaTarget]:
    """Return every target by its name. The files are checked as they are read."""
    targets = {}
    for path in sorted(_FOLDER.glob("*.json")):
        target = SchemaTarget.model_validate_json(path.read_bytes())
        targets[target.target] = target
    return targets


def schema_target(name: str) -> SchemaTarget:
    """Return one target. Raises UnknownNameError, which names similar ones."""
    if name not in schema_targets():
        raise UnknownNameError("target of tools", name, list(schema_targets()))
    return schema_targets()[name]


def lint_tool(tool: ToolMetadata, target: SchemaTarget) -> list[Finding]:
    """Report the parts of a tool that a target refuses or changes: a finding for each rule and
    place, with a replacement and the source."""
    findings = []
    all_nodes = list(nodes(tool.input_schema))
    for rule in target.rules:
        about = _TOOL_CASES.get(rule.keyword)
        places = ["name and description"] if about and about(tool) else []
        if about is None:
            places = [node.where for node in all_nodes if applies(rule, node)]
        findings += [_finding(rule, target, f"tool {tool.name}: {place}") for place in places]
    return findings


def _finding(rule: SchemaRule, target: SchemaTarget, where: str) -> Finding:
    note = f" ({rule.note})" if rule.note else ""
    message = f"{target.title}: {rule.keyword} is {rule.effect}{note}; {INSTEAD[rule.instead]}"
    return finding(_CODES[rule.effect], where, f"{message} [{rule.source}, {rule.date}]")


def applies(rule: SchemaRule, node: SchemaNode) -> bool:
    case = CASES.get(rule.keyword)
    return case(node) if case else rule.keyword in node.schema


def nodes(schema: Schema) -> Iterator[SchemaNode]:
    """Yield every schema inside a schema, beginning with itself."""
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), schema)]
    while stack:
        path, node = stack.pop()
        if not isinstance(node, dict):
            continue
        yield SchemaNode(path, node, schema)
        stack += reversed([(path + step, inner) for step, inner in inner_schemas(node)])


def inner_schemas(node: Schema) -> list[tuple[tuple[str | int, ...], Any]]:
    """Return the schemas directly inside a schema, each with the steps that lead to it."""
    schemas: list[tuple[tuple[str | int, ...], Any]] = []
    for key, value in node.items():
        if key in BY_NAME and isinstance(value, dict):
            schemas += [((key, name), inner) for name, inner in value.items()]
        elif key in BY_INDEX and isinstance(value, list):
            schemas += [((key, index), inner) for index, inner in enumerate(value)]
        elif key in SINGLE:
            schemas.append(((key,), value))
    return schemas


def reference_target(root: Schema, ref: str) -> Schema | None:
    """Return the schema that a `$ref` refers to; None if it refers to no object in `root`."""
    target = target_of(ref, root)
    return target if isinstance(target, dict) else None


def value_at(path: Sequence[str | int], schema: Schema) -> Any:
    node: Any = schema
    for step in path:
        node = node[step]
    return node


def schema_path(path: Sequence[str | int]) -> str:
    """Return a path in a schema as people write it, without the keywords: `geo.lat`, `fields[]`."""
    words: list[str] = []
    for index, step in enumerate(path):
        if index and path[index - 1] in BY_NAME:
            words.append(f".{step}")
        elif step == "items":
            words.append("[]")
        elif isinstance(step, int):
            words.append(f"|{step + 1}")
    return "".join(words).strip(".") or "(arguments)"
