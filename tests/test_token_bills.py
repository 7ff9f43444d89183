"""Requests of public recordings with what was billed for them: the kinds that are told by bills.

Each is one of many; `benchmarks/tokens.py` counts them all.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

import playground as pg
from playground.tokens.answer_forms import answer_form
from playground.tokens.count import TokenCount
from playground.tokens.registry import packaged

ONE_WORD: Final[dict[str, Any]] = {
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
FLORENCE: Final = {
    "name": "weather",
    "description": "Get weather information for a location",
    "parameters": {
        "properties": {"location": {"description": "the city", "type": "string"}},
        "required": ["location"],
        "type": "object",
    },
}
IN_FLORENCE: Final = [
    {"role": "system", "content": "You are a helpful assistant"},
    {"role": "user", "content": "What's the weather in Florence,Italy?"},
]
CALLED_FLORENCE: Final = [
    {"type": "function_call", "call_id": "c", "name": "weather",
     "arguments": '{"location":"Florence, Italy"}'},
    {"type": "function_call_output", "call_id": "c", "output": "40 C"},
]  # fmt: skip
READERS: Final = [
    {"type": "function", "name": f"read_file_{end}", "parameters": {"type": "object"},
     "description": f"Read the {place} line of test.txt using the {end} command"}
    for end, place in (("head", "first"), ("tail", "last"))
]  # fmt: skip
READ: Final = (
    "Use the available tools to read test.txt now. Do not ask any follow-up questions; just read "
    "the file and report its content."
)
UNAVAILABLE: Final = (
    "Tool 'read_file_head' is currently unavailable. Please use 'read_file_tail' instead to read "
    "the file."
)
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
    ("tools of a model that reasoned before gpt-5, Chat", 64, {
        "model": "o4-mini", "messages": IN_FLORENCE,
        "tools": [{"type": "function", "function": FLORENCE}]}),
    ("the same and its call, Responses", 89, {
        "model": "o4-mini", "store": False, "input": [*IN_FLORENCE, *CALLED_FLORENCE],
        "tools": [{"type": "function", **FLORENCE}]}),
    ("a call of the first gpt-5 that came without its reasoning", 92, {
        "model": "gpt-5", "store": False, "input": [*IN_FLORENCE, *CALLED_FLORENCE],
        "tools": [{"type": "function", **FLORENCE}]}),
    ("a gateway asks a model that reasons by Responses", 63, {
        "model": "openai/gpt-5", "messages": IN_FLORENCE,
        "tools": [{"type": "function", "function": FLORENCE}]}),
    ("the first web search, before it searched", 303, {
        "model": "gpt-4.1", "input": "Hello world", "tools": [{"type": "web_search_preview"}]}),
    ("two calls at once that the server keeps", 164, {
        "model": "gpt-4o-mini", "tools": READERS,
        "instructions": "You are a helpful assistant that can read files using different methods.",
        "input": [_user(READ),
                  *({"type": "function_call", "call_id": f"c{end}", "id": f"fc_{end}",
                     "name": f"read_file_{end}", "arguments": "{}"} for end in ("head", "tail")),
                  {"type": "function_call_output", "call_id": "chead", "output": UNAVAILABLE},
                  {"type": "function_call_output", "call_id": "ctail", "output": "hello world"}]}),
    ("a form that is not strict, Responses", 40, {
        "model": "gpt-5-nano", "input": "Return the three primary colors.",
        "text": {"format": {key: value for key, value in COLOURS.items() if key != "strict"}}}),
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


def _formed(model: str, **form: Any) -> TokenCount:
    shape = {"type": "json_schema", "json_schema": {"name": "tide", **form}}
    return pg.count_tokens({"model": model, "messages": [_user("When?")], "response_format": shape})


def test_a_form_that_is_open_or_described_costs_one_more() -> None:
    """Four of four bills of forms that are neither strict nor closed, of three projects, where 22
    of closed ones are as strict ones; eight of eight of described ones, for models that reason."""
    hour = {"type": "object", "properties": {"hour": {"type": "string"}}}
    closed = {**hour, "additionalProperties": False}
    strict = _formed("gpt-4o", schema=closed, strict=True)
    told = _formed("gpt-4o", schema=closed), _formed("gpt-4o", schema=hour)
    assert [each.kind for each in (strict, *told)] == ["exact"] * 3
    assert [each.tokens - strict.tokens for each in told] == [0, 1]
    plain = _formed("gpt-5", schema=closed, strict=True)
    described = _formed("gpt-5", schema=closed, strict=True, description="Tide")
    line = packaged("o200k_base").ids("// Tide\n")
    assert (described.kind, described.tokens - plain.tokens) == ("exact", len(line) + 1)


def test_several_calls_of_a_model_that_reasons_are_one_turn() -> None:
    """Eight of eight bills of two and three calls, of gpt-5 and 5.4: 6 more for them together."""

    def framing(model: str, calls: int) -> int:
        given = [
            {"id": f"c{i}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            for i in range(calls)
        ]
        turn = {"role": "assistant", "content": None, "tool_calls": given}
        found = pg.count_tokens({"model": model, "messages": [_user("x"), turn]})
        assert found.kind == "exact"
        return found.tokens

    for calls in (1, 2, 3):
        # the beginning of the answer is 2 to a model that reasons, 3 to others
        assert framing("gpt-5", calls) - framing("gpt-4o", calls) == 6 - 1


def test_a_name_that_is_the_role_costs_its_text_alone() -> None:
    """Five of five bills; any other name costs 1 more."""
    named = [
        pg.count_tokens({"model": "gpt-4o", "messages": [{**_user("x"), "name": name}]}).tokens
        for name in ("user", "keeper")
    ]
    sizes = [len(packaged("o200k_base").ids(name)) for name in ("user", "keeper")]
    assert named[1] - named[0] == 1 + sizes[1] - sizes[0]


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


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"text": {"format": COLOURS}, "model": "gpt-4o",
          "input": [_user("x"), {**CALLED_FLORENCE[0], "id": "fc_1"}, CALLED_FLORENCE[1]]},
         "stored calls together with a form"),
        ({"text": {"format": COLOURS}, "model": "gpt-4o", "store": False,
          "input": [_user("x"), {**CALLED_FLORENCE[0], "id": "fc_1"}, CALLED_FLORENCE[1]]}, ""),
        ({"model": "o3", "messages": [_user("x")], "response_format": {"type": "json_schema",
          "json_schema": {**ONE_WORD, "description": "One word", "schema": {
              **ONE_WORD["schema"], "description": "A word"}}}}, "described twice"),
        ({"model": "gpt-4o", "messages": [_user("x")], "response_format": {"type": "json_schema",
          "json_schema": {"name": "word", "schema": {"type": "object"}}},
          "tools": [{"type": "function", "function": GET_DATE}]}, "a schema that is open"),
        ({"model": "openai/gpt-4o", "messages": [_user("x")],
          "response_format": {"type": "json_schema", "json_schema": ONE_WORD}}, ""),
        ({"model": "openai/gpt-4.1", "messages": [_user("x")],
          "response_format": {"type": "json_schema", "json_schema": ONE_WORD}}, "a gateway"),
        ({"model": "gpt-4o", "tools": READERS, "input": [_user("x"), *(
            {"type": "function_call", "call_id": f"c{i}", "id": f"fc_{i}", "name": "read_file_head",
             "arguments": "{}"} for i in range(3))]}, "calls at once"),
    ],
)  # fmt: skip
def test_what_bills_tell_differently_is_not_called_exact(more: dict[str, Any], reason: str) -> None:
    found = pg.count_tokens(more)
    assert found.kind == ("tokenizer" if reason else "exact")
    assert not reason or reason in found.notes[0]
