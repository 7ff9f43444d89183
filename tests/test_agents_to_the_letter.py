"""Flink-Agents' design document, to the letter: its own chat model, tools and prompts run here."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
import enum
import functools
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final

import pytest
from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)

from playground.agents import (
    BaseChatModel,
    BaseTool,
    ChatMessage,
    ChatModel,
    ChatModelSetup,
    FunctionTool,
    MessageRole,
    Prompt,
    ResourceType,
    ScriptedModel,
    ToolMetadata,
    ToolType,
    chat_events,
    chat_model,
    create_schema_from_function,
    prompt,
    scan,
    tool,
)
from playground.base.errors import InputFault
from playground.nouns import tools
from playground.nouns.tool_formats import read_tools
from playground.parsing.values import same
from playground.plugins.systems.flink_agents.arguments import MOST_DEPTH, checked_arguments
from playground.plugins.systems.flink_agents.chat_message import to_openai_message
from playground.plugins.systems.flink_agents.tools import RecordedTool
from playground.signatures import ChatAdapter, Image, Signature


def add(a: int, b: int = 0) -> Any:
    """Add.

    Parameters
    ----------
    a : int
        one
    b : int
        other
    """
    return a + b


def called(arguments: Any, function: Any = add, **ids: str) -> Any:
    """The events of one call of a tool, and the messages that the model got last."""
    call = {"type": "function", "function": {"name": function.__name__, "arguments": arguments}}
    answer = ChatMessage(role=MessageRole.ASSISTANT, tool_calls=[{**(ids or {"id": "u1"}), **call}])
    model = ScriptedModel([answer, "done"])
    setup = ChatModelSetup(model, tools=(FunctionTool(function),))
    events = list(chat_events([ChatMessage(content="?")], setup))
    return events[2], model.inputs[-1]


# arguments and tools


@pytest.mark.parametrize(
    ("arguments", "coerced"),
    [
        ({"a": "1", "b": "2"}, ["a", "b"]),
        ({"a": 1, "b": "2"}, ["b"]),
        ({"a": 1.0, "b": 2}, ["a"]),
        ({"a": 1, "b": 2}, []),
    ],
)
def test_arguments_are_read_by_the_schema_and_that_is_said(
    arguments: Mapping[str, Any], coerced: list[str]
) -> None:
    event, _ = called(arguments)
    assert (event.results, event.success) == ([3], [True])
    assert {finding.code for finding in event.findings} <= {"argument-coerced"}
    assert [finding.where for finding in event.findings] == [
        f"tool add, argument {name}" for name in coerced
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"a": "one"}, "a: Input should be a valid integer"),
        ({"b": 1}, "a: missing"),
        ({"a": 1.5}, "a: Input should be a valid integer"),
        ({"a": None}, "a: Input should be a valid integer"),
    ],
)
def test_arguments_that_do_not_fit_are_an_error_and_the_tool_does_not_run(
    arguments: Mapping[str, Any], words: str
) -> None:
    event, messages = called(arguments)
    assert (event.results, event.success) == (["Tool `add` execute failed."], [False])
    assert event.errors[0].startswith(words)
    assert messages[-1].content == "Tool `add` execute failed."


def moor(
    metres: Annotated[int, Field(ge=1, lt=400)],
    name: Annotated[str, Field(min_length=2, pattern="^[A-Z]")] = "Ad",
    day: datetime.date = datetime.date(2026, 2, 3),
    lines: Annotated[list[int], Field(max_length=2)] = [],  # noqa: B006
    depths: dict[str, float] = {},  # noqa: B006
) -> Any:
    """Moor a ship."""
    return [metres, name, day, lines, depths]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"metres": 0}, "metres: Input should be greater than or equal to 1"),
        ({"metres": "400"}, "metres: Input should be less than 400"),
        ({"metres": 1, "name": "A"}, "name: String should have at least 2 characters"),
        ({"metres": 1, "name": "ada"}, "name: String should match pattern"),
        ({"metres": 1, "day": "tomorrow"}, "day: Input should be a valid date"),
        ({"metres": 1, "lines": [1, 2, 3]}, "lines: List should have at most 2 items"),
        ({"metres": 1, "depths": {"quay": "deep"}}, "depths: Input should be a valid number"),
    ],
)
def test_arguments_out_of_their_bounds_are_an_error(
    arguments: Mapping[str, Any], words: str
) -> None:
    event, _ = called(arguments, moor)
    assert event.success == [False]
    assert event.errors[0].startswith(words)


def test_arguments_within_their_bounds_are_given_to_the_tool() -> None:
    given = {"metres": "1", "name": "Ada", "day": "2026-02-04", "lines": ["1"], "depths": {"a": 1}}
    event, _ = called(given, moor)
    assert event.results == [[1, "Ada", datetime.date(2026, 2, 4), [1], {"a": 1.0}]]


class Berth(BaseModel):
    quay: str
    metres: int = 1


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Ship:
    name: str
    built: datetime.date | None = None


@pytest.mark.parametrize(
    ("annotation", "given", "value", "is_told"),
    [
        (Berth, {"quay": "west"}, Berth(quay="west"), False),
        (Berth, {"quay": "west", "metres": "3"}, Berth(quay="west", metres=3), True),
        (Berth, {"quay": "west", "draught": 3}, Berth(quay="west"), True),
        (list[Berth], [{"quay": "a"}], [Berth(quay="a")], False),
        (dict[str, Berth], {"x": {"quay": "a"}}, {"x": Berth(quay="a")}, False),
        (Berth | None, None, None, False),
        (Colour, "red", Colour.RED, False),
        (set[int], [1, 2], {1, 2}, False),
        (set[int], [1, 1], {1}, True),
        (tuple[int, str], [1, "a"], (1, "a"), False),
        (tuple[int, str], ["1", "a"], (1, "a"), True),
        (Ship, {"name": "Ada"}, Ship("Ada"), False),
        (
            Ship,
            {"name": "Ada", "built": "2026-02-03"},
            Ship("Ada", datetime.date(2026, 2, 3)),
            False,
        ),
        (datetime.datetime, "2026-02-03T04:05:06", datetime.datetime(2026, 2, 3, 4, 5, 6), False),
        (datetime.timedelta, 60, datetime.timedelta(minutes=1), True),
        (decimal.Decimal, "1.50", decimal.Decimal("1.50"), False),
    ],
)
def test_a_function_gets_what_it_declares_and_is_told_what_was_read_so(
    annotation: Any, given: Any, value: Any, is_told: bool
) -> None:
    """A model, an enum, a set, a dataclass and a date came as plain JSON."""

    def keep(it: Any) -> Any:
        return it

    keep.__annotations__["it"] = annotation
    event, _ = called({"it": given}, keep)
    assert event.success == [True], event.errors
    (got,) = event.results
    assert (got, type(got)) == (value, type(value))
    assert [finding.where for finding in event.findings] == ["tool keep, argument it"] * is_told


def test_a_default_that_is_a_field_is_what_stands_in_it() -> None:
    def moor(
        metres: int = Field(3, ge=1),
        lines: list[str] = Field(default_factory=list),  # noqa: B008  # as pydantic's users write
    ) -> Any:
        return [metres, lines]

    assert called({}, moor)[0].results == [[3, []]]
    assert called({"metres": "4"}, moor)[0].results == [[4, []]]
    assert FunctionTool(moor).call(5, lines=["a"]) == [5, ["a"]]


# by the schema alone

NODE: Final = {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}
NUMBER: Final = {"type": "integer"}
# a schema of an argument, a value that fits, what that is read as, and one that does not fit
KEYWORDS: Final = {
    "type": (NUMBER, "1", 1, "one"),
    "type, several": ({"type": ["integer", "null"]}, "1", 1, "one"),
    "bool as integer": (NUMBER, True, 1, 1.5),
    "number": ({"type": "number"}, "1.5", 1.5, "x"),
    "number, a large one": ({"type": "number"}, 2**60 + 1, 2**60 + 1, None),
    "const": ({"const": 3}, 3, 3, 4),
    "enum": ({"enum": ["a", 1]}, 1, 1, "b"),
    "minimum": ({**NUMBER, "minimum": 1}, "1", 1, 0),
    "exclusiveMinimum": ({**NUMBER, "exclusiveMinimum": 1}, 2, 2, 1),
    "exclusiveMaximum": ({**NUMBER, "exclusiveMaximum": 1}, 0, 0, 1),
    "multipleOf": ({**NUMBER, "multipleOf": 3}, 6, 6, 7),
    "multipleOf, as written": ({"type": "number", "multipleOf": 0.01}, 0.07, 0.07, 0.075),
    "minLength": ({"type": "string", "minLength": 2}, "ab", "ab", "a"),
    "pattern": ({"type": "string", "pattern": "^a"}, "ab", "ab", "b"),
    "format date": ({"type": "string", "format": "date"}, "2026-02-03", "2026-02-03", "soon"),
    "format uuid": ({"type": "string", "format": "uuid"}, "0" * 32, "0" * 32, "0"),
    "items": ({"type": "array", "items": NUMBER}, ["1"], [1], ["x"]),
    "prefixItems": ({"prefixItems": [NUMBER, {"type": "string"}]}, ["1", "a"], [1, "a"], [1, 2]),
    "prefixItems alone": ({"prefixItems": [NUMBER], "items": False}, [1], [1], [1, 2]),
    "maxItems": ({"type": "array", "maxItems": 1}, [1], [1], [1, 2]),
    "uniqueItems": ({"type": "array", "uniqueItems": True}, [1, 2], [1, 2], [1, 1]),
    "contains": ({"type": "array", "contains": {"const": 1}}, [0, 1], [0, 1], [0]),
    "properties": (
        {"type": "object", "properties": {"b": NUMBER}},
        {"b": "1"},
        {"b": 1},
        {"b": ""},
    ),
    "required": ({"type": "object", "required": ["b"]}, {"b": 1}, {"b": 1}, {}),
    "additionalProperties": (
        {"type": "object", "additionalProperties": NUMBER},
        {"b": "1"},
        {"b": 1},
        {"b": "x"},
    ),
    "no additionalProperties": (
        {"properties": {"b": {}}, "patternProperties": {"^x": {}}, "additionalProperties": False},
        {"b": 1, "xy": 2},
        {"b": 1, "xy": 2},
        {"c": 1},
    ),
    "patternProperties": ({"patternProperties": {"^x": NUMBER}}, {"y": ""}, {"y": ""}, {"x": ""}),
    "propertyNames": ({"propertyNames": {"maxLength": 1}}, {"a": 1}, {"a": 1}, {"ab": 1}),
    "minProperties": ({"type": "object", "minProperties": 1}, {"a": 1}, {"a": 1}, {}),
    "dependentRequired": ({"dependentRequired": {"a": ["b"]}}, {"b": 1}, {"b": 1}, {"a": 1}),
    "allOf": ({"allOf": [NUMBER, {"minimum": 2}]}, "2", 2, 1),
    "anyOf": ({"anyOf": [NUMBER, {"type": "null"}]}, "2", 2, "x"),
    "oneOf": ({"oneOf": [{"minimum": 2}, {"maximum": 5}]}, 9, 9, 3),
    "not": ({"not": {"const": 1}}, 2, 2, 1),
    "if": ({"if": {"const": 1}, "then": False}, 2, 2, 1),
    "$ref": ({"$ref": "#/$defs/node"}, {"next": {"at": "1"}}, {"next": {"at": 1}}, {"next": 1}),
}


def tool_of(schema: Any) -> ToolMetadata:
    node = {"type": "object", "properties": {"next": NODE, "at": NUMBER}}
    properties = {"type": "object", "properties": {"a": schema}, "$defs": {"node": node}}
    return ToolMetadata(name="t", input_schema=properties)


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_every_keyword_of_a_schema_is_checked(keyword: str) -> None:
    schema, fits, read, wrong = KEYWORDS[keyword]
    values, found = checked_arguments(tool_of(schema), {"a": fits})
    assert same(values, {"a": read})
    assert [finding.code for finding in found] == ["argument-coerced"] * (not same(fits, read))
    with pytest.raises(ValueError, match=r"^a(\.\w+)*: "):
        checked_arguments(tool_of(schema), {"a": wrong})


@pytest.mark.parametrize(
    ("schema", "given", "told"),
    [
        ({"required": ["a"]}, {}, "'a' is a required property"),
        ({"minProperties": 2}, {"a": 1}, "does not have enough properties"),
        ({"additionalProperties": False}, {"a": 1}, "'a' is not one of its properties"),
        ({"allOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1}, "'b' is a required"),
    ],
)
def test_what_a_schema_says_of_all_arguments_is_checked(
    schema: dict[str, Any], given: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        checked_arguments(ToolMetadata(name="t", input_schema=schema), given)


@pytest.mark.parametrize(
    "schema",
    [
        {"minimum": "zero"},
        {"type": "str"},
        {"pattern": "(?=x)"},  # of another language than pydantic's engine reads
        {"patternProperties": {"(?=x)": False}, "additionalProperties": True},
        {"anyOf": {"type": "string"}, "properties": ["b"], "required": 1, "items": 5},
        {"$ref": "https://example.org/schema.json"},
        {"$ref": "#/$defs/gone"},
        "any",
        True,
    ],
)
@pytest.mark.parametrize("value", [1, "y", {"b": [1]}])
def test_a_keyword_that_says_nothing_sensible_asks_for_nothing(schema: Any, value: Any) -> None:
    values, found = checked_arguments(tool_of(schema), {"a": value})
    assert values == {"a": value}
    assert {finding.code for finding in found} <= {"keyword-unchecked"}


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        ({"pattern": "(?=x)"}, "y", "pattern '(?=x)'"),
        ({"patternProperties": {"(?=x)": {}}}, {"y": 1}, "patternProperties '(?=x)'"),
        ({"format": "email"}, "no address", "format 'email'"),
        ({"items": {"format": "uri"}}, ["a", "b"], "format 'uri'"),
        ({"$ref": "https://example.org/s"}, 1, "$ref 'https://example.org/s'"),
        ({"$ref": "#/$defs/gone"}, 1, "$ref '#/$defs/gone'"),
        ({"minimum": "zero"}, 1, "minimum 'zero'"),
        ({"type": "str"}, "y", "type 'str'"),
        ({"pattern": "(?=x)", "format": "email"}, "y", "pattern '(?=x)', format 'email'"),
    ],
)
def test_a_keyword_that_is_not_checked_is_named(schema: Any, value: Any, told: str) -> None:
    """All of these said nothing while the documents promised that every keyword is checked."""
    for given in (value, value):  # each check tells it anew
        (found,) = checked_arguments(tool_of(schema), {"a": given})[1]
        assert (found.code, found.where, found.message) == ("keyword-unchecked", "tool t", told)


def test_a_keyword_that_is_not_checked_is_told_once_in_a_chat() -> None:
    tool = RecordedTool(tool_of({"format": "email"}), lambda a: a)
    call = {"id": "u1", "function": {"name": "t", "arguments": {"a": "x"}}}
    asking = ChatMessage(role=MessageRole.ASSISTANT, tool_calls=[call, call])
    setup = ChatModelSetup(ScriptedModel([asking, asking, "done"]), tools=(tool,))
    events: list[Any] = list(chat_events([ChatMessage(content="?")], setup))
    assert [[found.code for found in events[at].findings] for at in (2, 4)] == [
        ["keyword-unchecked"],
        [],
    ]


def around(times: int, wrapped: Callable[[Any], Any], value: Any = None) -> Any:
    for _ in range(times):
        value = wrapped(value)
    return value


def deeper_in_the_stack(frames: int, work: Callable[[], Any]) -> Any:
    return work() if frames == 0 else deeper_in_the_stack(frames - 1, work)


CHAIN: Final = {
    "type": "object",
    "required": ["v"],
    "properties": {"v": NUMBER, "next": {"anyOf": [{"$ref": "#/$defs/N"}, {"type": "null"}]}},
}


@pytest.mark.parametrize("frames", [0, 200, 450, 600])
def test_nested_arguments_fit_or_are_refused_in_words(frames: int) -> None:
    """From 90 levels on a panic of `rpds`, which is no Exception, ended the process."""
    schema = {"properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": CHAIN}}
    tool = ToolMetadata(name="s", args_schema=schema)
    for levels in (1, 48, 49, 50, *range(40, 301, 7)):
        given = {"n": around(levels, lambda inner: {"v": 1, "next": inner})}

        def check(given: Any = given) -> Any:
            return checked_arguments(tool, given)

        if levels <= MOST_DEPTH - 1:  # the arguments themselves are a level
            assert deeper_in_the_stack(frames, check) == (given, [])
        else:
            with pytest.raises(ValueError, match="nested too deeply: at most 50 levels"):
                deeper_in_the_stack(frames, check)


@pytest.mark.parametrize("frames", [0, 450])
@pytest.mark.parametrize(
    "schema",
    [
        around(300, lambda inner: {"not": inner}),
        around(300, lambda inner: {"allOf": [inner]}),
        {"not": {"$ref": "#/properties/a"}},
        {"allOf": [{"$ref": "#/properties/a"}]},
        {"$dynamicRef": "#/properties/a"},
    ],
)
def test_a_schema_without_end_is_an_error(schema: Any, frames: int) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        deeper_in_the_stack(frames, lambda: checked_arguments(tool_of(schema), {"a": 1}))


def test_arguments_that_can_be_read_in_too_many_ways_are_an_error() -> None:
    """Two variants that lead on to the same two: at each level as much again as at the last."""
    following = {"anyOf": [{"$ref": "#/$defs/N"}, {"$ref": "#/$defs/M"}, {"type": "null"}]}
    node = {**CHAIN, "properties": {"v": NUMBER, "next": following}}
    schema = {"properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": node, "M": node}}
    given = around(40, lambda inner: {"v": 1, "next": inner}, {"v": "x"})
    with pytest.raises(ValueError, match="too many variants of the schema to try"):
        checked_arguments(ToolMetadata(name="s", args_schema=schema), {"n": given})


def test_unique_items_are_compared_in_linear_time() -> None:
    """Compared one by one, 3,000 objects took 16 seconds."""

    def calls(items: int) -> int:
        seen = 0

        def count(*_: Any) -> None:
            nonlocal seen
            seen += 1

        tool = tool_of({"uniqueItems": True})
        tool.args_schema.model_validate({})
        threading.setprofile(count)
        try:
            assert checked_arguments(tool, {"a": [{"at": at} for at in range(items)]})[1] == []
        finally:
            threading.setprofile(None)
        return seen

    assert calls(400) < 2.2 * calls(200)


@pytest.mark.parametrize(
    ("items", "fits"),
    [
        ([1, True, "1"], True),
        ([1, 1.0], False),
        ([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}], False),
        ([[1, 2], [2, 1]], True),
        ([0, False, None, "", [], {}], True),
    ],
)
def test_items_are_equal_as_json_has_it(items: list[Any], fits: bool) -> None:
    tool = tool_of({"uniqueItems": True})
    if fits:
        assert checked_arguments(tool, {"a": items}) == ({"a": items}, [])
        return
    with pytest.raises(ValueError, match="items that are equal"):
        checked_arguments(tool, {"a": items})


def test_arguments_nested_beyond_all_measure_are_an_error() -> None:
    value: Any = {}
    for _ in range(5000):
        value = {"next": value}
    with pytest.raises(ValueError, match="nested too deeply"):
        checked_arguments(tool_of({"$ref": "#/$defs/node"}), {"a": value})


def test_a_hostile_pattern_takes_linear_time() -> None:
    schema = {"type": "string", "pattern": "^(a+)+$"}
    started = time.perf_counter()
    with pytest.raises(ValueError, match="does not match"):
        checked_arguments(tool_of(schema), {"a": "a" * 5000 + "!"})
    assert time.perf_counter() - started < 5


# what a tool says of itself


def foo(bar: int, baz: str) -> str:
    """Function for testing ToolMetadata.

    Parameters
    ----------
    bar : int
        The bar value.
    baz : str
        The baz value.

    Returns:
    -------
    str
        Response string value.
    """
    raise NotImplementedError


FOO: Final = {
    "properties": {
        "bar": {"description": "The bar value.", "title": "Bar", "type": "integer"},
        "baz": {"description": "The baz value.", "title": "Baz", "type": "string"},
    },
    "required": ["bar", "baz"],
    "title": "foo",
    "type": "object",
}


def test_the_documents_schema_of_a_function() -> None:
    assert create_schema_from_function(name="foo", func=foo).model_json_schema() == FOO


class Doubling(BaseTool):
    """As the document writes a tool: a class with fields, a type and a call."""

    factor: int = 2

    @classmethod
    def tool_type(cls) -> ToolType:
        return ToolType.FUNCTION

    def call(self, *args: Any, **kwargs: Any) -> Any:
        return kwargs["bar"] * self.factor


def test_a_tool_as_the_document_writes_one_runs() -> None:
    schema = create_schema_from_function("foo", foo)
    tool = Doubling(metadata=ToolMetadata(name="foo", description="", args_schema=schema), factor=3)
    assert tool.metadata.args_schema is schema
    assert tool.resource_type() is ResourceType.TOOL
    assert tool.call(bar=2) == 6
    assert Doubling.model_validate_json(tool.model_dump_json()) == tool
    with pytest.raises(TypeError, match="abstract"):
        BaseTool(metadata=tool.metadata)  # type: ignore[abstract]


@pytest.mark.parametrize("schema", [FOO, {"properties": {"_x": {}, "json": {}, "a b": NUMBER}}, {}])
def test_a_tools_metadata_comes_back_from_its_json(schema: dict[str, Any]) -> None:
    """As Flink-Agents writes and reads it; what it says of the arguments is a model."""
    made = ToolMetadata(name="foo", description="d", args_schema=schema)
    told = json.loads(made.model_dump_json())
    assert told == {"name": "foo", "description": "d", "args_schema": schema}
    assert made.model_dump() == told
    read = ToolMetadata.model_validate_json(made.model_dump_json())
    assert read == made == ToolMetadata.model_validate(told)
    for each in (made, read, FunctionTool(foo).metadata):
        assert issubclass(each.args_schema, BaseModel)
        assert each.args_schema.model_json_schema() == each.input_schema
    assert read != ToolMetadata(name="foo", description="e", args_schema=schema)


def test_a_function_read_back_is_the_same_tool_by_its_schema() -> None:
    made = FunctionTool(foo).metadata
    read = ToolMetadata.model_validate_json(made.model_dump_json())
    assert read == made
    assert read.args_schema.model_validate({"bar": "1", "baz": "x"}).model_dump() == {
        "bar": 1,
        "baz": "x",
    }
    with pytest.raises(ValidationError, match="'baz' is a required property"):
        read.args_schema.model_validate({"bar": 1})


def test_a_tool_that_is_brought_into_a_session_is_as_any_other() -> None:
    read = read_tools([FunctionTool(foo), FunctionTool(foo).metadata])
    assert [type(tool) for tool in read] == [tools.ToolMetadata] * 2
    assert read[0].model_dump() == {
        "name": "foo",
        "description": "Function for testing ToolMetadata.",
        "input_schema": FOO,
        "examples": (),
    }


def test_a_model_cannot_set_what_the_program_gives() -> None:
    """Where the program gave nothing, the model's own word for it reached the function."""

    def moor(name: str, tenant: str = "nobody") -> Any:
        return [name, tenant]

    call = {"function": {"name": "moor", "arguments": {"name": "Ada", "tenant": "theirs"}}}
    for injected, tenant in [({"tenant": "mine"}, "mine"), ({}, "nobody")]:
        answer = ChatMessage(role=MessageRole.ASSISTANT, tool_calls=[{"id": "u1", **call}])
        tool = FunctionTool(moor, injected_args=["tenant"])
        setup = ChatModelSetup(ScriptedModel([answer, "done"]), tools=(tool,))
        events: list[Any] = list(chat_events([ChatMessage(content="?")], setup, injected=injected))
        assert events[2].results == [["Ada", tenant]]


