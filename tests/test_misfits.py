"""Arguments that fit a tool's schema at a glance: its validator has nothing against them either."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import DIALECTS, GENERAL

from playground.base.json_numbers import NotANumber
from playground.dialects.declared import DeclaredDialect
from playground.dialects.reading import parse
from playground.nouns.messages import ToolCallPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tool_formats.misfits import check_of, misfit
from playground.nouns.tools import ToolMetadata
from playground.parsing.result import ParseResult, read_to_end

PROPERTIES = st.sampled_from(
    [
        *({"type": kind} for kind in ("string", "integer", "number", "boolean", "array")),
        *({"type": kind, "description": "of it"} for kind in ("object", "null", "string")),
        *({"type": "string", "enum": ["tide"]}, {"type": ["string", "null"]}, {}, {"minimum": 1}),
        *({"type": "integer", "default": "none"}, {"type": "array", "items": {"type": "string"}}),
        *(
            {"type": "number", "$schema": "http://json-schema.org/draft-03/schema#"},
            {"const": True},
        ),
    ]
)
SCHEMAS = st.fixed_dictionaries(
    {"properties": st.dictionaries(st.sampled_from("abc"), PROPERTIES)},
    optional={
        "type": st.sampled_from(["object", "array"]),
        "required": st.lists(st.sampled_from("abcd"), unique=True),
        "additionalProperties": st.sampled_from([False, True, {"type": "string"}]),
        "$schema": st.just("http://json-schema.org/draft-04/schema#"),
        "minProperties": st.just(2),
        "dependentRequired": st.just({"a": ["d"]}),
    },
)
ARGUMENTS = st.dictionaries(
    st.sampled_from("abcd"),
    st.sampled_from(["tide", "", 1, 0, 1.0, 1.5, float("nan"), True, None, [], [1], {}, {"a": 1}])
    | st.just(NotANumber("1e400")),
)


@given(SCHEMAS, ARGUMENTS)
def test_what_fits_at_a_glance_fits_by_the_validator(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    check = check_of(ToolMetadata(name="f", args_schema=schema))
    assert check is not None
    found = next(check.validator.iter_errors(arguments), None)
    assert misfit(check, arguments) == ("" if found is None else found.message[:200])


def test_plain_arguments_fit_at_a_glance() -> None:
    properties = {"path": {"type": "string"}, "count": {"type": "integer", "description": "of it"}}
    schema = {"type": "object", "properties": properties, "required": ["path"]}
    check = check_of(ToolMetadata(name="f", args_schema=schema))
    assert check is not None
    assert check.surely_takes({"path": "a", "count": 2})
    assert not check.surely_takes({"count": 2})
    assert not check.surely_takes({"path": "a", "count": True})
    assert not check.surely_takes({"path": "a", "more": 2})


# what every dialect says of a call's arguments: the same as the tool's schema

CODES = {"type": "type-mismatch", "required": "missing-argument"}
TYPES = st.sampled_from(
    ["string", "integer", "number", "boolean", "array", "object", ["integer", "null"]]
)
VALUES = st.sampled_from(["three", "3", "", 3, -7, 3.0, 2.5, True, None, ["a"], [3], {"a": "b"}])
GIVEN = st.fixed_dictionaries({}, optional={"city": VALUES, "days": VALUES, "more": VALUES})


def tool_with(name: str, **types: Any) -> ToolMetadata:
    properties = {key: {"type": kind} for key, kind in types.items()}
    schema = {"type": "object", "properties": properties, "required": ["city"]}
    return ToolMetadata(name=name, args_schema=schema | {"additionalProperties": False})


def assert_told(result: ParseResult, tool: ToolMetadata) -> dict[str, Any]:
    """The reply is one call; its findings about arguments are the objections of jsonschema."""
    (call,) = result.tool_calls
    check = check_of(tool)
    assert check is not None
    objections = [str(error.validator) for error in check.validator.iter_errors(call.arguments)]
    expected = [CODES[each] for each in objections if each in CODES]
    # jsonschema has one objection to all unknown names
    expected += ["unknown-argument"] * len(call.arguments.keys() - tool.parameter_names)
    codes = {*CODES.values(), "unknown-argument"}
    told = [each.code for each in result.findings if each.code in codes]
    assert Counter(told) == Counter(expected), (call.arguments, result.findings)
    return call.arguments


def read(tool: ToolMetadata, dialect: DeclaredDialect, arguments: dict[str, Any]) -> ParseResult:
    text = dialect.format_tool_call(ToolCallPart("call_1", tool.name, arguments), [tool])
    return parse(text, dialect, [tool], switches=replace(dialect.switches, misfits="call"))


@pytest.mark.parametrize("dialect", GENERAL, ids=lambda dialect: dialect.name)
def test_arguments_that_the_schema_refuses_are_told(dialect: DeclaredDialect) -> None:
    @settings(max_examples=25)
    @given(TYPES, TYPES, GIVEN)
    def law(city: Any, days: Any, arguments: dict[str, Any]) -> None:
        tool = tool_with("get_weather", city=city, days=days)
        assert_told(read(tool, dialect, arguments), tool)

    law()


@pytest.mark.parametrize(
    "dialect", [d for d in DIALECTS if d.syntax.text_keys], ids=lambda dialect: dialect.name
)
def test_texts_that_the_schema_refuses_are_told(dialect: DeclaredDialect) -> None:
    texts = dialect.syntax.sample_texts
    *more, last = texts
    tool = tool_with(dialect.syntax.name or "write_file", city="string", **{last: "integer"})
    told = assert_told(read(tool, dialect, texts), tool)
    assert told == texts and len(more) < len(told)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@given(TYPES, TYPES, GIVEN)
def test_arguments_of_native_calls_that_the_schema_refuses_are_told(
    dialect: DeclaredDialect, city: Any, days: Any, arguments: dict[str, Any]
) -> None:
    tool = tool_with("get_weather", city=city, days=days)
    parser = dialect.create_parser(PromptData(tool_metadata=[tool]))
    function = {"name": tool.name, "arguments": json.dumps(arguments)}
    deltas = parser.feed_tool_call_delta({"index": 0, "id": "call_1", "function": function})
    assert assert_told(read_to_end(parser, [deltas]), tool) == arguments
