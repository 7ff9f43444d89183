"""A doubt for each case in which a provider may do otherwise than the rules say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import playground as pg
from playground.base.errors import InputFault

LONG = "harbourmaster observations " * 2_000
O = "anthropic/claude-opus-4-8"  # noqa: E741
SOL = "openai/gpt-6.1-sol"
Body = dict[str, Any]


def turn(content: Any, role: str = "user", **more: Any) -> Body:
    return {"role": role, "content": content, **more}


MARKED = {"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}
HEAD = [turn("a")]
TOOL = {"name": "t", "description": "looks", "input_schema": {"type": "object"}}
FUNCTION = {"type": "function", "name": "t", "description": "looks", "parameters": {}}


def marked(*messages: Body, **more: Any) -> Body:
    return {"max_tokens": 9, "system": [MARKED], "messages": list(messages or HEAD), **more}


def asked(*items: Body, **more: Any) -> Body:
    return {"input": [turn(LONG, "developer"), *(items or HEAD)], **more}


def note(text: str = "b", when: str = "next_user_message") -> Body:
    return turn(text, "system", clear_at=when)


THOUGHT = turn(
    [{"type": "thinking", "thinking": "so", "signature": "s"}, {"type": "text", "text": "yes"}],
    "assistant",
)
THOUGHTFUL = [turn([MARKED]), THOUGHT, turn([{**MARKED, "text": "more"}])]
SKILLS = {"skills": [{"type": "anthropic", "skill_id": "pdf", "version": "latest"}]}
DEFERRED = {**FUNCTION, "defer_loading": True}
GONE = {"type": "tool_reference", "tool_name": "gone"}
REFERENCE = turn([{"type": "tool_result", "tool_use_id": "c", "content": [GONE]}])
ASKED = turn([{"type": "tool_use", "id": "c", "name": "f", "input": {}}], "assistant")
STRIPPED = [
    "anthropic/claude-3-5-haiku",
    "anthropic/claude-haiku-3-5",
    "anthropic/claude-3-haiku",
    "anthropic/claude-3-opus",
    "anthropic/claude-3-5-sonnet",
    "vertex_ai/claude-3-5-haiku@20241022",
]


def states(model: str, *bodies: Body) -> list[Any]:
    times = [70.0 * number for number in range(len(bodies))]
    return list(pg.simulate_cache(bodies, model=model, times=times).requests)


@pytest.mark.parametrize("model", [O, SOL])
def test_without_any_of_this_both_are_exact(model: str) -> None:
    body = asked() if model == SOL else marked()
    assert [one.state for one in states(model, body, body)] == ["exact", "exact"]


CONVERSE = {
    "system": [{"text": LONG}, {"cachePoint": {"type": "default"}}],
    "messages": [{"role": "user", "content": [{"text": "a"}]}],
}


@pytest.mark.parametrize("more", [{}, {"inferenceConfig": {"maxTokens": 9}}])
def test_a_converse_body_is_certain_however_little_it_holds(more: Body) -> None:
    own = {**CONVERSE, **more, "modelId": "anthropic.claude-opus-4-8"}
    found = pg.simulate_cache([own, own], times=[0.0, 70.0])
    assert found.provider == "bedrock"
    assert [(one.state, one.read > 0) for one in found.requests] == [
        ("exact", False), ("exact", True),
    ]  # fmt: skip
    there = states("bedrock/anthropic.claude-opus-4-8", CONVERSE | more, CONVERSE | more)
    assert [one.state for one in there] == ["exact", "exact"]
    assert states(O, CONVERSE | more)[0].state == "unpredictable"  # no form of that API


def test_a_name_across_regions_is_read_for_certain_only_by_its_bill() -> None:
    for region in ("us", "global"):
        model = f"bedrock/{region}.anthropic.claude-opus-4-8"
        first, second = states(model, marked(), marked())
        assert (first.state, second.state) == ("exact", "unpredictable")
        assert "across regions" in second.reason
        wrote = {"input_tokens": 2, "cache_creation_input_tokens": 9_000}
        read = {"input_tokens": 2, "cache_read_input_tokens": 9_000}
        for last, state in ((read, "exact"), (wrote, "unpredictable")):
            row = [marked(), marked()]
            found = pg.simulate_cache(row, model=model, usages=[wrote, last], times=[0.0, 70.0])
            assert [one.state for one in found.requests] == ["exact", state]


@pytest.mark.parametrize("model", STRIPPED)
def test_earlier_models_lose_the_thought_of_earlier_turns(model: str) -> None:
    begun, later = {"max_tokens": 9, "messages": THOUGHTFUL}, turn("last")
    found = states(
        model, begun, {**begun, "messages": [*THOUGHTFUL, turn("y", "assistant"), later]}
    )
    assert found[1].total < states(O, {**begun, "messages": [*THOUGHTFUL, later]})[0].total + 9
    rules = pg.simulate_cache([begun], model=model).rules
    assert rules is not None
    assert rules.lists("thinking_stripped", model)


IN_BOTH = {
    "system first": (O, marked(turn("b", "system"), *HEAD), "role system"),
    "system after an answer": (
        O, marked(*HEAD, turn("y", "assistant"), turn("b", "system")), "role system",
    ),
    "system after an answer, in chat": (
        O, {"messages": [turn([MARKED]), turn("y", "assistant"), turn("b", "system"), *HEAD]},
        "role system",
    ),
    "clear_at of another value": (O, marked(*HEAD, note(when="never")), "clear_at"),
    "compaction": (
        O, marked(turn([{"type": "compaction", "content": "s"}], "assistant"), *HEAD), "compaction",
    ),
    "compaction of OpenAI's": (
        SOL, asked({"type": "compaction", "encrypted_content": "x"}, *HEAD), "compaction",
    ),
    "namespace": (
        SOL, asked(tools=[{"type": "namespace", "name": "n", "tools": [DEFERRED]}, FUNCTION]),
        "deferred function",
    ),
    "reasoning by id": (SOL, asked({"type": "reasoning", "id": "r", "summary": []}), "reasoning"),
    "file_search": (
        SOL, asked(tools=[{"type": "file_search", "vector_store_ids": ["v"]}]), "file_search",
    ),
    "file_search_call": (
        SOL, asked({"type": "file_search_call", "id": "f", "queries": ["q"], "results": None}),
        "file_search_call",
    ),
    "web_search of OpenAI's": (SOL, asked(tools=[{"type": "web_search"}]), "web_search"),
    "skills of a shell": (
        SOL,
        asked(tools=[{"type": "shell", "environment": {
            "type": "container_auto", "skills": [{"type": "skill_reference", "skill_id": "s"}]}}]),
        "skills",
    ),
    "skills by latest": (O, marked(container=SKILLS), "latest version"),
    "every tool deferred": (O, marked(tools=[{**TOOL, "defer_loading": True}]), "deferred"),
    "undeclared tool": (O, marked(ASKED, REFERENCE, tools=[TOOL]), "does not declare"),
    "search on the server": (
        O, marked(tools=[{"type": "web_search_20250305", "name": "web_search"}]), "of their own",
    ),
    "no message": (O, {**marked(), "messages": []}, "no message"),
}  # fmt: skip


@pytest.mark.parametrize("case", IN_BOTH)
def test_a_body_that_leaves_something_open_is_never_exact(case: str) -> None:
    model, body, why = IN_BOTH[case]
    for one in states(model, body, body):
        assert one.state in ("unpredictable", "error"), one
        assert why in one.reason


HOUR = {**MARKED, "cache_control": {"type": "ephemeral", "ttl": "1h"}}
NOT_CERTAIN = [
    *(f"bedrock/anthropic.claude-{n}" for n in ("sonnet-4-0", "opus-4-0", "haiku-3-5", "4-sonnet")),
    "bedrock/amazon.nova-2-lite-v1:0",
    "bedrock/amazon.nova-pro-v1:0",
]


@pytest.mark.parametrize("model", NOT_CERTAIN)
def test_an_hour_on_bedrock_begins_with_4_5(model: str) -> None:
    body = {**marked(), "system": [HOUR]}
    assert {one.state for one in states(model, body, body)}.isdisjoint({"exact"})


@pytest.mark.parametrize("name", ["micro", "pro", "premier"])
def test_marks_count_for_nova_where_its_card_says_so(name: str) -> None:
    for one in states(f"bedrock/amazon.nova-{name}-v1:0", marked(), marked()):
        assert "marks count for this model" in one.reason
        assert one.state == "unpredictable"


MISSPELT = [
    "openai/gpt-6-1-sol",
    "openai/gpt.6.1.sol",
    "anthropic/claude.opus.4.8",
    "anthropic/claude-opus-4.8",
    "anthropic/claude-sonnet-4-5-20250929-v1:0",
    "vertex_ai/claude-opus-4.8",
    "bedrock/anthropic.claude-opus-4.8",
    "openrouter/anthropic/claude-opus-4-8",
]
SPELLED = [
    O, SOL, "azure/gpt-6.1-sol-2026-09-29", "vertex_ai/claude-opus-4-8@default",
    "bedrock/anthropic.claude-opus-4-8", "openrouter/anthropic/claude-opus-4.8",
]  # fmt: skip


@pytest.mark.parametrize("model", [*MISSPELT, *SPELLED])
def test_a_model_is_known_as_its_provider_spells_it(model: str) -> None:
    found = pg.simulate_cache([marked()], model=model)
    assert found.rules is not None
    assert found.rules.knows(model) is (model in SPELLED)


def test_bodies_of_two_models_under_one_name_are_told() -> None:
    for one in states(O, marked(model="claude-opus-4-8"), marked(model="claude-haiku-4-5")):
        assert one.state == "unpredictable"
        assert "the bodies name claude-opus-4-8, claude-haiku-4-5" in one.reason


RESULT = {"type": "tool_result", "tool_use_id": "c", "content": LONG}
CALL = {"type": "tool_use", "id": "c", "name": "t", "input": {}}
IN_MESSAGES = {"cache_control": {"type": "ephemeral"}}
SPELLED_OUT = [
    (marked(tools=[TOOL]), marked(tools=[{**TOOL, "defer_loading": False}])),
    (marked(tools=[TOOL]), marked(tools=[{**TOOL, "type": "custom"}])),
    (marked(tools=[TOOL]), marked(tools=[{**TOOL, "eager_input_streaming": True}])),
    (
        marked(*HEAD, turn([CALL], "assistant"), turn([{**RESULT, **IN_MESSAGES}]), tools=[TOOL]),
        marked(
            *HEAD, turn([CALL], "assistant"), turn([{**RESULT, **IN_MESSAGES, "is_error": False}]),
            tools=[TOOL],
        ),
    ),
    (
        marked(*HEAD, turn([CALL], "assistant"), turn([{**RESULT, **IN_MESSAGES}]), tools=[TOOL]),
        marked(
            *HEAD, turn([{**CALL, "caller": {"type": "direct"}}], "assistant"),
            turn([{**RESULT, **IN_MESSAGES}]), tools=[TOOL],
        ),
    ),
    ({"max_tokens": 9, "thinking": {"type": "adaptive"}, "messages": [turn([MARKED])]},
     {"max_tokens": 9, "thinking": {"type": "adaptive"}, "system": "",
      "messages": [turn([MARKED])]}),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(SPELLED_OUT)))
def test_a_default_that_is_spelled_out_earns_no_exact_miss(number: int) -> None:
    one = states(O, *SPELLED_OUT[number])[1]
    assert one.state == "unpredictable"
    assert "states a default" in one.reason


BEGUN = marked(*HEAD, note())
ANSWERED = [turn("yes", "assistant"), turn("more")]
IN_SECOND = {
    "clear_at changed": (O, BEGUN, marked(*HEAD, note("other"), *ANSWERED), "clear_at"),
    "clear_at left out": (O, BEGUN, marked(*HEAD, *ANSWERED), "clear_at"),
    "user changed": (SOL, asked(user="a"), asked(user="b"), "user changed"),
    "user changed in chat": (
        SOL, {"messages": [turn(LONG), turn("a")], "user": "a"},
        {"messages": [turn(LONG), turn("a")], "user": "b"}, "user changed",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", IN_SECOND)
def test_a_change_whose_effect_nobody_states_is_not_exact(case: str) -> None:
    model, before, after, why = IN_SECOND[case]
    one = states(model, before, after)[1]
    assert one.state == "unpredictable"
    assert why in one.reason


def test_a_cleared_message_that_is_sent_again_is_exact() -> None:
    found = states(O, BEGUN, marked(*HEAD, note(), *ANSWERED))
    assert [one.state for one in found] == ["exact", "exact"]


def test_qwen_may_still_be_writing_while_it_answers() -> None:
    body, model = marked(), "dashscope/qwen3-max"
    assert states(model, body, body)[1].state == "exact"
    long = {**body, "max_tokens": 32_000}
    one = states(model, long, long)[1]
    assert one.state == "unpredictable"
    assert "once the answer has ended" in one.reason
    answered = {**long, "messages": [*HEAD, *ANSWERED]}
    assert states(model, long, answered)[1].state == "exact"


@pytest.mark.parametrize(
    ("model", "more"),
    [
        ("vertex_ai/claude-opus-4-8@default", {"inference_geo": "us"}),
        ("vertex_ai/claude-opus-4-8@default", {"speed": "fast"}),
        ("openrouter/anthropic/claude-opus-4.8", {"speed": "fast"}),
        ("bedrock/anthropic.claude-opus-4-8", {"performanceConfig": {"latency": "optimized"}}),
    ],
)
def test_a_factor_that_the_provider_does_not_state_is_not_priced(model: str, more: Body) -> None:
    assert pg.simulate_cache([marked()], model=model).nano_dollars is not None
    assert pg.simulate_cache([marked(**more)], model=model).nano_dollars is None


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("anthropic/claude-sonnet-4-6", "1,024 to 2,048"),
        ("anthropic/claude-opus-99", "assumed as for"),
    ],
)
def test_a_minimum_that_is_no_one_figure_is_told_as_a_range(model: str, said: str) -> None:
    reach = pg.simulate_cache([marked()], model=model).reach
    assert said in reach.line
    assert "other sources or models" in reach.line


def test_a_life_that_not_every_source_knows_is_never_certain() -> None:
    """OpenAI's types have 12h for Responses, its guide of October 2026 names 30m alone."""
    for life, state in (("30m", "exact"), ("12h", "unpredictable")):
        options = {"prompt_cache_options": {"ttl": life}}
        first, second = states(SOL, asked(**options), asked(*HEAD, turn("b"), **options))
        assert (first.state, second.state) == (state, state)
        assert second.read > 2_000
        for found in (first, second):
            assert ("marks may have a lifetime of 12h" in found.reason) is (life == "12h")


