"""Write the JSON Schema of a required answer form as OpenAI's models read it.

It is a section of the system prompt, as openai/harmony writes it (docs/format.md, "Structured
output"): a heading, the schema's name, and the schema as JSON without blanks, with all letters
outside ASCII escaped. The keywords that the decoder enforces are left out, and so is `required`.
Bills of 2025 and 2026 agree with this. A keyword that no schema of these bills has makes the count
inexact.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_LEFT_OUT: Final = frozenset(
    ("required", "additionalProperties", "$schema", "format", "minimum", "maximum", "minLength",
     "maxItems", "default")
)  # fmt: skip
_WRITTEN: Final = frozenset(
    ("type", "properties", "items", "title", "description", "enum", "anyOf", "const", "$defs",
     "$ref")
)  # fmt: skip
_BY_NAME: Final = ("properties", "$defs")  # their keys are names, not keywords


@dataclass(frozen=True)
class AnswerForm:
    """A schema with its name and description."""

    name: str
    schema: Mapping[str, Any]
    description: str = ""
    strict: bool = False

    @property
    def section(self) -> str:
        """The text of the system prompt's section."""
        comment = f"// {self.description}\n" if self.description else ""
        schema = json.dumps(_shortened(self.schema), separators=(",", ":"))
        return f"# Response Formats\n\n## {self.name}\n\n{comment}{schema}"

    @property
    def open(self) -> bool:
        """True if the schema is neither strict nor closed: an answer may have other fields."""
        return not self.strict and self.schema.get("additionalProperties") is not False

    @property
    def unknown(self) -> list[str]:
        """The keywords that occur in no recorded bill's schema."""
        return sorted(set(_keywords(self.schema)) - _LEFT_OUT - _WRITTEN)


def answer_form(value: Any) -> AnswerForm | None:
    """Read the form in Chat Completions' `response_format` or Responses' `text.format`, if any."""
    if not isinstance(value, dict) or value.get("type") != "json_schema":
        return None
    inner = value.get("json_schema", value)
    schema = inner.get("schema") if isinstance(inner, dict) else None
    if not isinstance(schema, dict):
        return None
    description = inner.get("description")
    return AnswerForm(
        str(inner.get("name") or ""),
        schema,
        description if isinstance(description, str) else "",
        inner.get("strict") is True,
    )


def _shortened(value: Any, keys_are_names: bool = False) -> Any:
    if isinstance(value, dict):
        return {
            key: _shortened(inner, not keys_are_names and key in _BY_NAME)
            for key, inner in value.items()
            if keys_are_names or key not in _LEFT_OUT
        }
    return [_shortened(item) for item in value] if isinstance(value, list) else value


def _keywords(value: Any, keys_are_names: bool = False) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if not keys_are_names:
                yield key
            yield from _keywords(inner, not keys_are_names and key in _BY_NAME)
    elif isinstance(value, list):
        for item in value:
            yield from _keywords(item)
