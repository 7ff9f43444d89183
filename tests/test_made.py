"""What importers make without a look at each field is what anybody else makes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from typing import Any

import pytest

from playground.messages import Message, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from playground.sessions import made
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.shapes.parts import read_parts
from playground.sessions.shapes.plain_parts import plain_part

PAIRS = [
    (made.text("a"), TextPart("a")),
    (made.reasoning("a", None), ReasoningPart("a")),
    (made.reasoning("a", "s"), ReasoningPart("a", "s")),
    (made.call("i", "n", {"a": 1}), ToolCallPart("i", "n", {"a": 1})),
    (made.result("i", "n", [1], is_error=True), ToolResultPart("i", "n", [1], is_error=True)),
    (made.message("user", (TextPart("a"),)), Message("user", (TextPart("a"),))),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_what_is_made_is_what_pydantic_makes(ours: Any, theirs: Any) -> None:
    assert ours == theirs
    assert type(ours) is type(theirs)
    assert vars(ours) == vars(theirs)
    assert list(vars(ours)) == [each.name for each in fields(theirs)]


def test_what_is_made_shares_the_names_of_its_fields_whoever_made_the_first() -> None:
    program = (
        "import sys\n"
        "from playground.messages import Message\n"
        "from playground.sessions import made\n"
        "for _ in range(1_000): theirs = Message('user')\n"
        "ours = made.message('user', ())\n"
        "print(sys.getsizeof(vars(ours)) < sys.getsizeof(vars(theirs)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "True\n"


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
        ({**CALL, **MARK, "caller": {"type": "direct"}}, ToolCallPart("i", "n", CALL["input"])),
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
