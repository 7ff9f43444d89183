"""What is read in few steps, because most files have it so, is read as in the general way."""

from __future__ import annotations

from typing import Any

import pytest

from playground.nouns.messages import Message, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.shapes.messages import read_message, read_plain_item
from playground.sessions.shapes.parts import read_parts
from playground.sessions.shapes.plain_parts import plain_part

TEXT = {"type": "text", "text": "a"}
CALL = {"type": "tool_use", "id": "i", "name": "n", "input": {"a": 1, "b": None, "c": "d"}}
RESULT = {"type": "tool_result", "tool_use_id": "i", "content": "a", "is_error": True}
THOUGHT = {"type": "thinking", "thinking": "a", "signature": "s"}
MARK = {"cache_control": {"type": "ephemeral"}}


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (TEXT, TextPart("a")),
        ({**TEXT, **MARK}, TextPart("a")),
        ({"text": "a"}, TextPart("a")),
        (THOUGHT, ReasoningPart("a", "s")),
        ({**THOUGHT, "signature": 1}, ReasoningPart("a")),
        (CALL, ToolCallPart("i", "n", {"a": 1, "b": None, "c": "d"})),
        (
            {**CALL, **MARK, "caller": {"type": "direct"}},
            ToolCallPart("i", "n", {"a": 1, "b": None, "c": "d"}),
        ),
        (RESULT, ToolResultPart("i", "", "a", is_error=True)),
        ({**RESULT, **MARK}, ToolResultPart("i", "", "a", is_error=True)),
    ],
)
def test_a_part_of_the_form_that_most_have_is_read_as_the_same_in_any_other_form(
    value: dict[str, Any], part: Any
) -> None:
    assert plain_part(SessionBuilder(), value) == part
    builder = SessionBuilder()
    assert read_parts(builder, [{**value, "more": None}], Place()) == [part]
    assert builder.findings == []


@pytest.mark.parametrize(
    "value",
    [
        None,
        "a",
        {},
        {"type": ["text"], "text": "a"},
        {"type": "text", "text": ""},
        {"type": "text", "text": 1},
        {"type": "text", "text": "a", "thought": True},
        {"type": "thinking", "thinking": "", "signature": "s"},
        {**CALL, "input": "a"},
        {**CALL, "input": {"a": float("inf")}},
        {**CALL, "id": ""},
        {**RESULT, "content": [TEXT]},
    ],
)
def test_a_part_of_which_something_may_have_to_be_told_is_left_to_others(value: Any) -> None:
    builder = SessionBuilder()
    assert plain_part(builder, value) is None
    assert builder == SessionBuilder()


ASKED = {"type": "function_call", "call_id": "i", "name": "n", "arguments": '{"a": 1}'}
OTHER = {"type": "custom_tool_call", "call_id": "i", "name": "n", "input": "a b"}
GAVE = {"type": "function_call_output", "call_id": "i", "output": "a"}
CALLED = Message("assistant", (ToolCallPart("i", "n", {"a": 1}),))
ANSWER = Message("assistant", (TextPart("before"),))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (ASKED, CALLED),
        ({**ASKED, "id": "fc", "status": "completed", "namespace": None}, CALLED),
        (OTHER, Message("assistant", (ToolCallPart("i", "n", {"input": "a b"}),))),
        (GAVE, Message("tool", (ToolResultPart("i", "", "a"),))),
        (
            {**GAVE, "id": "fo", "metadata": {"a": 1}},
            Message("tool", (ToolResultPart("i", "", "a"),)),
        ),
    ],
)
@pytest.mark.parametrize("before", [[], [ANSWER]])
def test_an_item_of_the_form_that_most_have_is_read_as_the_same_in_any_other_form(
    before: list[Message], value: dict[str, Any], message: Message
) -> None:
    plain = SessionBuilder(messages=[*before], places=[""] * len(before))
    other = SessionBuilder(messages=[*before], places=[""] * len(before))
    assert read_plain_item(plain, value, Place(3))
    assert not read_plain_item(other, {**value, "more": None}, Place(3))
    read_message(other, {**value, "more": None}, Place(3))
    joined = before and message.role == "assistant"
    assert plain.messages == (
        [Message("assistant", (*ANSWER.parts, *message.parts))] if joined else [*before, message]
    )
    assert plain == other


@pytest.mark.parametrize(
    "value",
    [
        {},
        {**ASKED, "type": ["function_call"]},
        {**ASKED, "call_id": ""},
        {**ASKED, "name": ""},
        {**ASKED, "arguments": None},
        {**OTHER, "output": "a"},
        {**GAVE, "output": [{"type": "input_text", "text": "a"}]},
        {**GAVE, "status": "error"},
        {"type": "web_search_call", "call_id": "i", "name": "n"},
    ],
)
def test_an_item_of_which_something_may_have_to_be_told_is_left_to_others(value: Any) -> None:
    builder = SessionBuilder()
    assert not read_plain_item(builder, value, Place())
    assert builder == SessionBuilder()
