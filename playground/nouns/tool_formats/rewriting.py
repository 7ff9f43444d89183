"""Rewrite a tool's schema for a target (a provider): replace the parts that the target refuses.

A rule's `instead` names a function that changes a schema, if there is one. Other parts stay.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from playground.base.errors import InputFault
from playground.nouns.tool_formats.portability import (
    Schema,
    SchemaNode,
    SchemaRule,
    SchemaTarget,
    applies,
    nodes,
    reference_target,
    value_at,
)
from playground.nouns.tools import ToolMetadata

_MOST_WRITTEN: Final = 5_000  # definitions, for one `$ref`


def rewrite_tool(tool: ToolMetadata, target: SchemaTarget) -> ToolMetadata:
    schema = copy.deepcopy(tool.input_schema)
    if any(rule.instead == "close" for rule in target.rules):
        _merge_all(schema)
    for rule in target.rules:
        rewrite = _REWRITES.get(rule.instead)
        if rewrite is None:
            continue
        # innermost schemas first: they are rewritten before they are merged or moved up
        for node in sorted(nodes(schema), key=lambda each: -len(each.path)):
            current = SchemaNode(node.path, value_at(node.path, schema), schema)
            if applies(rule, current):
                rewrite(current.schema, rule, schema)
    return tool.model_copy(update={"input_schema": schema})


def _keyword(rule: SchemaRule) -> str:
    """Return the keyword that a rule is about: the first word of its name."""
    return rule.keyword.partition(" ")[0]


def _describe(node: Schema, rule: SchemaRule, root: Schema) -> None:
    key = _keyword(rule)
    value = json.dumps(node.pop(key), ensure_ascii=False)
    description = node.get("description")
    node["description"] = f"{description} ({key}: {value})" if description else f"{key}: {value}"


def _remove(node: Schema, rule: SchemaRule, root: Schema) -> None:
    del node[_keyword(rule)]


def _as_enum(node: Schema, rule: SchemaRule, root: Schema) -> None:
    node["enum"] = [node.pop("const")]


def _as_any_of(node: Schema, rule: SchemaRule, root: Schema) -> None:
    node["anyOf"] = [*node.get("anyOf", ()), *node.pop("oneOf")]


def _as_texts(node: Schema, rule: SchemaRule, root: Schema) -> None:
    texts = [value if isinstance(value, str) else json.dumps(value) for value in node["enum"]]
    node["enum"] = texts


def _merge_all(schema: Schema) -> None:
    """Merge every allOf below the root before objects are closed: a closed part would refuse the
    properties of another part."""
    for node in sorted(nodes(schema), key=lambda each: -len(each.path)):
        if not node.is_root and "allOf" in node.schema:
            _join_all(node.schema, schema)


def _join_all(node: Schema, root: Schema) -> None:
    """Merge all parts of an allOf. Replace `$ref`s by their targets: a schema can hold only one."""
    for part in node.pop("allOf"):
        if isinstance(part, dict):
            _join(node, _resolve(part, root))


def _join(node: Schema, part: Schema) -> None:
    for key, value in part.items():
        if key == "properties":
            node[key] = {**node.get(key, {}), **value}
        elif key == "required":
            node[key] = list(dict.fromkeys([*node.get(key, ()), *value]))
        else:
            node.setdefault(key, value)


def _flatten(node: Schema, rule: SchemaRule, root: Schema) -> None:
    """Merge all parts into one object. A property is required if every part requires it (with
    allOf: if any part requires it)."""
    key = _keyword(rule)
    raw_parts = node.pop(key)
    parts = [_resolve(part, root) for part in raw_parts if isinstance(part, dict)]
    if key != "allOf":
        names = [sorted(part.get("properties") or part.get("required") or ()) for part in parts]
        choice = " or ".join(", ".join(part_names) for part_names in names if part_names)
        alternatives = f"({'one' if key == 'oneOf' else 'any'} of: {choice})"
        node["description"] = f"{node.get('description', '')} {alternatives}".strip()
        always = [set(part.get("required") or ()) for part in parts]
        shared = set.intersection(*always) if always else set()
        parts = [{**part, "required": [n for n in part.get("required") or () if n in shared]}
                 for part in parts]  # fmt: skip
    for part in parts:
        _join(node, part)
    node["type"] = "object"
    node.setdefault("properties", {})


def _resolve(part: Schema, root: Schema) -> Schema:
    target = reference_target(root, part["$ref"]) if isinstance(part.get("$ref"), str) else None
    if target is None:
        return part
    return {**copy.deepcopy(target), **{key: part[key] for key in part if key != "$ref"}}


def _inline_refs(node: Schema, root: Schema, outer_refs: tuple[str, ...], count: list[int]) -> None:
    """Replace a `$ref` by its definition, also inside definitions. A recursive `$ref` (one of the
    `outer_refs` that led to it), or one that leads nowhere, becomes a schema of any object.

    `count` has the number of definitions written so far: definitions that contain each other
    twice would grow without bounds. Raises InputFault above the limit.
    """
    while isinstance(ref := node.get("$ref"), str):
        del node["$ref"]
        definition = reference_target(root, ref) if ref not in outer_refs else None
        outer_refs, count[0] = (*outer_refs, ref), count[0] + 1
        if count[0] > _MOST_WRITTEN:
            problem = f"{ref} written out holds more than {_MOST_WRITTEN:,} definitions"
            raise InputFault(problem, expected="a smaller schema")
        if definition is None:
            node.setdefault("type", "object")
            break
        for key, value in copy.deepcopy(definition).items():
            node.setdefault(key, value)
    for inner in [each.schema for each in nodes(node) if each.path and "$ref" in each.schema]:
        _inline_refs(inner, root, outer_refs, count)


def _unravel_refs(
    node: Schema, root: Schema, outer_refs: tuple[str, ...], count: list[int]
) -> None:
    """Replace a `$ref` with other keywords next to it by its definition; the keywords win. A `$ref`
    that is recursive or leads nowhere stays alone. Raises InputFault as `_inline_refs` does."""
    ref = node.get("$ref")
    if not isinstance(ref, str) or len(node) == 1:
        return
    definition = reference_target(root, ref)
    if definition is None or ref in outer_refs:
        node.clear()
        node["$ref"] = ref
        return
    del node["$ref"]
    outer_refs, count[0] = (*outer_refs, ref), count[0] + 1
    if count[0] > _MOST_WRITTEN:
        problem = f"{ref} written out holds more than {_MOST_WRITTEN:,} definitions"
        raise InputFault(problem, expected="a smaller schema")
    for key, value in copy.deepcopy(definition).items():
        node.setdefault(key, value)
    for inner in [each.schema for each in nodes(node)]:
        _unravel_refs(inner, root, outer_refs, count)


def _nullable(node: Schema, rule: SchemaRule, root: Schema) -> None:
    types = node.pop("type")
    kinds = [kind for kind in types if kind != "null"]
    if "null" in types:
        node["nullable"] = True
    if len(kinds) == 1:
        node["type"] = kinds[0]
    else:
        node["anyOf"] = [{"type": kind} for kind in kinds]


def _require(node: Schema, rule: SchemaRule, root: Schema) -> None:
    required = node.get("required") or []
    for name, inner in node["properties"].items():
        if name not in required:
            node["properties"][name] = _or_null(inner)
    node["required"] = list(node["properties"])


def _or_null(inner: Any) -> Any:
    if not isinstance(inner, dict):
        return inner
    kind = inner.get("type")
    kinds = [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []
    if not kinds or "const" in inner:
        return {"anyOf": [inner, {"type": "null"}]}
    changed = {**inner, "type": list(dict.fromkeys([*kinds, "null"]))}
    if isinstance(inner.get("enum"), list):
        changed["enum"] = list(dict.fromkeys([*inner["enum"], None]))
    return changed


def _close(node: Schema, rule: SchemaRule, root: Schema) -> None:
    node["additionalProperties"] = False


_Rewrite = Callable[[Schema, SchemaRule, Schema], None]
_REWRITES: Final[Mapping[str, _Rewrite]] = {
    "as anyOf": _as_any_of,
    "as enum": _as_enum,
    "as texts": _as_texts,
    "close": _close,
    "describe": _describe,
    "flatten": _flatten,
    "inline": lambda node, _rule, root: _inline_refs(node, root, (), [0]),
    "merge": lambda node, _rule, root: _join_all(node, root),
    "nullable": _nullable,
    "remove": _remove,
    "require": _require,
    "unravel": lambda node, _rule, root: _unravel_refs(node, root, (), [0]),
}
