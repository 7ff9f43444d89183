"""A word of a body that nobody knows takes the certainty away, and is named by its path."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_cache_truth import LONG, MARK, ROUTES, Body, second, turn

import playground as pg
from playground.cache.rules import rule_sets, rules_of

KNOWN_MODELS = {
    "anthropic": "anthropic/claude-opus-5",
    "bedrock": "bedrock/anthropic.claude-opus-5",
    "vertex": "vertex_ai/claude-opus-5",
    "openrouter": "openrouter/anthropic/claude-opus-5",
    "openai": "openai/gpt-6.1-sol",
    "azure": "azure/gpt-6.1-sol",
    "bedrock-openai": "bedrock/openai.gpt-5.6-sol",
    "qwen": "dashscope/qwen3.7-max",
    "qwen4": "dashscope/qwen4-max",
    "gemini": "gemini/gemini-3.8-flash",
}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
PNG = {"type": "base64", "media_type": "image/png", "data": "aGk="}


def messages_body() -> Body:
    """A body of Anthropic's with something of every level."""
    text = {"type": "text", "text": LONG, "cache_control": {"type": "ephemeral", "ttl": "5m"}}
    call = {"type": "tool_use", "id": "t", "name": "look", "input": {"a": "b"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "c"}]}
    return {
        "max_tokens": 9,
        "thinking": {"type": "adaptive"},
        "tool_choice": {"type": "auto"},
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
        "tools": [{"name": "look", "description": "d", "input_schema": SCHEMA}],
        "system": [text],
        "messages": [
            turn([{"type": "image", "source": PNG}, {"type": "text", "text": "hi"}]),
            turn([call], "assistant"),
            turn([result]),
        ],
    }


def chat_body() -> Body:
    function = {"name": "look", "description": "d", "parameters": SCHEMA}
    call = {"id": "t", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return {
        "tools": [{"type": "function", "function": function}],
        "functions": [dict(function, name="older")],
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}},
        "messages": [
            turn([{"type": "text", "text": LONG}], "system"),
            turn([{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}]),
            {"role": "assistant", "content": "so", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "t", "content": "c"},
            turn("more"),
        ],
    }


def responses_body() -> Body:
    return {
        "reasoning": {"effort": "low"},
        "text": {"verbosity": "low", "format": {"type": "text"}},
        "prompt_cache_options": {"mode": "implicit"},
        "tools": [{"type": "function", "name": "look", "parameters": SCHEMA, "strict": True}],
        "input": [
            turn([{"type": "input_text", "text": LONG}], "developer"),
            turn("hi"),
            {"type": "function_call", "call_id": "t", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "t", "output": "c"},
            turn("more"),
        ],
    }


def converse_body() -> Body:
    spec = {"name": "look", "description": "d", "inputSchema": {"json": SCHEMA}}
    result = {"toolUseId": "t", "content": [{"text": "c"}]}
    return {
        "inferenceConfig": {"maxTokens": 9},
        "additionalModelRequestFields": {"thinking": {"type": "adaptive"}},
        "toolConfig": {"tools": [{"toolSpec": spec}], "toolChoice": {"auto": {}}},
        "system": [{"text": LONG}, {"cachePoint": {"type": "default"}}],
        "messages": [
            turn([{"text": "hi"}]),
            turn([{"toolUse": {"toolUseId": "t", "name": "look", "input": {}}}], "assistant"),
            turn([{"toolResult": result}]),
        ],
    }


def gemini_body() -> Body:
    declared = {"name": "look", "description": "d", "parameters": SCHEMA}
    return {
        "systemInstruction": {"parts": [{"text": LONG}]},
        "tools": [{"functionDeclarations": [declared]}],
        "generationConfig": {"temperature": 0},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    }


BODIES = {
    "messages": messages_body(),
    "chat": chat_body(),
    "responses": responses_body(),
    "converse": converse_body(),
    "gemini": gemini_body(),
}
FREE = {"input_schema", "parameters", "input", "schema", "json", "data"}  # nobody's words


