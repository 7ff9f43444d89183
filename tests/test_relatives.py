"""What a dialect reads of its relatives' forms, and what is no call of them.

A row is a reply, the calls that are delivered, what is content, and the findings that say so. Each
is read whole and byte by byte.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from playground.base.findings import MENDING
from playground.dialects.reading import parse

Row = tuple[str, str, list[tuple[str, dict[str, Any]]], str, list[str]]

_KIMI: Final = (
    "<|tool_calls_section_begin|><|tool_call_begin|>\nfunctions.f.0<|tool_call_argument_begin|>"
    '{"a": 1}<|tool_call_end|><|tool_call_begin|>\nfunctions.g:1<|tool_call_argument_begin|>'
    "{}<|tool_call_end|><|tool_calls_section_end|>"
)
_HY3: Final = (
    "<tool_call:opensource>f<tool_sep:opensource><arg_key:opensource>a</arg_key:opensource>"
    "<arg_value:opensource>x</arg_value:opensource></tool_call:opensource>"
)
_ATEM: Final = '<atem:invoke name="f">\n<atem:parameter name="a">1</atem:parameter>\n</atem:invoke>'
_CODER: Final = "<function=g>\n<parameter=a>\n1\n</parameter>\n</function>"
_BROKEN: Final = '"x", "arguments": {"name": "f", "arguments": {"a": 1}}}'
RELATIVES: Final[list[Row]] = [
    (
        "seed-oss",
        "<tool_call>\n<function=f>\n<parameter=a>x</parameter>\n</function>\n</tool_call>",
        [("f", {"a": "x"})],
        "",
        [],
    ),
    *((d, _HY3, [("f", {"a": "x"})], "", []) for d in ("hunyuan", "hy3", "hy4")),
    *(
        (d, _HY3.replace(":opensource", ""), [("f", {"a": "x"})], "", [])
        for d in ("hunyuan", "hy3")
    ),
    *(
        (
            d,
            f'Now. <tool_calls{s}>[{{"name": "f", "arguments": {{"a": 1}}}}]</tool_calls{s}>',
            [("f", {"a": 1})],
            "Now. ",
            [],
        )
        for d in ("hunyuan", "hy3")
        for s in ("", ":opensource")
    ),
    (
        "hy3",
        '<tool_call:opensource>f<tool_sep:opensource>{"a": 1}<end_of_tool_call:opensource>',
        [("f", {"a": 1})],
        "",
        ["arguments-as-json", "missing-closer"],
    ),
    (
        "xlam",
        '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>',
        [("f", {"a": 1})],
        "",
        [],
    ),
    (
        "gigachat3",
        'So: function call{"name": "f", "arguments": {"a": 1}}',
        [("f", {"a": 1})],
        "So: ",
        [],
    ),
    ("gigachat3", "A function call of f.", [], "A function call of f.", []),
    (
        "harmony",
        '<|channel|>analysis to=functions.f code<|message|>{"a": 1}<|call|>',
        [("f", {"a": 1})],
        "",
        [],
    ),
    *(
        ("muse", before + _ATEM, [("f", {"a": 1})], "", [])
        for before in ("", " to=<|message|>", "<|start|>assistant<|message|>")
    ),
    ("muse", " to=user<|message|>Rome.<|end_of_text|>", [], "Rome.", []),
    (
        "hermes",
        '<tool_call>{"name": "f", "arguments": {}}</tool_call>\n' + _CODER,
        [("f", {})],
        f"\n{_CODER}",
        ["foreign-markup"],
    ),
    ("kimi-k2", _KIMI, [("f.0", {"a": 1}), ("g", {})], "", []),
]
BROKEN: Final[list[Row]] = [
    *(
        (d, text, [('a"b', {"x": 1})], "", [])
        for d, text in (
            ("hermes", '<tool_call>{"name": "a\\"b", "arguments": {"x": 1}}</tool_call>'),
            ("llama3-json", '{"name": "a\\"b", "parameters": {"x": 1}}'),
            ("json", '{"tool_name": "a\\"b", "args": {"x": 1}}'),
        )
    ),
    (
        "llama3-json",
        '<|python_tag|>{"name": invalid}',
        [],
        '<|python_tag|>{"name": invalid}',
        ["malformed-json"],
    ),
    (
        "functools",
        'functools[{"name" ' + _BROKEN + "]",
        [],
        _BROKEN + "]",
        ["malformed-json", "missing-opener", "missing-opener", "unclosed-section"],
    ),
    (
        "nemotron-v2",
        '<TOOLCALL>[{"name" ' + _BROKEN + ', {"name": "g", "arguments": {}}]</TOOLCALL>',
        [("g", {})],
        _BROKEN + ",",
        ["malformed-json", "missing-opener", "missing-opener"],
    ),
    (
        "cohere-action",
        '<|START_ACTION|>[\n    {"tool_name": "f", "parameters": {"at": 15:30}},\n'
        '    {"tool_name": "g", "parameters": {}}\n]<|END_ACTION|>',
        [("g", {})],
        "",
        ["malformed-json"],
    ),
]


@pytest.mark.parametrize("piece", [0, 1], ids=["whole", "byte by byte"])
@pytest.mark.parametrize(("dialect", "text", "calls", "content", "findings"), RELATIVES + BROKEN)
def test_it_is_read_so(
    dialect: str,
    text: str,
    calls: list[tuple[str, dict[str, Any]]],
    content: str,
    findings: list[str],
    piece: int,
) -> None:
    data = text.encode()
    answer = [data[i : i + 1] for i in range(len(data))] if piece else data
    result = parse(answer, dialect)
    assert [(call.name, call.arguments) for call in result.tool_calls] == calls
    assert result.content == content
    more = MENDING - set(findings)  # law 14's own tests try what only the grammar tells
    codes = dict.fromkeys(each.code for each in result.findings if each.code not in more)
    assert list(codes) == list(dict.fromkeys(findings))


@pytest.mark.parametrize(
    ("dialect", "prefill", "text", "reasoning", "content"),
    [
        (
            "gemma4",
            "",
            "<|channel>thought\nSo.<channel|><|channel>content\nRome.<channel|>",
            "\nSo.",
            "\nRome.",
        ),
        ("gemma4", "", "<|channel>thought\nSo.\n<|channel>response\nRome.", "\nSo.\n", "\nRome."),
        ("gemma4", "", "<|channel>first<channel|>Rome.", "first", "Rome."),
        (
            "tool-calls-array",
            "Here are my reasoning steps:\n",
            "So.\n[BEGIN FINAL RESPONSE]\nRome.\n[END FINAL RESPONSE]",
            "So.\n",
            "\nRome.\n",
        ),
    ],
)
def test_an_answer_begins_where_its_marker_stands(
    dialect: str, prefill: str, text: str, reasoning: str, content: str
) -> None:
    for answer in (text, [bytes([byte]) for byte in text.encode()]):
        result = parse(answer, dialect, prefill=prefill)
        assert (result.reasoning, result.content) == (reasoning, content)
