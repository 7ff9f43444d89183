"""What a request asks for beside its messages: kept of every provider's body, and asked again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import permutations, product
from typing import Any, Final

import pytest

import playground as pg
from playground.llm.completion_arguments import merge_parameters
from playground.questions.provider_payload import provider_payload
from playground.sessions.formats.atif import dump_atif
from playground.sessions.loading import load_sessions
from playground.sessions.native_format import dump_session
from playground.sessions.rows import bodies
from playground.sessions.session import Session
from playground.sessions.shapes.parameters import chat_parameters, parameters_of_body

SAID: Final = [{"role": "user", "content": "When is high water?"}]
TOOL: Final = {"name": "tides", "input_schema": {"type": "object", "properties": {}}}
FUNCTION: Final = {"name": "tides", "parameters": {"type": "object", "properties": {}}}
SCHEMA: Final = {"type": "object", "properties": {"high": {"type": "string"}}}
NAMED: Final = {"type": "function", "function": {"name": "tides"}}
# A body, and what is kept of it by the names that LiteLLM takes.
BODIES: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    "chat": (
        {
            "model": "gpt-4o", "messages": SAID,
            "tools": [{"type": "function", "function": FUNCTION}],
            "max_tokens": 77, "temperature": 0.25, "top_p": 0.9, "stop": ["</end>"], "seed": 11,
            "tool_choice": "required", "parallel_tool_calls": False, "n": 2, "logit_bias": {"9": 3},
            "response_format": {"type": "json_object"}, "reasoning_effort": "low", "user": "u-1",
            "frequency_penalty": 0.5, "presence_penalty": 0.75, "logprobs": True, "top_logprobs": 5,
        },
        {
            "max_tokens": 77, "temperature": 0.25, "top_p": 0.9, "stop": ["</end>"], "seed": 11,
            "tool_choice": "required", "parallel_tool_calls": False, "n": 2, "logit_bias": {"9": 3},
            "response_format": {"type": "json_object"}, "reasoning_effort": "low", "user": "u-1",
            "frequency_penalty": 0.5, "presence_penalty": 0.75, "logprobs": True, "top_logprobs": 5,
        },
    ),
    "responses": (
        {
            "model": "gpt-5", "input": "When is high water?", "max_output_tokens": 78,
            "store": False,
            "reasoning": {"effort": "high", "summary": "auto"}, "truncation": "auto",
            "text": {
                "format": {"type": "json_schema", "name": "tide", "schema": SCHEMA, "strict": True},
                "verbosity": "low",
            },
            "tools": [{"type": "function", **FUNCTION}],
            "tool_choice": {"type": "function", "name": "tides"},
        },
        {
            "max_tokens": 78, "store": False, "reasoning_effort": "high", "truncation": "auto",
            "reasoning": {"summary": "auto"}, "verbosity": "low", "tool_choice": NAMED,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "tide", "schema": SCHEMA, "strict": True},
            },
        },
    ),
    "anthropic": (
        {
            "model": "claude-sonnet-4-5", "system": "Be brief.", "messages": SAID, "tools": [TOOL],
            "max_tokens": 2048, "stop_sequences": ["</end>"], "top_k": 40, "temperature": 1,
            "thinking": {"type": "enabled", "budget_tokens": 1024}, "metadata": {"user_id": "u-2"},
            "tool_choice": {"type": "tool", "name": "tides", "disable_parallel_tool_use": True},
        },
        {
            "max_tokens": 2048, "stop": ["</end>"], "top_k": 40, "temperature": 1,
            "thinking": {"type": "enabled", "budget_tokens": 1024}, "metadata": {"user_id": "u-2"},
            "tool_choice": NAMED, "parallel_tool_calls": False,
        },
    ),
    "gemini": (
        {
            "contents": [{"role": "user", "parts": [{"text": "When is high water?"}]}],
            "tools": [{"functionDeclarations": [FUNCTION]}],
            "generationConfig": {
                "maxOutputTokens": 79, "temperature": 0.5, "topP": 0.8, "topK": 20, "seed": 12,
                "stopSequences": ["</end>"], "candidateCount": 3, "presencePenalty": 0.1,
                "thinkingConfig": {"thinkingBudget": 512, "includeThoughts": True},
                "responseModalities": ["TEXT"],
            },
            "toolConfig": {
                "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["tides"]}
            },
            "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
        },
        {
            "max_tokens": 79, "temperature": 0.5, "top_p": 0.8, "top_k": 20, "seed": 12,
            "stop": ["</end>"], "n": 3, "presence_penalty": 0.1, "tool_choice": NAMED,
            "thinking": {"type": "enabled", "budget_tokens": 512}, "responseModalities": ["TEXT"],
            "safety_settings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
        },
    ),
    "bedrock converse": (
        {
            "modelId": "anthropic.claude-sonnet-4-5-v1:0",
            "messages": [{"role": "user", "content": [{"text": "When is high water?"}]}],
            "inferenceConfig": {"maxTokens": 80, "topP": 0.7, "stopSequences": ["</end>"]},
            "additionalModelRequestFields": {"top_k": 30},
            "toolConfig": {
                "tools": [{"toolSpec": {"name": "tides", "inputSchema": {"json": SCHEMA}}}],
                "toolChoice": {"any": {}},
            },
            "guardrailConfig": {"guardrailIdentifier": "g-1", "guardrailVersion": "1"},
        },
        {
            "max_tokens": 80, "top_p": 0.7, "stop": ["</end>"], "top_k": 30,
            "tool_choice": "required",
            "guardrailConfig": {"guardrailIdentifier": "g-1", "guardrailVersion": "1"},
        },
    ),
    "bedrock invoke, Claude": (
        {
            "anthropic_version": "bedrock-2023-05-31", "max_tokens": 81, "messages": SAID,
            "tools": [TOOL], "tool_choice": {"type": "auto"},
        },
        {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 81, "tool_choice": "auto"},
    ),
    "bedrock invoke, Titan": (
        {
            "inputText": "When is high water?",
            "textGenerationConfig": {"maxTokenCount": 82, "topP": 0.6, "stopSequences": ["|"]},
        },
        {"max_tokens": 82, "top_p": 0.6, "stop": ["|"]},
    ),
    "bedrock invoke, Llama": (
        {"prompt": "When is high water?", "max_gen_len": 83, "temperature": 0.3},
        {"max_tokens": 83, "temperature": 0.3},
    ),
    "bedrock invoke, Nova": (
        {
            "messages": [{"role": "user", "content": [{"text": "When is high water?"}]}],
            "inferenceConfig": {"max_new_tokens": 84, "topK": 21},
        },
        {"max_tokens": 84, "top_k": 21},
    ),
    "ollama": (
        {
            "model": "llama3.2", "messages": SAID, "format": SCHEMA, "think": True, "stream": False,
            "options": {"num_predict": 85, "num_ctx": 8192, "repeat_penalty": 1.2, "seed": 13},
        },
        {
            "max_tokens": 85, "num_ctx": 8192, "repeat_penalty": 1.2, "seed": 13, "think": True,
            "stream": False,
            "response_format": {
                "type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}
            },
        },
    ),
    "cohere": (
        {
            "model": "command-r", "message": "When is high water?", "p": 0.4, "k": 6,
            "chat_history": [
                {"role": "USER", "message": "Hi."}, {"role": "CHATBOT", "message": "Hello."}
            ],
        },
        {"top_p": 0.4, "top_k": 6},
    ),
    "litellm": (
        {
            "model": "anthropic/claude-sonnet-4-5", "messages": SAID, "max_completion_tokens": 86,
            "extra_body": {"min_p": 0.05}, "reasoning_effort": "medium", "verbosity": "low",
        },
        {
            "max_completion_tokens": 86, "min_p": 0.05, "reasoning_effort": "medium",
            "verbosity": "low",
        },
    ),
}  # fmt: skip
# What is no parameter of a body, and the one word of a choice that each API has its own for.
_OTHERS: Final = {
    "model", "modelId", "messages", "input", "contents", "message", "chat_history", "prompt",
    "inputText", "system", "tools",
}  # fmt: skip
_WORDS: Final = {"any": "required", "ANY": "required", "tool": "function"}


def only(session: dict[str, Any] | str) -> Session:
    (loaded,) = load_sessions(session)
    assert [found.code for found in loaded.findings if found.severity != "info"] == []
    return loaded.session


def leaves(value: Any) -> Iterator[str]:
    """Every value that is no container and no switch, as JSON."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)
    elif not isinstance(value, bool) and value not in ("enabled", "OFF"):
        yield json.dumps(_WORDS.get(value, value) if isinstance(value, str) else value)