def objects(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each object in a body in which words are the provider's."""
    if isinstance(value, dict):
        yield path
        for key, item in value.items():
            if key not in FREE or isinstance(item, list):
                yield from objects(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from objects(item, (*path, number))


def forms_of(provider: str) -> list[str]:
    return [form for form in rules_of(provider).value("words") if form in BODIES]


CASES = [(provider, form) for provider in KNOWN_MODELS for form in forms_of(provider)]


def at(body: Body, path: tuple[Any, ...]) -> Any:
    for step in path:
        body = body[step]
    return body


@pytest.mark.parametrize(("provider", "form"), CASES)
@given(st.data(), st.from_regex(r"zz[a-z_]{2,12}", fullmatch=True))
def test_an_unknown_word_at_any_depth_takes_the_certainty_away(
    provider: str, form: str, data: st.DataObject, word: str
) -> None:
    body, model = copy.deepcopy(BODIES[form]), KNOWN_MODELS[provider]
    path = data.draw(st.sampled_from(list(objects(body))))
    place = at(body, path)
    named = [key for key in ("type", "role") if key in place and path]
    key = data.draw(st.sampled_from([word, *named]))
    place[key] = word
    for found in pg.simulate_cache([body, body], model=model).requests:
        assert found.state in ("unpredictable", "eligible"), found
        assert word in found.reason
        assert "no rule mentions" in found.reason


@pytest.mark.parametrize(("provider", "form"), CASES)
def test_the_bodies_of_this_law_hold_no_unknown_word(provider: str, form: str) -> None:
    body = BODIES[form]
    for found in pg.simulate_cache([body, body], model=KNOWN_MODELS[provider]).requests:
        assert "no rule mentions" not in found.reason


def test_every_provider_that_promises_something_is_in_this_law() -> None:
    sure = {name for name, rules in rule_sets().items() if rules.match in ("breakpoints", "exact")}
    assert sure - set(KNOWN_MODELS) <= {"bedrock-nova", "minimax"}
    assert set(KNOWN_MODELS) <= set(ROUTES)


def with_setting(path: str, value: Any) -> Body:
    """A body with one setting at a path."""
    body: Body = {"messages": [turn([{"type": "text", "text": LONG, "cache_control": MARK}])]}
    body |= {"system": "s", "max_tokens": 9}
    *outer, last = path.split(".")
    place: Body = body
    for name in outer:
        place = place.setdefault(name, {})
    place[last] = value
    return body


@pytest.mark.parametrize(
    ("path", "one", "other"),
    [
        (
            "output_config.task_budget",
            {"type": "tokens", "total": 9},
            {"type": "tokens", "total": 8},
        ),
        ("container", "c1", "c2"),
        ("betas", ["a"], ["b"]),
        ("inference_geo", "us", "global"),
    ],
)
def test_a_setting_of_which_no_rule_says_what_it_loses_is_named_where_it_changes(
    path: str, one: Any, other: Any
) -> None:
    first, then = with_setting(path, one), with_setting(path, other)
    assert second("claude-opus-5", first, first).state == "exact"
    found = second("claude-opus-5", first, then)
    assert found.state == "unpredictable"
    assert f"{path} changed" in found.reason


def test_older_functions_of_openai_are_tools() -> None:
    functions = [{"name": "look", "description": "d " * 2_000, "parameters": SCHEMA}]
    body = {"functions": functions, "messages": [turn(LONG, "system"), turn("hi")]}
    bare = {"messages": body["messages"]}
    model = "openai/gpt-5.6-luna"
    with_them, without = (pg.simulate_cache([one], model=model).requests[0] for one in (body, bare))
    assert with_them.total > without.total + 700
    fewer = {**body, "functions": [{**functions[0], "name": "other"}]}
    assert second(model, body, body).read > 0
    assert second(model, body, fewer).read == 0
    answer = {"role": "assistant", "content": None,
              "function_call": {"name": "look", "arguments": "{}"}}  # fmt: skip
    result = {"role": "function", "name": "look", "content": "found"}
    after = {**body, "messages": [*body["messages"], answer, result]}
    found = second(model, body, after)
    assert (found.state, found.read > 0) == ("exact", True)


OPAQUE: list[Any] = [
    {"type": "image", "source": {"type": "file", "file_id": "f"}},
    {"type": "document", "source": {"type": "file", "file_id": "f"}},
    {"type": "container_upload", "file_id": "f"},
]


@pytest.mark.parametrize("part", OPAQUE)
def test_where_a_size_is_not_in_the_body_the_minimum_is_not_certain(part: Body) -> None:
    text = {"type": "text", "text": "hi", "cache_control": MARK}
    short: Body = {"system": "s", "messages": [turn([part, text])]}
    found = pg.simulate_cache([short], model="claude-opus-5").requests[0]
    assert found.state == "unpredictable"
    assert "or more tokens may or may not reach" in found.reason
    long: Body = {"system": LONG, "messages": [turn([part, text])]}
    cell = pg.simulate_cache([long, long], model="claude-opus-5")
    assert [one.state for one in cell.requests] == ["exact", "exact"]
    assert any("the body does not show how long a picture" in line for line in cell.origins)
    assert json.dumps(cell.origins)


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "bash_20250124", "name": "bash"},
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
        {"type": "web_search_20250305", "name": "web_search"},
    ],
)
def test_a_tool_that_the_provider_defines_has_no_known_size(tool: Body) -> None:
    text = [{"type": "text", "text": "word " * 300, "cache_control": MARK}]
    body: Body = {"system": "s", "tools": [tool], "messages": [turn(text)]}
    found = pg.simulate_cache([body], model="claude-opus-5").requests[0]
    assert found.state == "unpredictable"
    assert "or more tokens" in found.reason or "a mark of their own" in found.reason


