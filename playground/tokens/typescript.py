"""Tools as OpenAI's models read them: a namespace of TypeScript functions.

The form is that of openai/harmony (src/encoding.rs, `template_tools_section`, 2025-11), and before
it of github.com/hmarr/openai-chat-tokens (2023) and pamelafox/openai-messages-token-helper (2024).
They differ from what is billed in what follows, each told by recorded bills, of 2024 to 2026:

* an object without a comment in it is one line, `{ city: string, unit?: "c" | "f" }`, else a line
  for each property, and never indented;
* Chat Completions write no titles, takes one level of indentation off a description's lines, and
  a default only where there are lines; Responses writes titles, and each line as a comment.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from playground.tokens.pieces import Piece

_DEEPEST: Final = 40  # levels of a schema; a `$ref` may lead to itself
HEAD: Final = "namespace functions {\n\n"
TAIL: Final = "} // namespace functions"


def namespace(functions: Iterable[Mapping[str, Any]], titled: bool) -> Iterator[Piece]:
    """The namespace, a piece for each function; `titled` is Responses' way."""
    yield Piece(HEAD, "tools")
    for function in functions:
        yield Piece(_function(function, titled), "tools", tool=str(function["name"]))
    yield Piece(TAIL, "tools")


def _function(function: Mapping[str, Any], titled: bool) -> str:
    parameters = function.get("parameters")
    schema = _Schema(parameters if isinstance(parameters, dict) else {}, titled)
    about = _words(function.get("description"), titled)
    head = "".join(f"// {line}\n" for line in about)
    if not isinstance(schema.root.get("properties"), dict) or not schema.root["properties"]:
        return f"{head}type {function['name']} = () => any;\n\n"
    comments = "".join(f"{line}\n" for line in schema.comments(schema.root)) if titled else ""
    written = schema.object(schema.root, 0)
    return f"{head}type {function['name']} = (_: {comments}{written}) => any;\n\n"


def _words(text: Any, by_line: bool) -> list[str]:
    """A description's comments: one for each line, or one that goes on over several lines."""
    if not isinstance(text, str) or not text:
        return []
    return text.strip().split("\n") if by_line else [dedented(text)]


def dedented(text: str) -> str:
    """The lines without the indentation that those have in common that are indented at all."""
    lines = text.split("\n")
    depths = [len(line) - len(line.lstrip(" ")) for line in lines[1:] if line.strip()]
    least = min((depth for depth in depths if depth), default=0)
    return "\n".join(
        line[min(least, len(line) - len(line.lstrip(" "))) :] for line in lines
    ).strip()


@dataclass
class _Schema:
    """A JSON Schema written as a type."""

    root: dict[str, Any]
    titled: bool

    def type(self, given: Any, depth: int) -> str:
        schema = self._resolved(given)
        if schema is None or depth > _DEEPEST:
            return "any"
        several = schema.get("anyOf") or schema.get("oneOf")
        if isinstance(several, list):
            return " | ".join(self.type(each, depth + 1) for each in several)
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
        kind = schema.get("type")
        if isinstance(kind, list):
            return " | ".join(self.type({**schema, "type": each}, depth + 1) for each in kind)
        return self._plain(schema, kind, depth)

    def _plain(self, schema: dict[str, Any], kind: Any, depth: int) -> str:
        match kind:
            case "string" | "boolean" | "null":
                return str(kind)
            case "number" | "integer":
                return "number"
            case "array":
                items = schema.get("items")
                return f"{self.type(items, depth + 1) if items else 'any'}[]"
        if isinstance(schema.get("properties"), dict) and schema["properties"]:
            return self.object(schema, depth)
        return "object" if kind == "object" else "any"

    def object(self, schema: Mapping[str, Any], depth: int) -> str:
        """The properties in braces: on one line, where there is nothing to say of any."""
        needed = schema.get("required")
        required = needed if isinstance(needed, list) else []
        lines, comments = [], False
        for key, given in schema["properties"].items():
            value = self._resolved(given) or {}
            written = f"{key}{'' if key in required else '?'}: {self.type(value, depth + 1)}"
            above = self.comments(value)
            default = self._default(value)
            comments = comments or bool(above) or (self.titled and bool(default))
            lines.append((above, written, default))
        if not comments:
            return "{ " + ", ".join(written for _above, written, _default in lines) + " }"
        return "{\n" + "".join(self._line(*line) for line in lines) + "}"

    def _line(self, above: list[str], written: str, default: str) -> str:
        behind = f",{default}" if self.titled else f"{default},"
        return "".join(f"{each}\n" for each in above) + f"{written}{behind}\n"

    def comments(self, schema: Mapping[str, Any]) -> list[str]:
        title = schema.get("title")
        titles = [title] if self.titled and isinstance(title, str) else []
        words = schema.get("description")
        told = words.strip() if isinstance(words, str) and self.titled else words
        lines = told.split("\n") if isinstance(told, str) and told else []
        return [f"// {line}" for line in (*titles, *lines)]

    def _default(self, schema: Mapping[str, Any]) -> str:
        if "default" not in schema:
            return ""
        return f" // default: {json.dumps(schema['default'], ensure_ascii=False)}"

    def _resolved(self, schema: Any) -> dict[str, Any] | None:
        """The schema itself, or what its `$ref` into the same document names."""
        if not isinstance(schema, dict):
            return None
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        found: Any = self.root
        for key in reference.removeprefix("#").strip("/").split("/"):
            found = found.get(key) if isinstance(found, dict) else None
        own = {key: value for key, value in schema.items() if key != "$ref"}
        return {**found, **own} if isinstance(found, dict) else own
