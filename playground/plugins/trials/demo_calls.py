"""Make the demo model's calls from the words of the user's last message.

No model reads the words. The tool called is the one that shares most words with the message. Text
arguments are words that are quoted, look like a date or a file, or have a capital within a
sentence; number arguments are the message's numbers, in order. Missing arguments are made up. For
names in a row ("Brest and Calais"), there is a call for each name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from playground.nouns.tools import ToolMetadata

_NAME: Final = r"[A-ZÀ-Þ][\w’'-]+(?: [A-ZÀ-Þ][\w’'-]+)*"
_TEXT: Final = re.compile(
    r"[\"“](?P<quoted>[^\"“”\n]+)[\"”]"
    rf"|(?P<other>\d{{4}}-\d\d-\d\d|[\w-]*[./][\w./-]*\w|(?<![.?!] )(?<=[^\n]){_NAME})"
)
_NUMBER: Final = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]|\.\d)")
_JOINED: Final = re.compile(r",? (?:and|or|&) |, ")
_WORD: Final = re.compile(r"[a-z]{3,}")
_MADE_UP: Final = "Paris, “à la carte”"


def scripted_calls(
    tools: Sequence[ToolMetadata], messages: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return calls of one of the tools, each with `name` and `arguments` that fit its schema."""
    if not tools:
        return []
    words = _last_words(messages)
    spoken = {*_WORD.findall(words.lower())}
    tool = max(tools, key=lambda each: len(spoken & {*_WORD.findall(_described(each).lower())}))
    schema = tool.input_schema
    texts = sum(_is_text(each) for each in _wanted(schema).values())
    found = [*_TEXT.finditer(words)]
    named = [match["quoted"] or match["other"] for match in found]
    row = 1  # how many of the first names are joined by commas, "and" or "or"
    while row < len(found) and _JOINED.fullmatch(words[found[row - 1].end() : found[row].start()]):
        row += 1
    by_call = [[name] for name in named[:row]] if texts == 1 and row > 1 else [named]
    return [{"name": tool.name, "arguments": _Sample(words, names).of(schema)} for names in by_call]


def _last_words(messages: Sequence[dict[str, Any]]) -> str:
    """Return the last paragraph that the user said: a dialect may write rules above it."""
    contents = [m.get("content") or "" for m in messages if m.get("role") == "user"]
    last = contents[-1] if contents else ""
    parts = [last] if isinstance(last, str) else [each.get("text") or "" for each in last]
    return "\n\n".join(map(str, parts)).strip().rpartition("\n\n")[2]


def _described(tool: ToolMetadata) -> str:
    return re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", f"{tool.name} {json.dumps(tool.input_schema)}") + (
        f" {tool.description}"
    )


def _wanted(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the required properties, or all of them if none is required."""
    properties = schema.get("properties") or {}
    return {key: properties.get(key) for key in schema.get("required") or list(properties)}


def _is_text(schema: Any) -> bool:
    kind = schema.get("type") if isinstance(schema, dict) and "enum" not in schema else None
    return "string" in kind if isinstance(kind, list) else kind == "string"


def sample(schema: Any) -> Any:
    """Return a value that fits a schema; equal schemas get equal values."""
    return _Sample("", ()).of(schema)


class _Sample:
    """Values that fit a schema: the user's words if they have any, otherwise made up."""

    def __init__(self, words: str, names: Iterable[str]) -> None:
        self._words = words
        self._names: Iterator[str] = iter(names)
        self._numbers = iter(_NUMBER.findall(words))

    def _says(self, value: str) -> bool:
        return re.search(rf"(?i)\b{re.escape(value)}\b", self._words) is not None

    def of(self, schema: Any, depth: int = 0) -> Any:
        """Return a value that fits a schema; `depth` counts the objects around it."""
        match schema:
            case {"enum": [first, *_] as values}:
                return next((v for v in values if self._says(str(v))), first)
            case {"type": [kind, *_]} | {"type": kind}:
                pass
            case _:  # arguments are an object even if the schema does not say so
                kind = None if depth else "object"
        match kind:
            case "object":  # a schema may be recursive
                fields = _wanted(schema if isinstance(schema, dict) else {}) if depth < 4 else {}
                return {key: self.of(each, depth + 1) for key, each in fields.items()}
            case "integer":
                return int(float(next(self._numbers, 3)))
            case "number":
                return float(next(self._numbers, 2.5))
        values = {"boolean": True, "array": [], "null": None}
        return values[kind] if kind in values else next(self._names, _MADE_UP)