@pytest.mark.parametrize(
    ("model", "more"),
    [
        ("openai/gpt-6.1-sol", {"tools": [{"type": "mcp", "server_label": "x"}]}),
        ("claude-opus-5", {"tools": [{"type": "mcp_toolset", "mcp_server_name": "x"}]}),
        ("openai/gpt-6.1-sol",
         {"input": [turn(LONG, "developer"), {"type": "item_reference", "id": "i"}, turn("a")]}),
        ("openai/gpt-6.1-sol",
         {"input": [turn(LONG, "developer"),
                    turn([{"type": "input_image", "image_url": "https://a.b/c.png",
                           "detail": "auto"}])]}),
    ],
)  # fmt: skip
def test_what_the_provider_fetches_is_never_certain(model: str, more: Body) -> None:
    own = {"system": LONG, "messages": [turn("a")]}
    body = {**({"input": [turn(LONG, "developer"), turn("a")]} if "gpt" in model else own), **more}
    found = second(model, body, body)
    assert found.state == "unpredictable"
    assert "is not in the body" in found.reason


def test_a_picture_in_a_result_of_a_tool_is_a_picture() -> None:
    marked_text = turn([{"type": "text", "text": LONG, "cache_control": MARK}])
    result = {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": [{"type": "image", "source": PNG}],
    }
    first: Body = {"system": LONG, "messages": [marked_text]}
    then = {**first, "messages": [marked_text, turn("x", "assistant"), turn([result])]}
    assert second("claude-opus-5-5", first, then).read < 20_000
    assert second("claude-opus-5-5", first, {**then, "messages": then["messages"][:2]}).read > 0


def test_what_an_uncertain_request_left_is_not_certain() -> None:
    body = messages_body()
    for first in ({**body, "zz": 1}, {**body, "messages": [{**turn("a"), "zz": 1}]}):
        found = second("claude-opus-5", first, body)
        assert found.state == "unpredictable"
        assert "what an earlier request left is not known" in found.reason
    certain = pg.simulate_cache([{**body, "zz": 1}, body, body], model="claude-opus-5")
    assert certain.requests[2].state == "exact"  # the second has written it, or read it
