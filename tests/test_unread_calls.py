"""Read, or tell of, a text that was meant as a call: doubled, misspelt and filtered markers, and
text that no dialect reads.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from conftest import ROOT
from strategies import DIALECTS, GENERAL

from playground.base.findings import CODES
from playground.base.fixes import with_fix
from playground.dialects import get_dialect
from playground.dialects.declared import DeclaredDialect
from playground.dialects.reading import parse
from playground.nouns.events import owned_text
from playground.nouns.messages import ToolCallPart
from playground.nouns.tools import ToolMetadata
from playground.parsing.patterns import has_words
from playground.parsing.template import Hole

WEATHER = ToolMetadata(
    name="get_weather",
    description="Tell the weather.",
    input_schema={
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
        "required": ["city"],
    },
)
ROME = ("get_weather", {"city": "Rome"})


def closer_of(dialect: DeclaredDialect, key: str) -> str:
    param = dialect.syntax.param_template
    after = param.after if param else ()
    return "".join(key if isinstance(piece, Hole) else piece for piece in after).strip()


# Of `continue` a second closer on a line of its own is text between two parameters.
PARAMETERS = [d for d in GENERAL if has_words(closer_of(d, "key")) and d.name != "continue"]


@pytest.mark.parametrize("dialect", PARAMETERS, ids=lambda dialect: dialect.name)
def test_a_parameters_closer_may_stand_twice(dialect: DeclaredDialect) -> None:
    closer = closer_of(dialect, "city")
    text = dialect.format_tool_call(ToolCallPart("call_1", *ROME), [WEATHER])
    for space in ("", "\n"):
        doubled = text.replace(closer, f"{closer}{space}{closer}")
        result = parse(doubled, dialect, [WEATHER])
        assert [(call.name, call.arguments) for call in result.tool_calls] == [ROME], doubled
        assert "doubled-closer" in [finding.code for finding in result.findings]
        assert "".join(map(owned_text, result.events)) == doubled


def test_a_value_that_shows_the_dialects_own_markers_keeps_them() -> None:
    dialect = get_dialect("qwen3-coder")
    value = "<parameter=x>\n1\n</parameter>"
    text = dialect.format_tool_call(ToolCallPart("c", "get_weather", {"city": value}), [WEATHER])
    (call,) = parse(text, dialect, [WEATHER]).tool_calls
    assert call.arguments == {"city": value}


READ: list[tuple[str, str, list[str]]] = [
    # a blank in an opening tag
    (
        "minimax-m2",
        '<minimax:tool_call>\n< invoke name="get_weather">\n<parameter name="city">Rome'
        "</parameter>\n</invoke>\n</minimax:tool_call>",
        ["mended-opener"],
    ),
    # a key without its first tag
    (
        "glm",
        "<tool_call>get_weather city</arg_key>\n<arg_value>Rome</arg_value>\n</tool_call>",
        ["mended-opener"],
    ),
    # quotes in place of the first mark, and the second mark after them
    ("gemma4", """<|tool_call>call:get_weather{city:'Rome'<|"|>}<tool_call|>""", ["relaxed-json"]),
    # colons in parentheses
    (
        "gemma4",
        '<|tool_call>call:get_weather(city: "Rome")<tool_call|>',
        ["mended-form", "relaxed-python"],
    ),
    (
        "hermes",
        "<tool_call>get_weather(city: 'Rome')</tool_call>",
        ["mended-form", "relaxed-python"],
    ),
    # the server removed the control tokens
    ("harmony", 'commentary to=functions.get_weather json{"city": "Rome"}', ["mended-form"]),
    ("harmony", 'So.assistantcommentary to=functions.get_weather{"city": "Rome"}', ["mended-form"]),
    (
        "kimi-k3",
        'So.thinktoolscall tool="get_weather" index="1"argument key="city" type="string"Rome'
        "argumentcalltools",
        ["call-in-reasoning", "mended-form"],
    ),
    (
        "minimax-m3",
        '<invoke name="get_weather"><city>Rome</city></invoke>',
        ["missing-section", "mended-form"],
    ),
    # forms beside the taught one
    (
        "harmony",
        '<|channel|>commentary to=get_weather<|constrain|>json<|message|>{"city": "Rome"}<|call|>',
        [],
    ),
    (
        "kimi-k3",
        '<|close|>think<|sep|><|open|>tools<|sep|><|open|>call tool="get_weather" index="1"'
        '<|sep|><|open|>json type="object"<|sep|>{"city": "Rome"}<|close|>json<|sep|>'
        "<|close|>call<|sep|><|close|>tools<|sep|>",
        [],
    ),
    (
        "minimax-m2",
        '[TOOL_CALL]\n{tool => "get_weather", args => {\n  --city "Rome"\n}}\n[/TOOL_CALL]',
        ["mended-form"],
    ),
    (
        "minimax-m2",
        '[TOOL_CALL]{tool => "get_weather", args => {"city": "Rome"}}[/TOOL_CALL]',
        ["mended-form"],
    ),
    (
        "llama4-pythonic",
        '<|python_start|>{"type": "function", "name": "get_weather", "parameters": '
        '{"city": "Rome"}}<|python_end|>',
        [],
    ),
    (
        "inkling",
        'get_weather<|content_invoke_tool_json|>{"name": "get_weather", "args": '
        '{"city": "Rome"}}<|end_message|>',
        [],
    ),
]