def asked_for(body: dict[str, Any]) -> set[str]:
    """The values that a raw body holds beside messages, tools and model."""
    rest = {key: value for key, value in body.items() if key not in _OTHERS}
    config = rest.get("toolConfig")
    if isinstance(config, dict):
        rest["toolConfig"] = {key: value for key, value in config.items() if key != "tools"}
    return set(leaves(rest))


@pytest.mark.parametrize("name", BODIES)
def test_what_a_body_asks_for_is_kept(name: str) -> None:
    body, kept = BODIES[name]
    session = only(body)
    assert session.parameters == kept
    assert session.messages[-1].text == "When is high water?"
    assert list(bodies(session.rows)) == [body]


@pytest.mark.parametrize("name", BODIES)
def test_no_value_of_a_body_is_gone(name: str) -> None:
    body, _ = BODIES[name]
    words = {'"auto"', '"required"', '"function"'}  # a choice in its provider's own words
    assert asked_for(body) - words <= set(leaves(only(body).parameters))


@pytest.mark.parametrize("name", BODIES)
def test_it_stays_in_a_file_and_in_atif(name: str) -> None:
    session = only(BODIES[name][0])
    assert pg.load_session(dump_session(session)) == session
    assert pg.load_session(dump_atif(session)).parameters == session.parameters


