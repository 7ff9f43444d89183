"""Write tools as OpenAI's models read them: as a namespace of TypeScript functions.

The form is that of openai/harmony (src/encoding.rs, `template_tools_section`, 2025-11), and before
it of github.com/hmarr/openai-chat-tokens (2023) and pamelafox/openai-messages-token-helper (2024).
Recorded bills of 2024 to 2026 show two differences from these sources:

* an object without comments and defaults is one line, `{ city: string, unit?: "c" | "f" }`; any
  other object has a line for each property, without indentation;
* each line of a description is a comment without its indentation; an empty comment separates a
  title from a description.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from playground.tokens.pieces import Framed, Piece

_DEEPEST: Final = 40  # levels of a schema: a `$ref` may refer to itself
_MOST_TYPES: Final = 20_000  # types in a tool: each level may double the references
_ENDLESS: Final = "a schema that refers to itself or repeats its references"
_KEYWORD_TOKENS: Final = 60  # most tokens that a keyword adds
HEAD: Final = "namespace functions {\n\n"
_UNEXPLAINED: Final = frozenset(  # keywords whose cost no recorded bill shows
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
     "maxLength", "minItems", "maxItems", "uniqueItems", "pattern", "examples", "allOf", "not",
     "const")
)  # fmt: skip
TAIL: Final = "} // namespace functions"


def add_tools(framed: Framed, functions: Iterable[Mapping[str, Any]], fixed: int) -> None:
    """Add the namespace, with a piece for each function; `fixed` control tokens precede it."""
    pieces = [Piece(fixed=fixed), Piece(HEAD, "tools")]
    for function in functions:
        parameters = function.get("parameters")
        schema = _Schema(parameters if isinstance(parameters, dict) else {})
        pieces.append(Piece(_function(function, schema), "tools", tool=str(function["name"])))
        for reason, most in schema.unexplained.items():
            framed.add_reason(f"no recorded bill shows what this costs in a tool: {reason}", most)
    framed.add(*pieces, Piece(TAIL, "tools"))


def _function(function: Mapping[str, Any], schema: _Schema) -> str:
    head = "".join(f"{line}\n" for line in _comments(function.get("description")))
    if not isinstance(schema.root.get("properties"), dict) or not schema.root["properties"]:
        return f"{head}type {function['name']} = () => any;\n\n"
    comments = "".join(f"{line}\n" for line in schema.comments(schema.root))
    text = schema.object(schema.root, 0)
    return f"{head}type {function['name']} = (_: {comments}{text}) => any;\n\n"


def _comments(text: Any) -> list[str]:
    """Write a comment for each line of a text, without its indentation."""
    lines = text.strip().split("\n") if isinstance(text, str) and text.strip() else []
    return [f"// {line.strip()}".rstrip() for line in lines]


@dataclass
class _Schema:
    """A JSON Schema written as a type."""

    root: dict[str, Any]
    # parts whose cost no bill shows -> the most tokens that the part adds (None: no limit)
    unexplained: dict[str, int | None] = field(default_factory=dict)
    written: int = 0  # number of types written

    def type(self, given: Any, depth: int) -> str:
        """Write a schema `depth` levels below the root as a type."""
        schema = self._resolve(given)
        if schema is None:
            return "any"
        self.written += 1
        if depth > _DEEPEST or self.written > _MOST_TYPES:
            self.unexplained[_ENDLESS] = None
            return "any"
        self._note_unexplained(schema)
        several = schema.get("anyOf") or schema.get("oneOf")
        if isinstance(several, list):
            return " | ".join(self.type(option, depth + 1) for option in several)
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
        kind = schema.get("type")
        if isinstance(kind, list):
            return " | ".join(self.type({**schema, "type": option}, depth + 1) for option in kind)
        return self._plain_type(schema, kind, depth)

    def _note_unexplained(self, schema: Mapping[str, Any]) -> None:
        """Note the parts of a schema whose cost no bill shows or explains."""
        unexplained = set(schema) & _UNEXPLAINED
        several = schema.get("anyOf") or schema.get("oneOf")
        union = several if isinstance(several, list) else []
        inner = [option for option in union if isinstance(option, dict)]
        if any(option.get("type") == "array" for option in inner):
            unexplained.add("a union with an array")
        if any("format" in option for option in inner):
            unexplained.add("a format in a union")
        if "default" in schema and schema.get("properties"):
            unexplained.add("the default of an object")
        self.unexplained.update(dict.fromkeys(sorted(unexplained), _KEYWORD_TOKENS))

    def _items(self, schema: Mapping[str, Any], depth: int) -> str:
        text = self.type(schema, depth) if schema else "any"
        if text.startswith("{\n"):
            self.unexplained["an array of objects that are described"] = _KEYWORD_TOKENS
        return f"{text}[]"

    def _plain_type(self, schema: dict[str, Any], kind: Any, depth: int) -> str:
        match kind:
            case "string" | "boolean" | "null":
                return str(kind)
            case "number" | "integer":
                return "number"
            case "array":
                return self._items(schema.get("items") or {}, depth + 1)
        if isinstance(schema.get("properties"), dict) and schema["properties"]:
            return self.object(schema, depth)
        return "object" if kind == "object" else "any"

    def object(self, schema: Mapping[str, Any], depth: int) -> str:
        """Write the properties in braces: on one line if none has a comment or a default."""
        needed = schema.get("required")
        required = needed if isinstance(needed, list) else []
        lines, comments = [], False
        for key, value_schema in schema["properties"].items():
            value = self._resolve(value_schema) or {}
            text = f"{key}{'' if key in required else '?'}: {self.type(value, depth + 1)}"
            comment_lines = self.comments(value)
            default = self._default(value)
            comments = comments or bool(comment_lines or default)
            lines.append((comment_lines, text, default))
        if not comments:
            return "{ " + ", ".join(text for _above, text, _default in lines) + " }"
        return "{\n" + "".join(self._line(*line) for line in lines) + "}"

    def _line(self, comment_lines: list[str], text: str, default: str) -> str:
        return "".join(f"{comment}\n" for comment in comment_lines) + f"{text},{default}\n"

    def comments(self, schema: Mapping[str, Any]) -> list[str]:
        title, description = _comments(schema.get("title")), _comments(schema.get("description"))
        return [*title, *(["//"] if title and description else []), *description]

    def _default(self, schema: Mapping[str, Any]) -> str:
        if "default" not in schema:
            return ""
        return f" // default: {json.dumps(schema['default'], ensure_ascii=False)}"

    def _resolve(self, schema: Any) -> dict[str, Any] | None:
        """Return the schema, merged with the one of its `$ref`; None if it is no object."""
        if not isinstance(schema, dict):
            return None
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        target: Any = self.root
        for key in reference.removeprefix("#").strip("/").split("/"):
            target = target.get(key) if isinstance(target, dict) else None
        own_fields = {key: value for key, value in schema.items() if key != "$ref"}
        return {**target, **own_fields} if isinstance(target, dict) else own_fields
