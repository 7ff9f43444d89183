"""Grammars and schemas: what a schema says is held, or a finding says that it is not."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from grammar_walk import TOOLS, Engine, grammar_for, right_calls, tools_for, wrong_calls
from strategies import DIALECTS, WITH_GRAMMAR

import playground as pg
from playground.base.errors import InputFault, UnknownNameError
from playground.base.findings import Finding
from playground.dialects import DeclaredDialect
from playground.dialects.checking import check_tool_call
from playground.nouns.messages import ToolCallPart
from playground.nouns.tools import ToolMetadata
from playground.questions.carry import OWN, VALUES

EVERY = pytest.mark.parametrize("dialect", WITH_GRAMMAR, ids=lambda d: d.name)

# what no grammar holds is said


def grammar_of(schema: Any, **more: Any) -> Any:
    properties = {"value": schema} if schema is not None else {}
    tool = ToolMetadata(
        name="probe",
        input_schema={"type": "object", "properties": properties, "required": ["value"], **more},
    )
    return pg.get_dialect("hermes").grammar([tool], choice="probe")


def of_kind(name: str) -> dict[str, Any]:
    kind = {"const": name}
    return {"type": "object", "required": ["kind"], "properties": {"kind": kind}}


def wider(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(found.where, found.message) for found in findings if found.code == "grammar-wider"]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string", "pattern": "^a(?=b)"}, "a look ahead or behind"),
        ({"type": "string", "pattern": r"^(a)\1$"}, "a reference back to a group"),
        ({"type": "string", "pattern": r"\bword"}, "an anchor or a word boundary inside of it"),
        ({"type": "string", "pattern": "("}, "it cannot be read"),
        ({"type": "string", "pattern": "^a*$", "maxLength": 3}, "the text's length"),
        ({"type": "string", "pattern": "^a*$", "minLength": 1}, "the text's length"),
        (
            {"enum": ["a", "bb"], "minLength": 2},
            "minLength is ignored: the values are listed",
        ),
        ({"type": "string", "maxLength": 100_000}, "more than 1,000 characters are not counted"),
        ({"type": "string", "format": "date-time"}, "format 'date-time' is not in the grammar"),
        ({"not": {"type": "string"}}, "not … is not in the grammar"),
        ({"if": {"type": "string"}, "then": {"minLength": 2}}, "if … is not in the grammar"),
        ({"type": "array", "uniqueItems": True}, "uniqueItems True is not in the grammar"),
        ({"type": "array", "contains": {"type": "null"}}, "contains … is not in the grammar"),
        ({"type": "integer", "multipleOf": 5}, "multipleOf 5 is not in the grammar"),
        (
            {"type": "number", "minimum": 0.5},
            "the bounds 0.5 and None of a number are not integers",
        ),
        ({"type": "number", "exclusiveMinimum": 0}, "exclusiveMinimum of a number"),
        ({"type": "object", "patternProperties": {"^a": {}}}, "patternProperties …"),
        ({"$ref": "https://example.com/schema.json"}, "leads out of the schema: any value"),
        ({"$ref": "#/$defs/missing"}, "leads to nothing: any value"),
        ({"oneOf": [{"type": "string"}, {"const": "a"}]}, "oneOf is read as anyOf"),
        ({"oneOf": [of_kind("a"), of_kind("b"), of_kind("a")]}, "oneOf is read as anyOf"),
        ({"allOf": [{"$ref": "#/properties/value"}]}, "the schema leads back to itself"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_grammar_leaves_out_of_a_schema_is_said(schema: Any, said: str) -> None:
    grammar = grammar_of(schema)
    assert any(said in message and "probe" in where for where, message in wider(grammar.findings))
    assert Engine(grammar.lark).walk(1, [b'"']) is not None


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"type": "string", "pattern": r"^\d{3}-[a-c]+$"}, ["123-abc"], ["12-a", "123-d", "x"]),
        ({"type": "string", "pattern": 'say "'}, ['they say "no"'], ["they say no"]),
        ({"type": "string", "pattern": "(?:^a|b$)"}, ["ax", "xb"], ["xa", "bx"]),
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "é\n\\"], ["a", "abcd"]),
        ({"type": "integer", "minimum": -12, "maximum": 105}, [-12, 0, 99, 105], [-13, 106, 1.5]),
        ({"type": "integer", "exclusiveMinimum": 5}, [6, 1000], [5, -6]),
        ({"type": "number", "minimum": 0, "maximum": 1}, [0, 0.25, 1, 1.0], [-0.5, 1.25, 2]),
        ({"type": "number"}, [0, -1.5, 1e-07, 1e22, 5e300], ["1", True]),
        (
            {"type": "array", "prefixItems": [{"type": "null"}], "items": {"type": "integer"}},
            [[], [None], [None, 1]],
            [[1]],
        ),
        ({"enum": ["a", 1, None, {"x": [True]}]}, ["a", 1, None, {"x": [True]}], ["b", 2, False]),
        ({"type": "object"}, [{}, {"a": {"b": [1, "x"]}}], ["x"]),
        (
            {"anyOf": [{"type": "object", "required": ["a"]}, {"type": "null"}]},
            [{"a": 1}, None],
            [{}],
        ),
        ({"oneOf": [of_kind("a"), of_kind("b")]}, [{"kind": "a"}, {"kind": "b"}], [{"kind": "c"}]),
        ({"allOf": [{"type": ["integer", "string"]}, {"minimum": 3}]}, [3, "x"], [2, None]),
    ],
    ids=lambda value: json.dumps(value)[:40],
)
def test_what_a_schema_says_is_held(schema: Any, right: list[Any], wrong: list[Any]) -> None:
    grammar = grammar_of(schema)
    made, hermes = Engine(grammar.lark), pg.get_dialect("hermes")
    assert wider(grammar.findings) == []
    for value in [*right, *wrong]:
        text = hermes.format_tool_call(ToolCallPart("call_1", "probe", {"value": value}))
        assert made.accepts(text) == (value in right), value


def test_a_reference_to_itself_is_a_rule_that_uses_itself() -> None:
    node = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        },
        "required": ["name"],
    }
    grammar = grammar_of({"$ref": "#/$defs/node"}, **{"$defs": {"node": node}})
    made, hermes = Engine(grammar.lark), pg.get_dialect("hermes")
    assert wider(grammar.findings) == []

    def takes(value: Any) -> bool:
        call = ToolCallPart("call_1", "probe", {"value": value})
        return made.accepts(hermes.format_tool_call(call))

    assert takes({"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]})
    assert not takes({"name": "a", "children": [{"name": "b", "children": [{"nom": "c"}]}]})


@pytest.mark.parametrize(
    "schema",
    [False, {"enum": []}, {"type": "integer", "minimum": 3, "maximum": 2}]
    + [{"type": "array", "minItems": 1, "items": {"$ref": "#/properties/value"}}],
)
def test_where_no_value_fits_there_is_no_grammar(schema: Any) -> None:
    grammar = grammar_of(schema)
    assert (grammar.lark, grammar.gbnf, grammar.ebnf, grammar.structural_tag) == ("", "", "", "")
    assert [found.code for found in grammar.findings][-1] == "no-grammar"


@EVERY
def test_an_own_marker_that_the_grammar_refuses_is_told(dialect: DeclaredDialect) -> None:
    held_or_told(dialect, [make(dialect) for make in OWN.values()])


@pytest.mark.long
@EVERY
def test_a_value_that_the_grammar_refuses_holds_a_word_that_is_told(
    dialect: DeclaredDialect,
) -> None:
    held_or_told(dialect, [value for value in VALUES.values() if isinstance(value, str)])


def held_or_told(dialect: DeclaredDialect, values: list[str]) -> None:
    """What the dialect carries of the values, the engine takes, or a finding names the word."""
    texts = dict(dialect.syntax.sample_texts) or {"value": ""}
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in texts},
        "required": list(texts),
    }
    tool = ToolMetadata(name=dialect.syntax.name or "probe", input_schema=schema)
    grammar = dialect.grammar([tool], choice=tool.name)
    made = Engine(grammar.lark)
    told = " ".join(found.message for found in grammar.findings)
    for value in values:
        call = ToolCallPart("call_1", tool.name, texts | {list(texts)[-1]: value})
        text = dialect.format_tool_call(call, [tool])
        if not made.accepts(text) and not check_tool_call(dialect, call, [tool]):
            assert any(word in text for word in re.findall(r"'([^']+)'", told)), (value, text)


# the other forms, what is asked, and what is not


@pytest.mark.parametrize("name", ["hermes", "qwen3-coder", "kimi-k3", "gemma4", "react", "native"])
def test_gbnf_takes_what_lark_takes(name: str) -> None:
    dialect = next(each for each in DIALECTS if each.name == name)
    tools, grammar = tools_for(dialect), grammar_for(dialect)
    assert grammar.ebnf == grammar.gbnf
    assert json.loads(grammar.structural_tag)["format"]["grammar"] == grammar.ebnf
    made = Engine.of_gbnf(grammar.gbnf)
    for call in right_calls(dialect):
        assert made.accepts(dialect.format_tool_call(call, tools))
    for call in wrong_calls(dialect):
        assert not made.accepts(dialect.format_tool_call(call, tools))


def test_the_choice_decides_what_is_called_and_how_often() -> None:
    hermes = pg.get_dialect("hermes")
    read_file, weather = (
        hermes.format_tool_call(ToolCallPart("call_1", name, arguments), TOOLS)
        for name, arguments in (("read_file", {"path": "a"}), ("weather", {"city": "K", "days": 1}))
    )
    one = Engine(hermes.grammar(TOOLS, choice="weather", parallel=False).lark)
    assert one.accepts(weather)
    assert not any(map(one.accepts, [read_file, f"{weather}\n{weather}", "text"]))
    several = Engine(hermes.grammar(TOOLS, choice="required").lark)
    assert several.accepts(f"{weather}\n{read_file}\n{weather}")
    thought = Engine(hermes.grammar(TOOLS, choice="required", reasoning=True).lark)
    assert thought.accepts(f"<think>Hm.</think>\n\n{weather}")
    assert not several.accepts(f"<think>Hm.</think>\n\n{weather}")


def test_tools_of_any_form_are_taken() -> None:
    openai = {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}
    grammar = pg.get_dialect("json").grammar([openai], choice="now")
    assert Engine(grammar.lark).accepts('{"tool_name": "now", "args": {}}')


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ({"tools": "read_file"}, InputFault),
        ({"tools": 3}, InputFault),
        ({"tools": TOOLS, "choice": "nobody"}, UnknownNameError),
        ({"tools": TOOLS, "choice": None}, InputFault),
        ({"tools": TOOLS, "parallel": "yes"}, InputFault),
    ],
)
def test_what_is_asked_wrongly_is_told(asked: dict[str, Any], fault: type[Exception]) -> None:
    with pytest.raises(fault):
        pg.get_dialect("hermes").grammar(**asked)


def test_without_tools_there_is_text_and_no_call() -> None:
    hermes = pg.get_dialect("hermes")
    assert Engine(hermes.grammar([]).lark).accepts("Only words.")
    assert hermes.grammar([], choice="required").lark == ""


def test_a_dialect_that_calls_one_tool_alone_says_so() -> None:
    grammar = pg.get_dialect("smolagents-code").grammar(TOOLS, choice="required")
    assert grammar.lark == ""
    assert "every call is of 'python_interpreter'" in grammar.findings[0].message


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"anyOf": [{"const": n} for n in range(250)]}, "a union of more than 200 parts"),
        ({"properties": {"a": {}}}, "a schema without a type is read as one of type object"),
        ({"type": "number", "minimum": 0}, "a number between bounds has no exponent"),
    ],
)
def test_what_fits_a_schema_and_is_not_allowed_is_said(schema: Any, said: str) -> None:
    found = grammar_of(schema).findings
    told = [f.message for f in found if f.code == "grammar-narrower" and "value" in f.where]
    assert any(said in message for message in told)


def test_of_a_const_and_an_enum_the_value_of_both_is_left() -> None:
    both = [{"const": "x"}, {"enum": ["y", "x"]}]
    engine = Engine(grammar_of({"allOf": both}).lark)
    calls = [
        f'<tool_call>\n{{"name": "probe", "arguments": {{"value": "{v}"}}}}\n</tool_call>'
        for v in "xy"
    ]
    assert [engine.accepts(call) for call in calls] == [True, False]
    assert grammar_of({"allOf": [{"const": "x"}, {"enum": ["y"]}]}).rules == {}


COUNTED = {
    "type": "object",
    "properties": {
        "most": {"type": "string", "maxLength": 280},
        "between": {"type": "string", "minLength": 1, "maxLength": 9},
        "open": {"type": "string", "pattern": "^a"},
    },
    "required": ["most"],
}


@EVERY
def test_a_text_that_is_counted_leaves_room_for_its_closer(dialect: DeclaredDialect) -> None:
    """A tool of GitHub's MCP server could not be called: its text took the closer's line break."""
    if dialect.syntax.text_keys:
        pytest.skip("its calls hold texts alone, of which nothing is counted")
    tools = [ToolMetadata(name="note", input_schema=COUNTED)]
    engine = Engine(dialect.grammar(tools, choice="required").lark)
    for arguments in ({"most": "one"}, {"most": "", "between": "a b", "open": "abc"}):
        text = dialect.format_tool_call(ToolCallPart("call_1", "note", arguments), tools)
        assert engine.accepts(text)
    long = dialect.format_tool_call(ToolCallPart("call_1", "note", {"most": "x" * 281}), tools)
    assert not engine.accepts(long)