def test_a_mark_before_the_entry_is_not_said_to_look_back_too_little() -> None:
    text = "A rule of the harbour, word for word. " * 600
    mark = {"cache_control": {"type": "ephemeral"}}
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}, {"type": "text", "text": text}]
    late = [{"role": "user", "content": [parts[0], {**parts[1], **mark}]}]
    early = [{"role": "user", "content": [{**parts[0], **mark}, parts[1]]}]
    bodies = [{"model": "claude-sonnet-4-5", "messages": messages} for messages in (late, early)]
    assert (
        pg.simulate_cache(bodies).requests[1].reason
        == "the entry at block 1 is after the last mark"
    )


@pytest.mark.parametrize("model", [{"name": "x"}, ["x"], 3])
def test_a_model_that_is_no_text_is_simulated_all_the_same(model: Any, tmp_path: Path) -> None:
    body = {"model": model, "max_tokens": 5, "messages": [{"role": "user", "content": "Hello"}]}
    file = tmp_path / "requests.jsonl"
    file.write_text("\n".join([json.dumps(body)] * 2))
    session = pg.load_session(file)
    states = {each.state for each in pg.simulate_cache(session, policy="as-sent").requests}
    assert states == {"unknown-provider"}


def test_messages_are_no_bodies() -> None:
    """A row of messages was simulated as empty requests."""
    with pytest.raises(InputFault, match=r"request 1: a message, not a body; .*pg\.session"):
        pg.simulate_cache([{"role": "user", "content": "Low water at Brest?"}])


def test_a_policy_in_the_place_of_the_dialect_is_refused() -> None:
    """It was taken for a model, because a model was second once."""
    session = pg.sample_sessions()["02-parallel-calls"]
    with pytest.raises(InputFault, match="'claude-code' is a policy; .*policy='claude-code'"):
        pg.simulate_cache(session, "claude-code")
