"""Find the parts of a tool's JSON Schema that a dialect's prompt leaves out.

Each fact is removed from the schema in turn. If the tool's documentation stays exactly the same,
the dialect drops that fact.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from playground.dialects.base import Dialect
from playground.nouns.prompt_data import PromptData
from playground.nouns.tool_formats.portability import nodes, schema_path
from playground.nouns.tools import ToolMetadata

KINDS: Final = (
    "types",
    "unions",
    "enums",
    "ranges",
    "nesting",
    "required",
    "defaults",
    "descriptions",
    "other",
)
_KIND_OF: Final[dict[str, str]] = {
    **dict.fromkeys(("type",), "types"),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "not", "nullable"), "unions"),
    **dict.fromkeys(("enum", "const"), "enums"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), "ranges"),
    **dict.fromkeys(("multipleOf", "minLength", "maxLength", "pattern", "format"), "ranges"),
    **dict.fromkeys(("minItems", "maxItems", "uniqueItems"), "ranges"),
    **dict.fromkeys(("properties", "items", "prefixItems", "patternProperties"), "nesting"),
    **dict.fromkeys(("required",), "required"),
    **dict.fromkeys(("default",), "defaults"),
    **dict.fromkeys(("description",), "descriptions"),
}
# A definition is examined where a `$ref` refers to it; a title is only a comment.
_NOT_EXAMINED: Final = ("$defs", "definitions", "$ref", "$schema", "title")
_PLAIN: Final = ("type", "properties")  # keywords of the whole schema that every tool has
MOST_FACTS: Final = 400  # each fact costs one rendering of the tool's documentation
_Path = tuple[str | int, ...]


class Fact(NamedTuple):
    """One fact of a schema: its place (`geo.lat`) and keyword; `kept` if the prompt states it."""

    tool: str
    where: str
    keyword: str
    kept: bool

    @property
    def kind(self) -> str:
        """The fact's kind, one of KINDS."""
        return _KIND_OF.get(self.keyword, "other")


def kept_by_kind(facts: Sequence[Fact]) -> dict[str, str]:
    """Return, by kind, the number of facts that are kept and of all facts, as in `3/4`."""
    counts = {}
    for kind in KINDS:
        kept = [fact.kept for fact in facts if fact.kind == kind]
        if kept:
            counts[kind] = f"{sum(kept)}/{len(kept)}"
    return counts


def schema_facts(dialect: Dialect, tool: ToolMetadata) -> list[Fact]:
    """Return every fact of a tool's schema; each says if the dialect's documentation keeps it.

    At most 400 facts of a tool are examined, in the schema's order.
    """
    # Examples would show the types of values.
    without_examples = tool.model_copy(update={"examples": ()})
    full_docs = documentation(dialect, without_examples)
    facts: list[Fact] = []
    for path in _keyword_paths(tool.input_schema):
        if len(facts) == MOST_FACTS:
            break
        # A fact is dropped if the documentation of the schema without it is the same.
        reduced = without_examples.model_copy(
            update={"input_schema": _without_keyword(tool.input_schema, path)}
        )
        is_kept = documentation(dialect, reduced) != full_docs
        facts.append(Fact(tool.name, schema_path(path[:-1]), str(path[-1]), is_kept))
    return facts


def documentation(dialect: Dialect, *tools: ToolMetadata) -> str:
    """Return everything that a model reads about these tools: in the prompt and in the field
    `tools`."""
    data = PromptData(tool_metadata=list(tools))
    tools_field = json.dumps(dialect.request_tools(data), ensure_ascii=False, sort_keys=True)
    return dialect.format_tool_docs(data) + tools_field


def _keyword_paths(schema: dict[str, Any]) -> Iterator[_Path]:
    """Yield the paths of all keywords, each before those inside it."""
    for node in nodes(schema):
        for key in node.schema:
            if key not in _NOT_EXAMINED and not (node.is_root and key in _PLAIN):
                yield (*node.path, key)


def _without_keyword(schema: dict[str, Any], path: _Path) -> dict[str, Any]:
    """Return a copy without the keyword at a path; it shares all values outside of the path."""
    changed = dict(schema)
    node: Any = changed
    for step in path[:-1]:
        node[step] = copy.copy(node[step])
        node = node[step]
    del node[path[-1]]
    return changed