class Mooring(BaseModel):
    """What a tool with a model of its own is given."""

    model_config = ConfigDict(extra="forbid")

    name: str
    tenant: str = Field(alias="Tenant")
    quay: str = "west"

    @field_validator("name", "tenant")
    @classmethod
    def _short(cls, text: str) -> str:
        if len(text) > 3:
            raise ValueError("too long")
        return text


class Keeping(BaseTool):
    """Gives back what it is called with."""

    metadata: ToolMetadata = ToolMetadata(name="keep", args_schema=Mooring)

    @classmethod
    def tool_type(cls) -> ToolType:
        return ToolType.FUNCTION

    def call(self, *args: Any, **kwargs: Any) -> Any:
        return kwargs


def kept(tool: BaseTool, arguments: Any, **injected: Any) -> Any:
    """The event of one call of a tool by a model."""
    call = {"id": "u1", "function": {"name": tool.name, "arguments": arguments}}
    answer = ChatMessage(role=MessageRole.ASSISTANT, tool_calls=[call])
    setup = ChatModelSetup(ScriptedModel([answer, "done"]), tools=(tool,))
    return list(chat_events([ChatMessage(content="?")], setup, injected=injected))[2]


NAME_ALONE: Final = {
    "additionalProperties": False,
    "description": "What a tool with a model of its own is given.",
    "properties": {"name": {"title": "Name", "type": "string"}},
    "required": ["name"],
    "title": "Mooring",
    "type": "object",
}


