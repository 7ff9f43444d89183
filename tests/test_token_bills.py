"""Requests of public recordings with what was billed for them: the kinds that are told by bills.

Each is one of many; `benchmarks/tokens.py` counts them all.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

import playground as pg
from playground.tokens import TokenCount
from playground.tokens.answer_forms import answer_form
from playground.tokens.registry import packaged

ONE_WORD: Final = {
    "name": "answer",
    "schema": {
        "additionalProperties": False,
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "type": "object",
    },
    "strict": True,
}
COLOURS: Final = {
    "type": "json_schema",
    "name": "primary_colors",
    "schema": {
        "type": "object",
        "properties": {"colors": {"type": "array", "items": {"type": "string"}}},
        "required": ["colors"],
        "additionalProperties": False,
    },
    "strict": True,
}
TREE: Final = "Name one common tree species. Answer in the schema."
DICE: Final = {
    "type": "function",
    "name": "dice_roll",
    "description": "Rolls a single six-sided die and returns the result",
    "parameters": {"type": "object", "properties": {}, "required": []},
}
GET_DATE: Final = {"name": "get_date", "description": "Gets the current date", "parameters": {}}
WEATHER: Final = {
    "type": "function",
    "name": "get_weather",
    "description": "Get weather",
    "parameters": {"type": "object", "properties": {"location": {"type": "string"}},
                   "required": ["location"]},
}  # fmt: skip
USER: Final = {
    "name": "UserInfo",
    "description": "Correctly extracted `UserInfo` with all the required parameters with correct "
    "types",
    "parameters": {
        "properties": {
            "name": {"title": "Name", "type": "string"},
            "age": {"title": "Age", "type": "integer"},
        },
        "required": ["age", "name"],
        "type": "object",
    },
}
ROLL: Final = {
    "type": "function",
    "name": "tool_001",
    "description": "Roll a die",
    "parameters": {"type": "object", "properties": {}},
}


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _called(name: str, *results: str) -> list[dict[str, Any]]:
    calls = [
        {"type": "function_call", "call_id": f"c{i}", "name": name, "arguments": "{}"}
        for i in range(len(results))
    ]
    outputs = [
        {"type": "function_call_output", "call_id": f"c{i}", "output": text}
        for i, text in enumerate(results)
    ]
    return [*calls, *outputs]


BILLED: Final[list[tuple[str, int, dict[str, Any]]]] = [
    ("a form of the answer, Chat", 46, {
        "model": "gpt-4o", "messages": [_user(TREE)],
        "response_format": {"type": "json_schema", "json_schema": ONE_WORD}}),
    ("a form of the answer, Responses", 40, {
        "model": "gpt-5-nano", "input": "Return the three primary colors.",
        "text": {"format": COLOURS}}),
    ("the only tool is required", 47, {
        "model": "gpt-4.1", "input": "What's the weather?", "tools": [WEATHER],
        "tool_choice": "required"}),
    ("titles, and a certain tool, in 2024", 74, {
        "model": "gpt-4-0125-preview", "messages": [_user("Create a user")],
        "tools": [{"type": "function", "function": USER}],
        "tool_choice": {"type": "function", "function": {"name": "UserInfo"}}}),
    ("instructions before the tools of a model that reasons", 138, {
        "model": "gpt-5.4", "tools": [{"type": "function", "function": GET_DATE}],
        "messages": [{"role": "system", "content": "Be very terse, not even punctuation."},
                     _user("What's the current date in YYYY-MM-DD format?")]}),
    ("a call that came without its reasoning", 79, {
        "model": "gpt-5.4", "store": False, "tools": [DICE],
        "input": [_user("Roll a die for me"), *_called("dice_roll", "{roll: 2}")]}),
    ("calls at once that the server does not keep", 82, {
        "model": "gpt-4.1-nano", "store": False, "tools": [ROLL],
        "input": [{"role": "system", "content": "Be terse"},
                  _user("Roll two dice and tell me the total"), *_called("tool_001", "5", "4")]}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "billed", "body"), BILLED, ids=[each[0] for each in BILLED])
def test_a_recorded_request_is_counted_as_it_was_billed(
    kind: str, billed: int, body: dict[str, Any]
) -> None:
    found = pg.count_tokens(body)
    assert (found.tokens, found.kind) == (billed, "exact")
    assert sum(found.by_origin.values()) == billed


def test_the_form_of_an_answer_is_a_section_of_the_prompt() -> None:
    schema = {
        "$schema": "x",
        "type": "object",
        "properties": {"format": {"type": "string", "format": "date", "description": "a – b"}},
        "required": ["format"],
    }
    form = answer_form({"type": "json_schema", "json_schema": {
        "name": "day", "description": "A day", "schema": schema}})  # fmt: skip
    assert form is not None
    assert form.section == (
        "# Response Formats\n\n## day\n\n// A day\n"
        '{"type":"object","properties":{"format":{"type":"string","description":"a \\u2013 b"}}}'
    )
    assert (form.strict, form.unknown) == (False, [])
    assert answer_form({"type": "json_object"}) is None


def test_results_of_calls_at_once_are_one_list() -> None:
    """Two calls of gpt-4o-mini, then three: one message for all results."""

    def asked(*results: str) -> TokenCount:
        calls = [{"id": f"c{i}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                 for i in range(len(results))]  # fmt: skip
        told = [
            {"role": "tool", "tool_call_id": f"c{i}", "content": text}
            for i, text in enumerate(results)
        ]
        messages = [_user("x"), {"role": "assistant", "content": None, "tool_calls": calls}, *told]
        return pg.count_tokens({"model": "gpt-4o-mini", "messages": messages})

    two = asked("sunny", '{"a":1}')
    whole = packaged("o200k_base").ids('["sunny", {"a": 1}]')
    assert (two.kind, two.by_origin["results"]) == ("exact", len(whole))
    assert set(asked("a", "b", "c").by_message) == {0, 1, 2, 3, 4}
    assert asked("5 °C", "x").kind == "tokenizer"
