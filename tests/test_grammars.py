"""Grammars: what the engine takes is what our renderer writes and our parser reads, no other."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from grammar_walk import (
    Engine,
    baits_of,
    fault,
    grammar_for,
    right_calls,
    tools_for,
    wrong_calls,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import GENERAL, NEAR, WITH_GRAMMAR

from playground.dialects import DeclaredDialect
from playground.nouns.messages import TextPart
from playground.nouns.tools import ToolMetadata
from playground.parsing.values import PLAIN_JSON

EVERY = pytest.mark.parametrize("dialect", WITH_GRAMMAR, ids=lambda d: d.name)
CALLING = [d for d in WITH_GRAMMAR if not d.is_native_toolcalling()]
WALKS = int(os.environ.get("GRAMMAR_WALKS", "2"))


@cache
def engine(dialect: DeclaredDialect, choice: str = "required") -> Engine:
    return Engine(grammar_for(dialect, choice).lark)


@cache
def baits(dialect: DeclaredDialect) -> list[bytes]:
    tools = tools_for(dialect)
    return baits_of(dialect, [dialect.format_tool_call(c, tools) for c in right_calls(dialect)])


@EVERY
def test_no_character_that_begins_like_others_is_left_out_of_a_set(
    dialect: DeclaredDialect,
) -> None:
    """llama.cpp refuses the first bytes of a character that may be one which a set leaves out."""
    sets = re.findall(r"(?<!\\)\[\^((?:[^\]\\]|\\.)*)\]", grammar_for(dialect, "auto").gbnf)
    assert sets
    left_out = [chars.replace("\\\\", "") for chars in sets]
    assert not [chars for chars in left_out if re.search(r"[^\x00-\x7f]|\\u(?!00[0-7])", chars)]


INDENTED = [dialect for dialect in WITH_GRAMMAR if dialect.syntax.json.indent]


@pytest.mark.parametrize("dialect", INDENTED, ids=lambda d: d.name)
def test_json_that_is_written_on_many_lines_may_stand_on_one(dialect: DeclaredDialect) -> None:
    on_one_line = replace(dialect, syntax=replace(dialect.syntax, json=PLAIN_JSON))
    for call in right_calls(dialect):
        texts = {d.format_tool_call(call, tools_for(d)) for d in (dialect, on_one_line)}
        assert len(texts) == 2
        assert all(map(engine(dialect).accepts, texts))


ORDERED = [d for d in WITH_GRAMMAR if d.syntax.shape and not d.syntax.shape.name_is_key]


@pytest.mark.parametrize("dialect", ORDERED, ids=lambda d: d.name)
def test_the_engine_takes_an_object_in_the_order_that_a_dialect_declares(
    dialect: DeclaredDialect,
) -> None:
    assert dialect.syntax.shape is not None
    shape = dialect.syntax.shape
    turned = replace(shape, order=(shape.arguments[0], shape.name[0]))
    test_the_engine_takes_what_we_render(
        replace(dialect, syntax=replace(dialect.syntax, shape=turned))
    )


@EVERY
def test_the_engine_takes_what_we_render(dialect: DeclaredDialect) -> None:
    tools = tools_for(dialect)
    for call in right_calls(dialect):
        text = dialect.format_tool_call(call, tools)
        assert engine(dialect).accepts(text), text


@EVERY
def test_the_engine_refuses_what_does_not_fit_and_what_is_cut(dialect: DeclaredDialect) -> None:
    tools = tools_for(dialect)
    for call in wrong_calls(dialect):
        text = dialect.format_tool_call(call, tools)
        assert not engine(dialect).accepts(text), text
    text = dialect.format_tool_call(right_calls(dialect)[-1], tools)
    open_ended = not dialect.syntax.call_template.after
    last = text.rindex("False") if "False" in text else len(text.rstrip()) - 1
    for cut in range(1, last):
        if engine(dialect).accepts(text[:cut]):
            assert open_ended, f"{text[:cut]!r} is taken for whole"
            assert not fault(dialect, text[:cut], tools, required=True)


@pytest.mark.parametrize("dialect", CALLING, ids=lambda d: d.name)
def test_text_may_stand_before_a_call_and_alone(dialect: DeclaredDialect) -> None:
    tools = tools_for(dialect)
    for call in right_calls(dialect)[:2]:
        reply = dialect.format_reply((TextPart("Let me look at it."), call), tools)
        assert engine(dialect, "auto").accepts(reply), reply
        assert engine(dialect, "auto").accepts(dialect.format_tool_call(call, tools))
    assert engine(dialect, "auto").accepts(dialect.format_reply((TextPart("No need."),), tools))
    assert not engine(dialect).accepts(dialect.format_reply((TextPart("No need."),), tools))


@EVERY
@pytest.mark.parametrize("choice", ["required", "auto"])
@settings(max_examples=WALKS, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_what_the_engine_takes_is_read_whole(
    dialect: DeclaredDialect, choice: str, seed: int
) -> None:
    text = engine(dialect, choice).walk(seed, baits(dialect))
    if text is not None:
        wrong = fault(dialect, text, tools_for(dialect), choice == "required")
        assert not wrong, (wrong, text)


@pytest.mark.long
@EVERY
@pytest.mark.parametrize("choice", ["required", "auto"])
def test_what_the_engine_takes_is_read_whole_in_many_walks(
    dialect: DeclaredDialect, choice: str
) -> None:
    for seed in range(300):
        text = engine(dialect, choice).walk(seed, baits(dialect))
        if text is not None:
            wrong = fault(dialect, text, tools_for(dialect), choice == "required")
            assert not wrong, (wrong, text)


BY_LINE_BREAK = NEAR[0]


def test_a_value_that_only_a_line_break_ends_holds_none() -> None:
    """The grammar took no call at all: a value could go on behind the next key, up to the end."""
    tools = tools_for(BY_LINE_BREAK)
    short, two_lines = right_calls(BY_LINE_BREAK)[:2]
    assert engine(BY_LINE_BREAK).accepts(BY_LINE_BREAK.format_tool_call(short, tools))
    assert not engine(BY_LINE_BREAK).accepts(BY_LINE_BREAK.format_tool_call(two_lines, tools))
    said = [found.message for found in grammar_for(BY_LINE_BREAK).findings]
    assert r"values with '\n' or 'USE_TOOL:' or 'END_TOOL' are left out" in said


@pytest.mark.parametrize("dialect", NEAR, ids=lambda dialect: dialect.syntax.param)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_what_the_engine_takes_of_other_forms_is_read_whole(
    dialect: DeclaredDialect, seed: int
) -> None:
    text = engine(dialect).walk(seed, baits(dialect))
    assert text is None or not fault(dialect, text, tools_for(dialect), True), text


def test_a_value_that_an_equals_sign_ends_holds_none() -> None:
    """The grammar took it for the end of an attribute's name, and the reader for the value's."""
    (dialect,) = (each for each in NEAR if each.syntax.param == "{key}: {value}=\n")
    text = "USE_TOOL: weather\ncity: a=b: c=\ndays: 3=\nEND_TOOL"
    assert engine(dialect).accepts(text.replace("a=", "a-"))
    assert not engine(dialect).accepts(text)


def test_no_grammar_says_which_values_are_well_formed_that_a_line_break_ends() -> None:
    """Law 14 did not hold: a text went on over the next parameters, which the reader told of."""
    grammar = BY_LINE_BREAK.grammar(tools_for(BY_LINE_BREAK), accepts="well-formed")
    assert not grammar.lark
    assert [found.code for found in grammar.findings] == ["no-grammar"]
    assert "ends by white space alone" in grammar.findings[0].message


# schemas of any kind


def schemas() -> st.SearchStrategy[dict[str, Any]]:
    """Schemas of what a grammar holds, nested, in unions, with bounds."""
    return st.recursive(st.one_of(*_leaves()), _nested, max_leaves=6)


def _leaves() -> list[st.SearchStrategy[Any]]:
    words = st.text("ab<>{}\"'`\\ é1", max_size=5)
    values = words | st.integers(-3, 3) | st.none() | st.booleans()
    patterns = [r"^[a-z]{2,4}$", r"^\d+(\.\d)?$", "^(a|bc)*$", "x", r'^[^"]*"$']
    kinds = ["string", "integer", "number", "boolean", "null", "object", "array"]
    return [
        st.sampled_from([{"type": kind} for kind in kinds]),
        st.sampled_from([{"type": "string", "pattern": pattern} for pattern in patterns]),
        st.sampled_from([{}, True, {"type": ["string", "null"]}, {"type": ["integer", "string"]}]),
        _between("string", "minLength", "maxLength", st.integers(0, 3)),
        _between("integer", "minimum", "maximum", st.integers(-30, 300)),
        _between("number", "minimum", "maximum", st.integers(-30, 30)),
        st.fixed_dictionaries({"enum": st.lists(values, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"const": words}),
    ]


def _between(
    kind: str, low: str, high: str, bounds: st.SearchStrategy[int]
) -> st.SearchStrategy[dict[str, Any]]:
    pairs = st.tuples(bounds, bounds).map(sorted)
    return pairs.map(lambda pair: {"type": kind, low: pair[0], high: pair[1]})


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(["a", "ab", "b", "key one"])
    more = st.sampled_from([None, False, True])
    lists = _between("array", "minItems", "maxItems", st.integers(0, 3))
    return st.one_of(
        st.builds(lambda items, found: {**found, "items": items}, inner, lists),
        st.builds(_object, st.dictionaries(keys, inner, max_size=3), st.sets(keys), more),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)}),
    )


def _object(properties: dict[str, Any], required: set[str], more: bool | None) -> dict[str, Any]:
    found = {"type": "object", "properties": properties}
    found["required"] = sorted(required & set(properties))
    return found if more is None else {**found, "additionalProperties": more}


@settings(max_examples=40, deadline=None)
@given(
    dialect=st.sampled_from(GENERAL),
    properties=st.dictionaries(st.sampled_from(["a", "ab", "b", "path"]), schemas(), max_size=3),
    required=st.sets(st.sampled_from(["a", "b"])),
    seed=st.integers(0, 2**32),
)
def test_what_is_taken_fits_any_schema(
    dialect: DeclaredDialect, properties: dict[str, Any], required: set[str], seed: int
) -> None:
    fits_any_schema(dialect, _object(properties, required, None), seed)


@pytest.mark.long
@settings(max_examples=3000, deadline=None)
@given(
    dialect=st.sampled_from(GENERAL),
    properties=st.dictionaries(st.sampled_from(["a", "ab", "b", "path"]), schemas(), max_size=3),
    required=st.sets(st.sampled_from(["a", "b"])),
    more=st.sampled_from([None, False, True]),
    seed=st.integers(0, 2**32),
)
def test_what_is_taken_fits_any_schema_in_many_walks(
    dialect: DeclaredDialect,
    properties: dict[str, Any],
    required: set[str],
    more: bool | None,
    seed: int,
) -> None:
    fits_any_schema(dialect, _object(properties, required, more), seed)


def fits_any_schema(dialect: DeclaredDialect, schema: dict[str, Any], seed: int) -> None:
    tool = ToolMetadata(name="probe", input_schema=schema)
    grammar = dialect.grammar([tool], choice="probe")
    if not grammar.rules:
        assert "no-grammar" in {found.code for found in grammar.findings}
        return
    made = Engine(grammar.lark)
    told = [found for found in grammar.findings if found.code == "grammar-wider"]
    for each in range(seed, seed + 3):
        text = made.walk(each, baits(dialect))
        wrong = fault(dialect, text, [tool], required=True) if text is not None else ""
        assert not wrong or (told and wrong.startswith("arguments")), (wrong, text)