@pytest.mark.parametrize("names", [["tenant", "quay"], ["Tenant", "quay"]])
@pytest.mark.parametrize("given", [{}, {"tenant": 5}, {"Tenant": "far too long", "quay": 3}])
def test_what_the_program_gives_is_neither_shown_nor_checked(names: Any, given: Any) -> None:
    """A model of the tool's own asked the model for it, and showed it."""
    tool = Keeping(injected_args=names)
    assert tool.metadata.input_schema == NAME_ALONE
    assert tool.metadata.args_schema.model_json_schema() == NAME_ALONE
    event = kept(tool, {"name": "Ada", **given}, **{names[0]: object, "quay": "east"})
    assert (event.errors, event.results) == (
        [],
        [{"name": "Ada", names[0]: object, "quay": "east"}],
    )
    assert kept(tool, {"name": "Ada", **given}).results == [{"name": "Ada"}]
    (told,) = kept(tool, {"name": "Adam", **given}).errors
    assert told == "name: Value error, too long, not 'Adam'"


def test_what_the_program_gives_is_in_no_schema_alone() -> None:
    schema = {"$ref": "#/$defs/R", "$defs": {"R": {"required": ["a", "b"], "properties": {}}}}
    schema["$defs"]["R"]["properties"] = {"a": NUMBER, "b": NUMBER}  # type: ignore[index]
    told = ToolMetadata(name="keep", args_schema=schema)
    tool = Keeping(metadata=told, injected_args=frozenset("b"))
    assert tool.metadata.parameters.keys() == {"a"}
    assert kept(tool, {"a": "1", "b": "x"}, b=2).results == [{"a": 1, "b": 2}]


