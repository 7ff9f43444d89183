"""Each choice of a view: of what replies a client gets other content, thoughts or calls by it."""

from __future__ import annotations

import json
import typing
from functools import cache
from typing import Any, Final

import pytest
from golden_answers import Golden
from test_servers import (
    COHERE,
    FINAL,
    GLM,
    HARMONY,
    HERMES,
    KIMI,
    LFM_CALL,
    MINIMAX,
    MISTRAL,
    ODD,
    XML,
    coder,
)

import playground as pg
from playground.dialects.declared import DeclaredDialect
from playground.dialects.reading import parser_for
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.parsing.result import read_to_end
from playground.servers.reading import SERVER_CODES, ServerReader
from playground.servers.view import Server, View

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "warm": {"type": "boolean"},
        "near": {"type": ["string", "null"]},
        "far": {"$ref": "#/$defs/far"},
        "map": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "list": {"type": "array", "items": {}},
    },
    "$defs": {"far": {"type": "integer"}},
}
TOOLS: Final = {
    "get_weather": ToolMetadata(name="get_weather", description="", input_schema=SCHEMA),
    "wait": ToolMetadata(name="wait", description="", input_schema={"type": "object"}),
}
UNOFFERED: Final = HERMES.replace("weather", "tides")
VALUES: Final = (
    '"city": " Prague ", "days": 2, "warm": "TRUE", "near": "x", "far": 3, "map": {"x": 1, "y": '
    '{"z": "deep"}}, "list": [1, " a "], "odd": "7", "a&amp;b": 1'
)
MANY: Final = HERMES.replace('"city": "Prague"', VALUES)
WAIT: Final = '<tool_call>\n{"name": "wait", "arguments": {}}\n</tool_call>'


def invoked(*parameters: tuple[str, str]) -> str:
    inside = "".join(f'<parameter name="{key}">{value}</parameter>' for key, value in parameters)
    return f'<minimax:tool_call><invoke name="get_weather">{inside}</invoke></minimax:tool_call>'


REPLIES: Final = {
    "hermes": [
        f"A {HERMES} B {HERMES} C",
        HERMES,
        f"{HERMES}\nB{UNOFFERED}",
        f"<think>why</think>{WAIT}",
        f"A {HERMES[:-12]}",
        f"A {HERMES[:-20]}",
        f"{HERMES}<tool_call>{{'name': !}}</tool_call>",
        "A <tool_call> B",
        "A <tool_call> B</tool_call> C",
        "A </tool_call> B <tool_",
        MANY,
        HERMES.replace('"Prague"', "'</tool_call>'"),
        f"{HERMES}<|im_end|>",
        "why</think>so",
        f"<think>{HERMES}</think>so",
        f"{HERMES[:-12]}<|im_end|></tool_call> B",
        f"{HERMES[:-12]}\n{HERMES}",
    ],
    "xml": [XML, XML[:-14], f"A{XML}{XML} <b"],
    "qwen3-coder": [
        f"A{coder(' x')}B{coder('y')}C",
        coder("x").replace("</function>\n", ""),
        coder("x")[12:-13],
        coder("x")[:-24],
        coder("x").replace("</parameter>\n</function>", ""),
        coder("x").replace("<parameter", "<parameter=city>\nw\n</parameter>\n<parameter"),
        coder("x").replace("\n</function>", "") + coder("y"),
    ],
    "minimax-m2": [
        f"A {MINIMAX} B",
        invoked(("city", " x "), ("list", "[1, 2]"), ("warm", "yes"), ("map", "{y: 1}")),
        invoked(("days", "2"), ("far", "3"), ("odd", "true"), ("near", "1")),
        MINIMAX[:-20],
    ],
    "kimi-k2": [
        KIMI,
        KIMI.replace(":0", ""),
        KIMI[28:-26],
        f"A {KIMI} B {KIMI}",
        "A <|tool_calls_section_end|> B",
    ],
    "mistral": [f"{MISTRAL} B", f"A {ODD}", f"{MISTRAL}[TOOL_CALLS]get_weather B"],
    "muse": [" to=get_weather<|message|>hi", " to=other<|message|>hi"],
    "harmony": [f"{FINAL}{HARMONY}{FINAL}", f"{HARMONY}{FINAL[:-7]}<|return|>", "A"],
    "lfm2": [f"A {LFM_CALL} B", LFM_CALL[:-17], f"{LFM_CALL}A{LFM_CALL}"],
    "glm": [f"{GLM[:-12]}\n{GLM.replace('city', 'near')}", f"{GLM}A{GLM[:-30]}"],
    "cohere-action": [f"A {COHERE}"],
}  # fmt: skip
LITERALS: Final[dict[str, list[Any]]] = {
    "assumed_prefill": ["<think>"],
    "header_marker": ["<|message|>", "<tool_call>"],
    "never_trimmed": [("city",)],
    "values_must_not_hold": [("]",), ("</tool_call>",)],
    "unknown_markers": [("<tool_call>", "<minimax:tool_call>")],
    "call_must_end_with": [("</tool_call>",), ("<|im_end|>",), ("}",)],
    "markers_left_in_content": [("<tool_call>", "<|tool_call_start|>")],
    "erased_if_calls": [("B", " "), ("<",)],
    "text_must_end_with": ["<|return|>", "C"],
    "unsupported_repairs": [("missing-closer",), ("relaxed-json", "malformed-json")],
    "switches": [{"broken_calls": "text"}, {"calls_in_reasoning": "call"}],
}
BESIDE: Final[dict[str, Any]] = {  # other choices, without which one makes no difference
    "never_trimmed": {"values_trimmed": True},
    "on_malformed": {"unsupported_repairs": ("relaxed-json",)},
    "on_missing_closer": {"unsupported_repairs": ("missing-closer",)},
    "after_opener_without_call": {"header_marker": "<|message|>"},
}
HINTS: Final = typing.get_type_hints(View)
FIELDS: Final = [name for name in HINTS if name != "source"]