_KEPT_SCHEMA: Final = {
    "type": "json_schema",
    "json_schema": {"name": "reply", "schema": SCHEMA},
}
_OBJECT: Final = {"type": "json_object"}
_ANY: Final = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["tides"]}}
# Parameters that speak of one thing by several names, and what is kept of them in any order.
SEVERAL: Final[list[tuple[dict[str, Any], dict[str, Any]]]] = [
    (
        {"responseSchema": SCHEMA, "responseMimeType": "application/json"},
        {"response_format": _KEPT_SCHEMA},
    ),
    (
        {"response_json_schema": None, "response_schema": SCHEMA,
         "response_mime_type": "application/json", "temperature": 0},
        {"response_format": _KEPT_SCHEMA, "temperature": 0},
    ),
    (
        {"responseJsonSchema": SCHEMA, "responseMimeType": "text/x.enum"},
        {"response_format": _KEPT_SCHEMA, "responseMimeType": "text/x.enum"},
    ),
    (
        {"response_format": _KEPT_SCHEMA, "text": {"format": _OBJECT, "verbosity": "low"},
         "format": "json", "verbosity": "high"},
        {"response_format": _KEPT_SCHEMA, "verbosity": "high"},
    ),
    ({"text": {"format": _KEPT_SCHEMA}, "format": "json"}, {"response_format": _KEPT_SCHEMA}),
    (
        {"max_tokens": 1, "max_completion_tokens": 2, "max_output_tokens": 3, "maxTokens": 4},
        {"max_tokens": 1, "max_completion_tokens": 2},
    ),
    ({"maxOutputTokens": 3, "max_new_tokens": 4, "num_predict": 5}, {"max_tokens": 3}),
    ({"topP": 0.5, "top_p": 0.75, "p": 0.25}, {"top_p": 0.75}),
    ({"k": 3, "topK": 5}, {"top_k": 5}),
    ({"stopSequences": ["a"], "stop_sequences": ["b"], "stop": ["c"]}, {"stop": ["c"]}),
    ({"random_seed": 1, "seed": 2}, {"seed": 2}),
    ({"responseLogprobs": True, "logprobs": 5}, {"logprobs": True, "top_logprobs": 5}),
    (
        {"reasoning_effort": "low", "reasoning": {"effort": "high", "summary": "auto"},
         "thinkingConfig": {"thinkingLevel": "HIGH"}},
        {"reasoning_effort": "low", "reasoning": {"summary": "auto"}},
    ),
    (
        {"thinkingConfig": {"thinkingLevel": "HIGH"}, "reasoning": {"effort": "low"}},
        {"reasoning_effort": "low"},
    ),
    (
        {"thinking": {"type": "disabled"}, "thinkingConfig": {"thinkingBudget": 8,
         "includeThoughts": True}},
        {"thinking": {"type": "disabled"}},
    ),
    (
        {"parallel_tool_calls": True,
         "tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
        {"tool_choice": "required", "parallel_tool_calls": True},
    ),
    (
        {"tool_choice": "none", "toolChoice": {"any": {}}, "toolConfig": _ANY},
        {"tool_choice": "none"},
    ),
    (
        {"toolConfig": {"toolChoice": {"auto": {}}, **_ANY}, "temperature": 1},
        {"tool_choice": "auto", "temperature": 1},
    ),
    ({"toolConfig": {**_ANY, "retrievalConfig": {}}},
     {"tool_choice": NAMED, "toolConfig": {"retrievalConfig": {}}}),
]  # fmt: skip


def orders(value: Any) -> Iterator[Any]:
    """A JSON value with the fields of its objects, and of those in them, in every order."""
    if not isinstance(value, dict):
        yield value
        return
    for fields in permutations(value.items()):
        for inner in product(*(orders(held) for _, held in fields)):
            yield dict(zip((name for name, _ in fields), inner, strict=True))


@pytest.mark.parametrize(("given", "kept"), SEVERAL, ids=lambda each: "-".join(each))
def test_the_order_of_its_names_changes_no_parameter(
    given: dict[str, Any], kept: dict[str, Any]
) -> None:
    for each in orders(given):
        assert chat_parameters(each) == kept
        for body in ({"generationConfig": each}, {"extra_body": each}, {"options": each}):
            assert parameters_of_body(body) == kept


def test_a_schema_of_gemini_is_kept_wherever_its_media_type_stands() -> None:
    config = {"responseSchema": SCHEMA, "responseMimeType": "application/json"}
    for each in (config, dict(reversed(config.items()))):
        body = {"contents": [{"role": "user", "parts": [{"text": "?"}]}], "generationConfig": each}
        assert only(body).parameters == {"response_format": _KEPT_SCHEMA}


def test_a_command_and_source_keep_theirs() -> None:
    body, kept = BODIES["anthropic"]
    command = f"curl https://api.anthropic.com/v1/messages -d '{json.dumps(body)}'"
    assert pg.load_session(command + "\n").parameters == kept
    call = f"client.messages.create(**{{}}, {', '.join(f'{k}={v!r}' for k, v in body.items())})\n"
    assert pg.load_session(call).parameters == kept
    held, parameters = BODIES["gemini"]
    config = {**held["generationConfig"], "system_instruction": "Be brief.", "tools": held["tools"]}
    call = f"client.models.generate_content(contents={held['contents']!r},\n config={config!r})\n"
    session = pg.load_session(call)
    assert session.messages[0].text == "Be brief."
    assert [tool.name for tool in session.tools] == ["tides"]
    assert session.parameters.items() <= parameters.items()


def test_the_last_request_of_several_is_asked_again() -> None:
    again = {"role": "assistant", "content": "At six."}
    rows = [
        {"request": {"model": "m", "messages": SAID, "max_tokens": 5, "seed": 1}, "session": "s"},
        {"request": {"model": "m", "messages": [*SAID, again, *SAID], "seed": 2}, "session": "s"},
    ]
    session = only("\n".join(map(json.dumps, rows)))
    assert session.parameters == {"seed": 2}
    assert [body.get("seed") for body in bodies(session.rows)] == [1, 2]


def test_a_row_to_train_on_asks_for_nothing() -> None:
    row = {"messages": SAID, "source": "harbour", "user": "u", "format": "chat", "n": 3}
    session = only(row)
    assert session.parameters == {}
    assert session.rows == ()


def test_the_payload_asks_for_what_the_session_asked_for() -> None:
    session = only(BODIES["chat"][0])
    found = provider_payload(session, "native", model="OpenAI")
    assert found.body["max_tokens"] == 77
    assert found.body["stop"] == ["</end>"]
    told_of = [(each.code, each.where) for each in found.differences]  # one reply; no reasoning
    assert told_of == [("parameter-dropped", "reasoning_effort"), ("parameter-left", "n")]
    named = provider_payload(session, "native", model="OpenAI", parameters={"max_tokens": 9})
    assert named.body["max_tokens"] == 9
    told = provider_payload(only(BODIES["anthropic"][0]), "native", model="Anthropic").body
    sent = BODIES["anthropic"][0]
    for name in ("max_tokens", "stop_sequences", "thinking", "tool_choice", "temperature", "top_k"):
        assert told.get(name) == sent[name], name


def test_what_was_of_the_old_request_alone_is_not_called_lost() -> None:
    """What no adapter was given, none has dropped; and no key is told of."""
    key = "sk-" + "proj-" + "a1B2c3D4" * 5
    body = BODIES["chat"][0] | {"metadata": {"run": "7"}, "extra_body": {"api_key": key}}
    session = only(body)
    found = provider_payload(session, "native", model="OpenAI")
    left = [each.where for each in found.differences if each.code == "parameter-left"]
    assert sorted(left) == ["api_key", "metadata", "n"]
    more = {"metadata": {"run": "8"}, "extra_headers": {"Authorization": f"Bearer {key}"}}
    given = provider_payload(session, "native", model="OpenAI", parameters=more)
    told = [f"{each.code} {each.where}: {each.message}" for each in given.differences]
    assert any(line.startswith("parameter-dropped extra_headers") for line in told)
    assert not any(line.startswith("parameter-left metadata") for line in told)
    assert key[8:] not in "".join(told)


def test_a_file_does_not_say_where_its_request_goes() -> None:
    given = {"api_base": "http://192.0.2.1", "model": "other", "mock_response": "x", "seed": 3}
    assert merge_parameters(given, {}, [TOOL]) == {"seed": 3}
    assert merge_parameters({"tool_choice": "auto"}, {"top_p": 1}, None) == {"top_p": 1}