def test_a_tool_with_defaults_needs_no_arguments() -> None:
    """The metadata was a required argument of every tool."""
    assert Keeping() == Keeping.model_validate({}) == Keeping.model_validate_json("{}")
    assert Keeping().metadata.args_schema is Mooring
    with pytest.raises(ValidationError, match="metadata"):
        Doubling()  # type: ignore[call-arg]


def by_alias(days: Annotated[int, Field(alias="Days")] = 3) -> Any:
    return days


def by_validation_alias(days: Annotated[int, Field(validation_alias="Days")] = 3) -> Any:
    return days


def by_a_choice(
    days: Annotated[int, Field(validation_alias=AliasChoices("Days", "jours"))] = 3,
) -> Any:
    return days


def by_default(days: int = Field(3, alias="Days")) -> Any:
    return days


def by_a_private_name(_x: Annotated[int, Field(alias="Days")] = 3) -> Any:
    return _x


@pytest.mark.parametrize(
    "function", [by_alias, by_validation_alias, by_a_choice, by_default, by_a_private_name]
)
def test_a_parameter_with_an_alias_is_called_by_it_and_given_by_name(function: Any) -> None:
    """The function was called with the alias, and under its own name anything passed unread."""
    field = "parameter_0" if function is by_a_private_name else "days"
    assert called({}, function)[0].results == [3]
    event, _ = called({"Days": "5"}, function)
    assert (event.errors, event.results) == ([], [5])
    assert [found.message for found in event.findings] == ["'5' is read as 5"]
    assert called({"Days": 5}, function)[0].findings == []
    assert called({"Days": "5x"}, function)[0].errors[0].startswith("Days: Input should be a valid")
    told = called({field: "5x"}, function)[0].errors
    other = " or jours" if function is by_a_choice else ""
    assert told == [f"{field}: not an argument; it is Days{other}"]


