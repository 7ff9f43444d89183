"""How values are written is declared: JSON's style and order, words, types, CDATA, separators."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from strategies import TOOLS, calls
from test_laws import EXAMPLES

import playground as pg
from playground.dialects.checking import check_tool_call
from playground.dialects.declared import DeclaredDialect
from playground.dialects.reading import parse
from playground.nouns.messages import ToolCallPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.parsing.rendering import render_call
from playground.parsing.syntax import JsonShape, JsonStyle, Literals, Syntax
from playground.parsing.values import same
from playground.plugins.own_dialects.laws import check_dialect

PARAMS: dict[str, Any] = {
    "call": "<use {name}>{params}</use>",
    "param": "<{key}>{value}</{key}>",
}
TYPED: dict[str, Any] = {
    "call": "<use {name}>{params}</use>",
    "param": '<with key="{key}" type="{type}">{value}</with>',
}
ARGUMENTS = {"path": "é", "mode": 420, "force": True, "note": None, "tags": ["a", None, False]}
FORMS: dict[str, tuple[Syntax, str]] = {
    "JSON in lines, within a list, escaped": (
        Syntax("<do>{call:json}</do>", json=JsonStyle(indent=2, margin=1, ascii=True)),
        '<do>{\n   "name": "write_file",\n   "arguments": {\n     "path": "\\u00e9",\n'
        '     "mode": 420,\n     "force": true,\n     "note": null,\n     "tags": [\n       "a",\n'
        "       null,\n       false\n     ]\n   }\n }</do>",
    ),
    "JSON without blanks": (
        Syntax("<do {name}>{args:json}</do>", json=JsonStyle(comma=",", colon=":")),
        '<do write_file>{"path":"é","mode":420,"force":true,"note":null,'
        '"tags":["a",null,false]}</do>',
    ),
    "the id last": (
        Syntax("<do>{call:json}</do>", shape=JsonShape(id="id", order=("name", "arguments", "id"))),
        '<do>{"name": "write_file", "arguments": {"path": "é", "mode": 420, "force": true, '
        '"note": null, "tags": ["a", null, false]}, "id": "call_1"}</do>',
    ),
    "the arguments first, the id a number": (
        Syntax(
            "<do>{call:json}</do>",
            shape=JsonShape(id="n", order=("arguments", "name", "n"), id_is="number"),
        ),
        '<do>{"arguments": {"path": "é", "mode": 420, "force": true, "note": null, '
        '"tags": ["a", null, false]}, "name": "write_file", "n": "1"}</do>',
    ),
    "the arguments first, without a marker": (
        Syntax("{call:json}", shape=JsonShape(order=("arguments", "name"))),
        '{"arguments": {"path": "é", "mode": 420, "force": true, "note": null, '
        '"tags": ["a", null, false]}, "name": "write_file"}',
    ),
    "Python's words": (
        Syntax(**PARAMS, literals=Literals("True", "False", "None")),
        "<use write_file><path>é</path><mode>420</mode><force>True</force><note>None</note>"
        '<tags>["a", null, false]</tags></use>',
    ),
    "Python's words, lists too": (
        Syntax(**PARAMS, literals=Literals("True", "False", "None", "python")),
        "<use write_file><path>é</path><mode>420</mode><force>True</force><note>None</note>"
        "<tags>['a', None, False]</tags></use>",
    ),
    "words of one's own": (
        Syntax(**PARAMS, literals=Literals("yes", "no", "nil")),
        "<use write_file><path>é</path><mode>420</mode><force>yes</force><note>nil</note>"
        '<tags>["a", null, false]</tags></use>',
    ),
    "words in an object with marks": (
        Syntax("<do {name}>{args:marked}</do>", string_mark="``", literals=Literals(null="None")),
        "<do write_file>{path:``é``,mode:420,force:true,note:None,tags:[``a``,None,false]}</do>",
    ),
    "words for types": (
        Syntax(**TYPED, type_words=(("integer", "number"), ("string", "str"), ("null", "nil"))),
        '<use write_file><with key="path" type="str">é</with><with key="mode" type="number">420'
        '</with><with key="force" type="boolean">true</with><with key="note" type="nil">null</with>'
        '<with key="tags" type="array">["a", null, false]</with></use>',
    ),
    "white space between parameters": (
        Syntax("<use {name}>\n{params}\n</use>", "<{key}>{value}</{key}>", param_separator="\n"),
        "<use write_file>\n<path>é</path>\n<mode>420</mode>\n<force>true</force>\n"
        '<note>null</note>\n<tags>["a", null, false]</tags>\n</use>',
    ),
    "a section around a text": (
        Syntax(**PARAMS, cdata=True, cdata_for="é<"),
        "<use write_file><path><![CDATA[é]]></path><mode>420</mode><force>true</force>"
        '<note>null</note><tags>["a", null, false]</tags></use>',
    ),
}
forms = pytest.mark.parametrize(("syntax", "text"), FORMS.values(), ids=FORMS)


def declared(syntax: Syntax) -> DeclaredDialect:
    return DeclaredDialect(name="form", syntax=syntax, rules="Write this:")


@forms
def test_a_call_is_written_as_declared_and_read_back(syntax: Syntax, text: str) -> None:
    dialect = declared(syntax)
    call = ToolCallPart("call_1", "write_file", ARGUMENTS)
    assert dialect.format_tool_call(call, TOOLS) == text
    for pieces in ([text], [text[i : i + 1] for i in range(len(text))]):
        result = parse([piece.encode() for piece in pieces], dialect, TOOLS)
        (read,) = result.tool_calls
        assert (read.name, read.arguments, result.findings) == ("write_file", ARGUMENTS, [])


@forms
def test_the_laws_hold_of_every_form(syntax: Syntax, text: str) -> None:
    dialect = declared(syntax)
    assert [check for check in check_dialect(dialect, examples=20) if check.broken] == []

    @settings(max_examples=EXAMPLES)
    @given(calls(dialect))
    def law_3(call: ToolCallPart) -> None:
        found = check_tool_call(dialect, call, TOOLS)
        read = parse(dialect.format_tool_call(call, TOOLS), dialect, TOOLS).tool_calls
        assert found or (len(read) == 1 and same(read[0].arguments, call.args))

    law_3()


def test_an_empty_call_has_its_separator_once() -> None:
    syntax, _ = FORMS["white space between parameters"]
    text = render_call(syntax, "list_files", {})
    assert text == "<use list_files>\n\n</use>"
    (read,) = parse(text, declared(syntax), TOOLS).tool_calls
    assert (read.name, read.arguments) == ("list_files", {})


def test_a_text_that_looks_like_a_word_is_told_from_it() -> None:
    """`mode` may be a number or a text: `nil` as a text is quoted."""
    syntax, _ = FORMS["words of one's own"]
    either = {"type": ["string", "null"]}
    text = render_call(syntax, "write_file", {"note": "nil"}, schema_of=lambda _key: either)
    assert text == '<use write_file><note>"nil"</note></use>'


def test_what_python_cannot_write_as_json_has_it_is_still_a_value() -> None:
    syntax, _ = FORMS["Python's words, lists too"]
    value = {"a": [1.5, True, "it's\n"], "b": {}}
    call = ToolCallPart("call_1", "write_file", {"meta": value})
    assert check_tool_call(declared(syntax), call, TOOLS) == []
    assert "{'a': [1.5, True, \"it's\\n\"], 'b': {}}" in render_call(syntax, "f", {"meta": value})


ARGUMENTS_OF_LOOK = '"city": "Rome", "days": 2'
HERMES = f'<tool_call>\n{{"name": "look", "arguments": {{{ARGUMENTS_OF_LOOK}}}}}\n</tool_call>'
QWEN = "<function=look>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>"


@pytest.mark.parametrize(
    ("name", "text", "variations"),
    [
        ("hermes", f"\n\n{HERMES}\n{HERMES}", ""),
        ("hermes", "I look.\n" + HERMES.replace(", ", ","), ""),
        ("hermes", "\n\n" + HERMES.replace("\n", ""), "white space"),
        ("hermes", f"{HERMES} {HERMES}", "white space"),
        (
            "hermes",
            HERMES.replace(ARGUMENTS_OF_LOOK, '"days": 2, "city": "Rome"'),
            "order of parameters",
        ),
        ("qwen3-coder", f"<tool_call>\n{QWEN}", ""),
        ("qwen3-coder", "<tool_call>\n" + QWEN.replace("\nRome\n", "Rome"), "white space"),
        ("qwen3-coder", QWEN, "another form"),
    ],
)
def test_each_variation_of_a_written_call_is_named(name: str, text: str, variations: str) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}, "days": {}}}
    tools, dialect = [ToolMetadata(name="look", input_schema=schema)], pg.get_dialect(name)
    assert isinstance(dialect, DeclaredDialect)
    parser = dialect.create_parser(PromptData(tool_metadata=tools))
    events = parse(text, dialect, tools).events
    assert ", ".join(parser.variations(events)) == variations