@pytest.mark.parametrize(("dialect", "text", "findings"), READ)
def test_it_is_read(dialect: str, text: str, findings: list[str]) -> None:
    data = text.encode()
    for size in (1, 5, len(data)):
        pieces = [data[i : i + size] for i in range(0, len(data), size)]
        result = parse(pieces, dialect, [WEATHER])
        assert [(call.name, call.arguments) for call in result.tool_calls] == [ROME]
        assert [finding.code for finding in result.findings] == findings
        assert "".join(map(owned_text, result.events)) == text


TOLD: list[tuple[str, str, str]] = [
    ("native", '[Calling tool: get_weather with arguments: {"city": "Rome"}]', "unread-call"),
    ("native", '[Tool Call: get_weather({"city": "Rome"})]', "unread-call"),
    ("hermes", 'get_weather\n{"city": "Rome"}', "unread-call"),
    ("hermes", "tool_name: get_weather\ncity: Rome", "unread-call"),
    ("glm", '<get_weather>{"city": "Rome"}</get_weather>', "unread-call"),
    ("xml", '<onvoke name="get_weather"><parameter name="city">Rome</parameter>', "unread-call"),
    ("kimi-k2", 'functions.get_weather:0 <|tool_call_argument_begin|> {"city": "R"}', ""),
    ("harmony", '<|channel|>commentary<|message|>{"city": "Rome"}<|call|>', "unread-call"),
    ("harmony", "analysisTwo and two.assistantfinalFour.", "filtered-tokens"),
    ("native", "It is loaded.\n</parameter>\n</invoke>", "foreign-closer"),
    ("native", "It is loaded.\n</div>\n</parameter>\n</invoke>", "foreign-closer"),
    (
        "anthropic-invoke",
        '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Rome</parameter>'
        "\n</invoke>\n</function_invocation>",
        "foreign-closer",
    ),
    (
        "hermes",
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n"
        "</tool_call>",
        "foreign-markup",
    ),
    ("native", '<tool_call>\n{"name": "get_weather", "arguments": {}}\n</tool_call>', ""),
]


@pytest.mark.parametrize(("dialect", "text", "code"), TOLD)
def test_it_is_told(dialect: str, text: str, code: str) -> None:
    findings = parse(text, dialect, [WEATHER]).findings
    assert code in {"", *(finding.code for finding in findings)}
    assert any(finding.severity == "warning" for finding in findings)


def test_a_form_that_another_dialect_reads_is_not_said_to_have_no_reader() -> None:
    text = "<get_weather>\n<city>Rome</city>\n</get_weather>"
    assert parse(text, "xml", [WEATHER]).tool_calls
    (found,) = parse(text, "glm", [WEATHER]).findings
    assert found.code == "unread-call"
    assert "this dialect does not read" in CODES[found.code].meaning


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("so\n</invoke>", "'</invoke>' is a closer of anthropic-invoke, minimax-m2, "),
        ("so\n</called_function>", "'</called_function>' is no dialect's closer, and nothing here"),
    ],
)
def test_a_closer_is_told_with_the_dialects_that_have_it(text: str, message: str) -> None:
    (finding,) = parse(text, "native", [WEATHER]).findings
    assert finding.code == "foreign-closer"
    assert finding.message.startswith(message)