def test_a_field_may_lie_within_an_argument() -> None:
    def far(days: Annotated[int, Field(validation_alias=AliasPath("when", "days"))]) -> Any:
        return days

    event, _ = called({"when": {"days": "5"}}, far)
    assert (event.errors, event.results) == ([], [5])
    assert called({"days": "5x"}, far)[0].errors == ["days: not an argument; it is when"]


class Stay(BaseModel):
    days: int = Field(3, alias="Days")


class StayByName(Stay):
    model_config = ConfigDict(populate_by_name=True)


def test_a_model_with_an_alias_is_given_by_what_its_schema_shows() -> None:
    tool = Keeping(metadata=ToolMetadata(name="keep", args_schema=Stay))
    assert kept(tool, {"Days": "5", "more": 1}).results == [{"Days": 5, "more": 1}]
    assert kept(tool, {"days": "5x"}).errors == ["days: not an argument; it is Days"]
    either = Keeping(metadata=ToolMetadata(name="keep", args_schema=StayByName))
    assert kept(either, {"days": "5"}).results == [{"Days": 5}]
    assert kept(either, {"days": "5x"}).errors[0].startswith("days: Input should be a valid")


def test_a_field_without_a_default_is_missing() -> None:
    """The function got pydantic's PydanticUndefined."""

    def moor(days: int = Field(ge=0)) -> Any:
        return days

    assert called({}, moor)[0].errors == ["days: missing"]
    assert FunctionTool(moor).call(2) == 2
    with pytest.raises(InputFault, match="^moor: days: missing"):
        FunctionTool(moor).call()


