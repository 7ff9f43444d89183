"""Shorter forms of a tool's schema, to save tokens: without loss, or by leaving keywords out."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from playground.nouns.tool_formats.portability import Schema, nodes, value_at

_SHORTEST: Final = 80  # a part with fewer characters does not become a definition
_NOT_IN_NAMES: Final = re.compile(r"\W+")


def hoist_repeats(schema: Schema) -> Schema:
    """Return the schema with repeated parts written once, in `$defs`."""
    result = copy.deepcopy(schema)
    while repeated := _most_repeated(result):
        text, paths = repeated
        definition = value_at(paths[0], result)
        definitions = result.setdefault("$defs", {})
        name = _name(paths[0], definition, definitions)
        for path in paths:
            node = value_at(path, result)
            node.clear()
            node["$ref"] = f"#/$defs/{name}"
        definitions[name] = json.loads(text)
    return result


def _most_repeated(schema: Schema) -> tuple[str, list[tuple[str | int, ...]]] | None:
    """Return the inner schema (as JSON) whose repetitions are longest, and its paths, or None."""
    texts: dict[str, list[tuple[str | int, ...]]] = {}
    for node in nodes(schema):
        if node.path and node.path[0] != "$defs":
            texts.setdefault(json.dumps(node.schema), []).append(node.path)
    repeated = [text for text, paths in texts.items() if len(paths) > 1 and len(text) >= _SHORTEST]
    if not repeated:
        return None
    text = max(repeated, key=lambda each: len(each) * (len(texts[each]) - 1))
    return text, texts[text]


def _name(path: tuple[str | int, ...], definition: Schema, taken: Mapping[str, Any]) -> str:
    words = [definition.get("title"), *(step for step in reversed(path) if isinstance(step, str))]
    keys = [w for w in words if isinstance(w, str) and w not in ("items", "properties", "anyOf")]
    plain = _NOT_IN_NAMES.sub("_", keys[0] if keys else "part")
    name, number = plain, 1
    while name in taken:
        number += 1
        name = f"{plain}{number}"
    return name


def _without(*keywords: str) -> Callable[[Schema], Schema]:
    def shorter(schema: Schema) -> Schema:
        result = copy.deepcopy(schema)
        for node in list(nodes(result)):
            for keyword in keywords:
                node.schema.pop(keyword, None)
        return result

    return shorter


SHORTER: Final[Mapping[str, Callable[[Schema], Schema]]] = {
    "repeated parts in $defs": hoist_repeats,
    "without titles, defaults, examples": _without("title", "default", "examples", "$schema"),
    "without enums": _without("enum"),
    "without descriptions of parameters": _without("description"),
}