@pytest.mark.parametrize("slip", ["as written", "cut in an argument", "a call in a code fence"])
def test_the_dialect_that_foreign_markup_names_says_more(slip: str) -> None:
    """Who reads the reply in the named dialect gets a call, or a finding that says why not."""
    replies = json.loads((ROOT / "docs" / "slips.json").read_text())["replies"]
    for name in ("hermes", "qwen3-coder", "kimi-k2", "anthropic-invoke"):
        for finding in parse(replies[name][slip], "native").findings:
            named = finding.message.split()[0] if finding.code == "foreign-markup" else "native"
            read = parse(replies[name][slip], named)
            assert read.tool_calls or read.aborted or read.findings
            assert "read the reply in the named dialect" in with_fix(finding) or named == "native"


@pytest.mark.parametrize("closer", ["</invoke>", "</tool_call>", "</called_function>"])
def test_the_remedy_for_a_lone_closer_is_no_other_dialect(closer: str) -> None:
    """No dialect reads a call without its opener, so nobody is sent from one to the next."""
    for dialect in ("native", "anthropic-invoke", "hermes", "xml"):
        for finding in parse(f"so\n{closer}", dialect, [WEATHER]).findings:
            assert "named dialect" not in with_fix(finding)
            assert "opener" in with_fix(finding)


@pytest.mark.parametrize(
    "text",
    [
        "I called get_weather, and the city was Rome.",
        "It is get_weather(city='Rome').",
        "Use `get_weather` for a city: it takes a unit, too.",
        "A reply ends with </tool_call> in this form.",
        '{"answer": "Rome"}',
        "analysis of the finals",
        "<div>\n<p>get_weather</p>\n</div>",
    ],
)
def test_prose_is_not_told(text: str) -> None:
    told = {"unread-call", "foreign-closer", "filtered-tokens"}
    for dialect in ("native", "harmony", "xml"):
        codes = {finding.code for finding in parse(text, dialect, [WEATHER]).findings}
        assert not told & codes


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_call_without_its_control_tokens_is_never_silent(dialect: DeclaredDialect) -> None:
    """A server that skips special tokens removes them: what is left is read, or told."""
    arguments: dict[str, Any] = dict(ROME[1])
    name = dialect.syntax.name or ROME[0]
    if dialect.syntax.text_keys:
        arguments = dict(dialect.syntax.sample_texts)
    text = dialect.format_tool_call(ToolCallPart("call_1", name, arguments), [WEATHER])
    bare = re.sub(r"<[|｜][^<>|｜]{1,60}[|｜]>", "", text)
    if bare == text or dialect.syntax.name:
        return
    result = parse(bare, dialect, [WEATHER])
    told = any(finding.severity != "info" for finding in result.findings)
    assert result.tool_calls or told, bare


LISTED = [
    dialect
    for dialect in DIALECTS
    if dialect.syntax.section_template
    and re.search(r"\][^\]]*\w", "".join(map(str, dialect.syntax.section_template.after)))
]


@pytest.mark.parametrize("dialect", LISTED, ids=lambda dialect: dialect.name)
def test_a_list_whose_section_is_not_closed_leaves_no_bracket(dialect: DeclaredDialect) -> None:
    assert dialect.syntax.section_template
    closer = str(dialect.syntax.section_template.after[-1])
    text = dialect.format_tool_call(ToolCallPart("call_1", *ROME), [WEATHER])
    listed = text.rstrip().removesuffix(closer.rstrip()) + closer[: closer.index("]") + 1]
    for after in ("", "\n", "\nThat is all."):
        data = (listed + after).encode()
        for size in (1, len(data)):
            pieces = [data[i : i + size] for i in range(0, len(data), size)]
            result = parse(pieces, dialect, [WEATHER])
            assert (len(result.tool_calls), result.content.strip()) == (1, after.strip())
            assert "".join(map(owned_text, result.events)) == listed + after