def test_an_async_tool_is_awaited() -> None:
    async def later(a: int) -> int:
        """Later."""
        await asyncio.sleep(0)
        return a + 1

    assert called({"a": 1}, later)[0].results == [2]

    async def within_a_loop() -> Any:
        return called({"a": 1}, later)[0].results

    assert asyncio.run(within_a_loop()) == [2]


class Adder:
    """Adds."""

    __name__ = "adder"

    def __call__(self, a: int, b: int = 1) -> int:
        return a + b


@pytest.mark.parametrize("function", [Adder(), functools.partial(add, b=1)])
def test_what_can_be_called_is_read_by_its_annotations(function: Any) -> None:
    if isinstance(function, functools.partial):
        function.__name__ = "adder"  # type: ignore[attr-defined]
    assert called({"a": "2"}, function)[0].results == [3]


def test_a_call_with_an_id_alone_gets_its_id_back() -> None:
    _, messages = called({"a": 1}, id="44d758b1")
    assert to_openai_message(messages[-1])["tool_call_id"] == "44d758b1"
    _, messages = called({"a": 1}, id="u1", original_id="call_7")
    assert to_openai_message(messages[-1])["tool_call_id"] == "call_7"


# the document's own chat model


class Client:
    """Stands where Ollama's client stands in the document."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.asked: list[Any] = []

    def create(self, **request: Any) -> str:
        self.asked.append(request)
        return f"{request['model']} at {self.host}: {request['messages'][-1]}"


class OllamaChatModel(BaseChatModel):
    """As the document writes it, but for the client."""

    host: str
    model: str
    __client: Client
    __tools: Sequence[Mapping[str, Any]] | None = None

    def __init__(self, **data: Any) -> None:
        super().__init__(**data)
        self.__client = Client(self.host)

    def chat(  # type: ignore[override]  # as the document writes it
        self, messages: Sequence[ChatMessage], chat_history: list[ChatMessage] | None = None
    ) -> ChatMessage:
        given = messages
        if self.prompt is not None:
            input_variable: dict[str, Any] = {}
            for message in messages:
                input_variable.update(message.additional_kwargs)
            given = self.prompt.format_messages(**input_variable)
        text = self.__client.create(
            model=self.model, messages=[str(m) for m in given], tools=self.__tools
        )
        return ChatMessage(role=MessageRole.ASSISTANT, content=text)

    def bind_tools(self, tools: Sequence[Any]) -> None:
        self.__tools = [
            {"name": each.metadata.name, "schema": each.metadata.args_schema.model_json_schema()}
            for each in tools
        ]

    @property
    def asked(self) -> list[Any]:
        return self.__client.asked


class MyAgent:
    @prompt
    @staticmethod
    def converter() -> Prompt:
        return Prompt.from_text("The product is {name}.", role=MessageRole.USER)

    @tool
    @staticmethod
    def send_email(to: str) -> str:
        """Send it."""
        return to

    @chat_model
    @staticmethod
    def ollama() -> Any:
        given = {"host": "8.8.8.8", "model": "qwen2.5:7b"}
        return OllamaChatModel, {**given, "prompt": "converter", "tools": ["send_email"]}

    @chat_model
    @staticmethod
    def older() -> Any:
        given = {"prompt": "converter", "variables_from": "messages"}
        return ScriptedModel, {"answers": ["ok"], **given}


def test_the_documents_own_chat_model_runs() -> None:
    setup = scan(MyAgent).chat_model("ollama")
    asked = ChatMessage(content="x", extra_args={"name": "rope"})
    answer = setup.chat([asked])
    assert answer.content == "qwen2.5:7b at 8.8.8.8: user: The product is rope."
    assert isinstance(setup.model, OllamaChatModel)
    (bound,) = setup.model.asked[0]["tools"]
    assert bound["name"] == "send_email"
    assert bound["schema"]["properties"] == {
        "to": {"title": "To", "type": "string", "description": "Parameter: to"}
    }
    alone = OllamaChatModel(host="h", model="m")
    assert alone.chat([ChatMessage(content="hi")]).content == "m at h: user: hi"
    assert alone.complete([ChatMessage(content="hi")]).message.content == "m at h: user: hi"


class CallingModel(BaseChatModel):
    """Keeps what is bound to it, and calls the first of its tools by itself."""

    bound: list[list[Any]] = []

    def chat(self, messages: Sequence[ChatMessage], *more: Any, **parameters: Any) -> ChatMessage:
        tools = self.bound[-1] if self.bound else []
        content = str(tools[0].call(bar=1, a=1)) if tools else "no tools"
        return ChatMessage(role=MessageRole.ASSISTANT, content=content)

    def bind_tools(self, tools: Sequence[BaseTool]) -> None:
        self.bound.append(list(tools))


def test_a_model_is_bound_to_the_setups_own_tools_once_and_to_none_again() -> None:
    """It was bound at every request, to copies that could not be called, and never to none."""
    schema = create_schema_from_function("foo", foo)
    tool = Doubling(metadata=ToolMetadata(name="foo", description="", args_schema=schema))
    asked = [ChatMessage(content="?")]
    model = CallingModel()
    setup = ChatModelSetup(model, tools=(tool,))
    assert [setup.chat(asked).content, setup.chat(asked).content] == ["2", "2"]
    assert asyncio.run(setup.achat(asked)).content == "2"
    assert [piece.text for piece in setup.stream(asked)][0] == "2"
    assert len(model.bound) == 1
    assert model.bound[0][0] is tool
    without = setup.bind_tools([])
    assert [without.chat(asked).content, without.chat(asked).content] == ["no tools", "no tools"]
    assert setup.chat(asked).content == "2"
    assert model.bound == [[tool], [], [tool]]


def test_a_model_keeps_the_tools_that_were_bound_to_it_by_hand() -> None:
    model = CallingModel()
    model.bind_tools([FunctionTool(lambda bar, a: "by hand")])
    assert ChatModelSetup(model).chat([ChatMessage(content="?")]).content == "by hand"
    assert len(model.bound) == 1


def test_a_model_is_told_of_tools_that_have_a_description_alone() -> None:
    model = CallingModel()
    told = tools.ToolMetadata(name="far")
    for _ in range(2):
        with pytest.raises(InputFault, match="no function to call"):
            model.complete([ChatMessage(content="?")], [told])
    assert [[each.name for each in bound] for bound in model.bound] == [["far"]]
    assert model.complete([ChatMessage(content="?")]).message.content == "no tools"


def test_everything_declared_says_what_kind_of_resource_it_is() -> None:
    declared = scan(MyAgent)
    assert Prompt.resource_type() is declared.prompt("converter").resource_type()
    assert Prompt.resource_type() is ResourceType.PROMPT
    assert declared.tool("send_email").resource_type() is ResourceType.TOOL
    assert OllamaChatModel.resource_type() is ChatModel.resource_type() is ResourceType.CHAT_MODEL


def test_a_chat_model_answers_messages_by_chat() -> None:
    assert ScriptedModel(["hi"]).chat([ChatMessage(content="?")]).content == "hi"


@pytest.mark.parametrize(
    "given",
    [
        Prompt.from_text("About {topic}."),
        Prompt.from_text("About {topic}.", role=MessageRole.USER),
        Prompt.from_messages([ChatMessage(content="{x}", extra_args={"partial": True})]),
    ],
)
def test_a_prompt_comes_back_from_its_json(given: Prompt) -> None:
    assert Prompt.model_validate_json(given.model_dump_json()) == given


def test_a_declared_model_may_take_its_variables_from_messages() -> None:
    setup = scan(MyAgent).chat_model("older")
    asked = ChatMessage(content="x", extra_args={"name": "rope"})
    assert setup.variables_from == "messages"
    assert setup.request([asked])[0].content == "The product is rope."


def test_an_adapter_of_signatures_asks_any_chat_model() -> None:
    signature = Signature.parse("picture: Image -> out: int")
    model = ScriptedModel(["[[ ## out ## ]]\n2"])
    inputs = {"picture": Image("https://example.org/a.png")}
    assert ChatAdapter()(model, {}, signature, [], inputs) == [{"out": 2}]
    sent = to_openai_message(model.inputs[0][-1])
    assert [part["type"] for part in sent["content"]] == ["text", "image_url", "text"]