def choices(name: str) -> list[Any]:
    hint = HINTS[name]
    if typing.get_origin(hint) is typing.Literal:
        return [each for each in typing.get_args(hint) if each != getattr(View(), name)]
    return [True] if hint is bool else LITERALS[name]


@cache
def read(dialect_name: str, text: str, prefill: str, switches: tuple[tuple[str, str], ...]) -> Any:
    dialect = pg.get_dialect(dialect_name)
    assert isinstance(dialect, DeclaredDialect)
    data = PromptData(tool_metadata=list(TOOLS.values()))
    reader = ServerReader(Server("any", "", View(switches=dict(switches))), None, "")
    parser = parser_for(reader, dialect, data, prefill)
    return parser, read_to_end(parser, [parser.feed_text(text)])


def handed_over(dialect: str, text: str, view: View) -> list[str]:
    """List what a client gets, and what is dropped and told."""
    reader = ServerReader(Server("any", "", view), None, "")
    opened = reader.prefill("")
    parser, result = read(dialect, text, opened, tuple(view.switches.items()))
    reading = reader.reading(result, parser, TOOLS, opened)
    calls = [f"{call.name} {json.dumps(call.arguments)}" for call in reading.tool_calls]
    server = dict.fromkeys(each.message.removeprefix("any ") for each in reading.server_findings)
    own = [each.code for each in reading.findings if each.code not in SERVER_CODES]
    thoughts = [f"reasoning: {reading.reasoning}"] if reading.reasoning else []
    lost = [f"{reading.dropped_characters} dropped"] if reading.dropped else []
    return [reading.content, *thoughts, *calls, *server, *lost, *own]


@pytest.mark.parametrize("name", FIELDS)
def test_a_choice_of_a_view_hands_over(name: str, golden: Golden) -> None:
    """Written for replies of which the client gets something else without the choice."""
    others = BESIDE.get(name, {})
    told: dict[str, dict[str, str]] = {}
    for dialect, texts in REPLIES.items():
        for text in texts:
            without = handed_over(dialect, text, View(**others))
            for choice in choices(name):
                found = handed_over(dialect, text, View(**{name: choice}, **others))
                if found != without:
                    told.setdefault(str(choice), {})[text] = " | ".join(found)
    assert told
    golden(told)
