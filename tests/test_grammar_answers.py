"""The grammars of tools with many kinds of schemas, and the markers that plain text lacks."""

from __future__ import annotations

from typing import Any, Final

import pytest
from golden_answers import Golden
from strategies import DIALECTS

import playground as pg
from playground.dialects.declared import DeclaredDialect
from playground.nouns.tools import ToolMetadata
from playground.parsing.outside_text import markers_of_words, tags_outside_text

BERTH: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "ship": {"type": "string", "minLength": 1},
        "code": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"},
        "side": {"enum": ["port", "starboard", 3, None]},
        "nights": {"type": "integer", "minimum": 1, "maximum": 14},
        "depth": {"type": ["number", "string"]},
        "sure": {"type": "boolean"},
        "crew": {"type": "array", "items": {"$ref": "#/$defs/sailor"}, "maxItems": 3},
        "cargo": {"anyOf": [{"type": "string", "maxLength": 4}, {"type": "null"}]},
        "any": {},
        "lines": {"const": "a\nb"},
    },
    "required": ["ship", "depth"],
    "additionalProperties": {"type": "integer"},
    "$defs": {"sailor": {
        "type": "object", "required": ["name"], "additionalProperties": False,
        "properties": {"name": {"type": "string"}, "of": {"$ref": "#/$defs/sailor"}}}},
}  # fmt: skip
ASK: Final = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS: Final = [
    ToolMetadata(name="book", description="Books a berth.", input_schema=BERTH),
    ToolMetadata(name="ask", description="Asks.", input_schema=ASK),
    ToolMetadata(name="wait", description="Waits.", input_schema={"type": "object"}),
]
NAMES: Final = (  # one of each notation, with a section and without
    "xml", "qwen3-coder", "hermes", "llama3-json", "dspy-chat", "kimi-k2", "pythonic",
    "granite-pythonic", "functiongemma", "cwm", "gptme-xml", "aider-editblock", "glm", "harmony",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_grammar_of_a_dialect_is_written_out(name: str, golden: Golden) -> None:
    grammar = pg.get_dialect(name).grammar(TOOLS)
    findings = [[found.code, found.where] for found in grammar.findings]
    required = len(pg.get_dialect(name).grammar(TOOLS, choice="required").gbnf)
    golden({"lark": grammar.lark.splitlines(), "gbnf": required, "findings": findings})


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_plain_text_is_not_expected_to_hold_a_marker(
    dialect: DeclaredDialect, golden: Golden
) -> None:
    syntax, markers = dialect.syntax, dialect.markers
    golden(
        {
            "without names": tags_outside_text(syntax, markers, []),
            "of two tools": tags_outside_text(syntax, markers, ["book", "ask"]),
            "words": list(markers_of_words(syntax, ["book"])),
        }
    )
