"""Parameters of odd forms: values that are all JSON, blanks before a closer, attributes."""

from __future__ import annotations

from typing import Any

import pytest
from grammar_walk import Engine, Tried

import playground as pg
from playground.dialects import DeclaredDialect
from playground.nouns.messages import ToolCallPart
from playground.parsing.syntax import JsonShape, Syntax
from playground.plugins.own_dialects.laws import check_dialect

HURTING: dict[str, Any] = {
    "plain": "Q",
    "markup": 'say "</p>" and <p x>\n---end |b="2" \\',
    "empty": "",
    "number": -1.5,
    "nothing": None,
    "list": ["a", {"b": "]"}],
}


def odd(call: str, param: str, **more: Any) -> DeclaredDialect:
    return DeclaredDialect(name="odd", rules="Write:", syntax=Syntax(call, param=param, **more))


JSON_VALUES = {
    "lines": odd("---call {name}\n{params}---end", "{key}: {value:json}\n"),
    "pairs": odd("<call>{name}{params}</call>", "|{key}={value:json}"),
    "tags": odd("<call {name}>\n{params}</call>", "<p {key}>{value:json}</p>\n"),
    "attributes": odd('<call name="{name}"{params}/>', " {key}={value:json}"),
    "flags": odd("$ {name} {params};", "--{key} {value:json} ", known_names=True),
}
SPACED = {
    "tags": odd("<call {name}>\n{params}</call>", "<p {key}> {value} </p>\n"),
    "points": odd("«{name}»\n{params}«/»", "· {key} ({type}) {value} ·\n"),
    "lines": odd("<call {name}>\n{params}</call>", "<p {key}>{value}\n  ;;\n"),
    "attributes": odd("<call {name}>{params}</call>", ' {key}="{value}"'),
    "a blank behind the name": odd('<call name="{name}" {params}/>', '{key}="{value}" '),
}


def read(dialect: DeclaredDialect, arguments: dict[str, Any]) -> list[tuple[str, Any]]:
    text = dialect.format_tool_call(ToolCallPart("call_1", "f", arguments))
    return [(call.name, call.arguments) for call in pg.parse(text, dialect=dialect).tool_calls]


@pytest.mark.parametrize("dialect", JSON_VALUES.values(), ids=JSON_VALUES)
def test_a_value_in_json_ends_by_itself_whatever_it_holds(dialect: DeclaredDialect) -> None:
    assert read(dialect, HURTING) == [("f", HURTING)]
    text = dialect.format_tool_call(ToolCallPart("call_1", "f", HURTING))
    for size in range(1, len(text)):
        found = pg.parse([text[:size].encode(), text[size:].encode()], dialect=dialect)
        assert [call.arguments for call in found.tool_calls] == [HURTING]
    assert [c.broken for c in check_dialect(dialect, 15, (1, 2, 3, 6, 10)) if c.broken] == []


def test_a_value_that_should_be_json_and_is_not_is_read_as_text_and_told() -> None:
    found = pg.parse("<call f>\n<p a>x y</p>\n</call>", dialect=JSON_VALUES["tags"])
    assert [call.arguments for call in found.tool_calls] == [{"a": "x y"}]
    assert [each.code for each in found.findings] == ["relaxed-json"]
    cut = pg.parse('<call f>\n<p a>"x y', dialect=JSON_VALUES["tags"])
    assert (cut.tool_calls, len(cut.aborted)) == ([], 1)


@pytest.mark.parametrize("dialect", JSON_VALUES.values(), ids=JSON_VALUES)
def test_a_grammar_of_json_values_is_read_back(dialect: DeclaredDialect) -> None:
    tried = Tried.of(dialect)
    engine = Engine(tried.grammar.lark)
    assert tried.taken(engine) == ("4/4", "9/9")
    texts = [text for text in tried.walks(engine, range(12)) if text is not None]
    assert texts
    assert tried.faults(texts) == []


@pytest.mark.parametrize("dialect", SPACED.values(), ids=SPACED)
def test_blanks_that_are_declared_are_no_part_of_a_value(dialect: DeclaredDialect) -> None:
    arguments = {"a": "Q", "b": "R  S", "c": ""}
    assert read(dialect, arguments) == [("f", arguments)]


def test_arguments_may_lie_in_an_object_that_holds_no_name() -> None:
    shape = JsonShape(name=("meta", "tool"), arguments=("input", "params"))
    dialect = DeclaredDialect(
        name="deep", rules="Write:", syntax=Syntax("<do>{call:json}</do>", shape=shape)
    )
    for arguments in ({}, {"a": 1}, {"params": {"b": 2}}):
        assert read(dialect, arguments) == [("f", arguments)]
