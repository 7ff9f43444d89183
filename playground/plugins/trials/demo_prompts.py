"""Read from a request what its prompt teaches the demo model: the tools, and the dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import takewhile
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.json_numbers import load_json
from playground.dialects import dialect_names, get_dialect
from playground.nouns.prompt_data import PromptData
from playground.nouns.tool_formats import read_tools
from playground.nouns.tools import JSON_TYPES, ToolMetadata

# the two forms in which dialects document tools (`dialects/prompts.py`)
_DESCRIBED: Final = re.compile(
    r"^<tool_doc .*>\nTool name: (.+)\nDescription: ([^<]*?)\nParameters:\n((?:- .*\n)*)", re.M
)
_PARAMETER: Final = re.compile(r"^- (.+?) \((\w+).*?, (required|optional)\)(?:: (.*))?", re.M)
_JSON_LINE: Final = re.compile(r'^\{"type": "function", "function": .*\}$', re.M)
# a tool with names that no rules have: in rules written for it, the rest is the rules' own text
_TOOL: Final = ToolMetadata(name="Zqn", parameters={"Zqk": {"type": "string", "default": "Zqv"}})
_WORDS: Final = re.compile("Zq[nkv]")


def prompt_of(body: Mapping[str, Any]) -> str:
    """Return the texts of a request before the model's first reply."""
    asked = takewhile(lambda each: each.get("role") != "assistant", body["messages"])
    contents = [body.get("system"), *(each.get("content") for each in asked)]
    return "\n\n".join(text for content in contents for text in _texts(content))


def _texts(content: Any) -> Iterator[str]:
    parts = [{"text": content}] if isinstance(content, str) else content
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]


def documented_tools(prompt: str) -> list[ToolMetadata]:
    """Return the tools that a prompt documents, in either form that dialects write."""
    tools = [_described(*match.groups()) for match in _DESCRIBED.finditer(prompt)]
    for line in _JSON_LINE.finditer(prompt):
        with suppress(InputFault, ValueError, RecursionError):
            tools += read_tools([load_json(line[0])])
    return tools


def _described(name: str, description: str, lines: str) -> ToolMetadata:
    found = _PARAMETER.findall(lines)
    properties = {
        key: {"description": words} | ({"type": kind} if kind in JSON_TYPES else {})
        for key, kind, _, words in found
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": [key for key, _, need, _ in found if need == "required"],
    }
    return ToolMetadata(name=name, description=description, input_schema=schema)


def taught_dialect(prompt: str) -> str:
    """Return the dialect whose rules the prompt holds the most of, in characters. Only rules whose
    beginning is in the prompt count; "" if there are none. The example's tool may differ."""
    known = {name: rules for name in dialect_names() if (rules := _rules(name))}
    found = {name: rules for name, rules in known.items() if rules[0] in prompt}
    sizes = {name: sum(len(p) for p in rules if p in prompt) for name, rules in found.items()}
    return max(sizes, key=lambda name: sizes[name], default="")


@cache
def _rules(name: str) -> tuple[str, ...]:
    """Return a dialect's rules, cut at the tool's name, key and value in their example."""
    rules = get_dialect(name).format_dialect_rules(PromptData(tool_metadata=[_TOOL]))
    # whether quotes and brackets stand around a value depends on its type
    pieces = [each.lstrip("\"'}]), ").rstrip("\"' ") for each in _WORDS.split(rules)]
    return tuple(piece for piece in pieces if re.search(r"\w", piece))
