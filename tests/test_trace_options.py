"""What a traced call asked for: read of every tracing tool's own place for it, nothing unsaid."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from playground.sessions.loading import LoadedSession, load_sessions

SAID: Final = [{"role": "user", "content": "When is high water?"}]
ANSWER: Final = {"role": "assistant", "content": "At six."}
TIME: Final = "2026-01-02T03:04:05Z"
CHOSEN: Final = {"type": "function", "function": {"name": "tides"}}


def typed(value: Any) -> dict[str, Any]:
    """A value as OTLP writes it."""
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(each) for each in value]}}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def langsmith(asked: dict[str, Any], **extra: Any) -> dict[str, Any]:
    return {
        "id": "r", "run_type": "llm", "start_time": TIME, "inputs": {"messages": SAID},
        "outputs": {"choices": [{"message": ANSWER}]},
        "extra": {"invocation_params": asked, **extra},
    }  # fmt: skip


def otel(asked: dict[str, Any]) -> dict[str, Any]:
    known = {
        "gen_ai.input.messages": json.dumps(SAID),
        "gen_ai.output.messages": json.dumps([ANSWER]),
        **asked,
    }
    listed = [{"key": name, "value": typed(value)} for name, value in known.items()]
    return {"spans": [{"name": "chat", "startTimeUnixNano": "1767323045", "attributes": listed}]}


def openinference(asked: str) -> dict[str, Any]:
    known = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "When is high water?",
        "llm.invocation_parameters": asked,
    }
    return {"spans": [{"name": "llm", "start_time": TIME, "attributes": known}]}


def langfuse(asked: Any, **given: Any) -> dict[str, Any]:
    call = {
        "type": "GENERATION", "startTime": TIME, "input": {"messages": SAID, **given},
        "output": ANSWER, "modelParameters": asked,
    }  # fmt: skip
    return {"trace": {"id": "t"}, "observations": [call]}


def ai_sdk(asked: dict[str, Any]) -> dict[str, Any]:
    known = {"ai.prompt.messages": json.dumps(SAID), "ai.response.text": "At six.", **asked}
    return {"spans": [{"name": "ai", "start_time": TIME, "attributes": known}]}


def posthog(asked: dict[str, Any]) -> list[dict[str, Any]]:
    known = {"$ai_input": SAID, "$ai_output_choices": [ANSWER], **asked}
    return [{"event": "$ai_generation", "timestamp": TIME, "properties": known}]


# What a tool wrote; what is kept, by the names that LiteLLM takes; and what is told as left out.
CASES: Final[dict[str, tuple[Any, dict[str, Any], str]]] = {
    "langsmith-runs": (
        langsmith(
            {
                "model": "m", "_type": "openai-chat", "temperature": 0.25, "max_tokens": 77,
                "stop": None, "tool_choice": CHOSEN, "parallel_tool_calls": False, "tags_of": "x",
            },
            options={"stop": ["</end>"]},
            metadata={"ls_temperature": 0.5, "ls_max_tokens": 78, "ls_stop": ["</other>"]},
        ),
        {
            "temperature": 0.25, "max_tokens": 77, "stop": ["</end>"], "tool_choice": CHOSEN,
            "parallel_tool_calls": False,
        },
        "tags_of",
    ),
    "otel-spans": (
        otel(
            {
                "gen_ai.request.model": "m", "gen_ai.request.temperature": 0.25,
                "gen_ai.request.max_tokens": 77, "gen_ai.request.top_k": 9.0,
                "gen_ai.request.stop_sequences": ["</end>", "12"], "gen_ai.request.seed": 11,
                "gen_ai.request.choice.count": 2, "gen_ai.request.encoding_formats": ["base64"],
                "gen_ai.openai.request.response_format": "json_object", "llm.is_streaming": True,
                "openai.request.service_tier": "flex",
            }
        ),
        {
            "temperature": 0.25, "max_tokens": 77, "top_k": 9.0, "stop": ["</end>", "12"],
            "seed": 11, "n": 2, "response_format": "json_object", "stream": True,
            "service_tier": "flex",
        },
        "encoding_formats",
    ),
    "openinference-spans": (
        openinference(
            json.dumps(
                {
                    "model": "m", "temperature": 0.25, "max_completion_tokens": 77, "n": 2,
                    "stop": "</end>", "extra_header": "y", "tools": [{"type": "function"}],
                    "tool_choice": {"type": "any"}, "reasoning": {"effort": "low"},
                }
            )
        ),
        {
            "temperature": 0.25, "max_completion_tokens": 77, "n": 2, "stop": "</end>",
            "tool_choice": "required", "reasoning_effort": "low",
        },
        "extra_header",
    ),
    "langfuse-trace": (
        langfuse(
            {
                "temperature": "0.25", "maxTokens": 77, "topP": "null", "stop": '["</end>", "12"]',
                "toolChoice": '{"type": "tool", "name": "tides"}', "seed": "", "user": "12",
                "frequency_penalty": 0, "stream": "false", "stop_sequences": '{"arrayValue":{}}',
                "mode": "None",
            },
            model="m", presence_penalty=0.5,
        ),
        {
            "temperature": 0.25, "max_tokens": 77, "stop": ["</end>", "12"], "tool_choice": CHOSEN,
            "user": "12", "frequency_penalty": 0, "stream": False, "presence_penalty": 0.5,
        },
        "mode",
    ),
    "ai-sdk-spans": (
        ai_sdk(
            {
                "ai.settings.maxOutputTokens": 77, "ai.settings.temperature": 0.25,
                "ai.settings.maxRetries": 2, "ai.prompt.toolChoice": '{"type":"required"}',
                "gen_ai.request.model": "m",
            }
        ),
        {"max_tokens": 77, "temperature": 0.25, "tool_choice": "required"},
        "maxRetries",
    ),
    "posthog-events": (
        posthog({"$ai_model_parameters": {"temperature": 0.25, "max_tokens": "inf"}}),
        {"temperature": 0.25},
        "max_tokens",
    ),
    "weave-calls": (
        [
            {
                "op_name": "chat", "started_at": TIME, "output": {"choices": [{"message": ANSWER}]},
                "inputs": {"model": "m", "messages": SAID, "temperature": 0.25, "seed": 11},
            }
        ],
        {"temperature": 0.25, "seed": 11},
        "",
    ),
}  # fmt: skip


def only(document: Any) -> LoadedSession:
    [loaded] = load_sessions(json.dumps(document))
    return loaded


def left_out(loaded: LoadedSession) -> str:
    return ", ".join(f.message for f in loaded.findings if f.code == "options-left-out")


@pytest.mark.parametrize("name", CASES)
def test_a_trace_says_what_its_last_call_asked_for(name: str) -> None:
    document, kept, odd = CASES[name]
    loaded = only(document)
    assert loaded.format == name
    assert loaded.session.parameters == kept
    assert left_out(loaded) == odd
    assert loaded.session.messages[-1].text in ("At six.", "When is high water?")


# The walk: any numbers and flags of a raw file, without a look at names of ours.
_PLACES: Final = ("invocation_params", "modelParameters", "$ai_model_parameters", "inputs", "input")


def numbers(value: Any, inside: bool = False) -> Iterator[float | str]:
    """The numbers in the places of options, and those of OTLP's typed attributes."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        value = json.loads(value)
    if isinstance(value, dict):
        for key, held in value.items():
            is_attribute = ".request." in key or ".settings." in key or "parameters" in key
            yield from numbers(held, inside or key in _PLACES or is_attribute)
        if ".request." in str(value.get("key")):
            yield from numbers([*value["value"].values()], True)
    elif isinstance(value, list):
        for each in value:
            yield from numbers(each, inside)
    elif inside and isinstance(value, int | float) and not isinstance(value, bool):
        yield value
    elif inside and isinstance(value, str) and value.replace(".", "").isdigit():
        yield float(value)


@pytest.mark.parametrize("name", CASES)
def test_no_number_of_options_is_gone_without_a_word(name: str) -> None:
    document, _, odd = CASES[name]
    loaded = only(document)
    raw = {float(number) for number in numbers(document)}
    kept = {float(number) for number in numbers({"input": loaded.session.parameters})}
    told = {2.0} if odd == "maxRetries" else set()
    assert raw - told == kept


def test_options_of_several_calls_are_those_of_the_last() -> None:
    first = langsmith({"temperature": 0.5, "seed": 1})
    second = langsmith({"temperature": 0.75})
    second |= {
        "id": "r2", "start_time": "2026-01-02T03:04:06Z",
        "inputs": {"messages": [*SAID, ANSWER, *SAID]},
    }  # fmt: skip
    assert only([first, second]).session.parameters == {"temperature": 0.75}


def test_options_in_no_form_are_told_and_harm_nothing() -> None:
    loaded = only(langfuse([1, 2]))
    assert loaded.session.parameters == {}
    assert left_out(loaded) == "a list in the place of options"
    secret = "sk-" + "a" * 40
    told = only(langsmith({"api_key": secret, "temperature": 1}))
    assert left_out(told) == "api_key"
    assert secret not in repr(told)


def test_a_text_that_looks_like_something_else_stays_one() -> None:
    given = {
        "prompt_cache_key": "20260102", "safety_identifier": "12", "guided_regex": "[1]",
        "suffix": "{}", "user": "[7]", "stop_sequences": "7", "conversation": '{"id": "c"}',
        "seed": "7",
    }  # fmt: skip
    kept = {**given, "seed": 7, "conversation": {"id": "c"}, "stop": "7"}
    del kept["stop_sequences"]
    assert only(langsmith(given)).session.parameters == kept
    listed = only(langsmith({"stop_sequences": '["7", "8"]'}))
    assert listed.session.parameters == {"stop": ["7", "8"]}


def test_a_number_that_json_has_not_is_told_and_kept_as_text() -> None:
    text = json.dumps(langsmith({"temperature": 9})).replace(": 9", ": 1e999")
    [loaded] = load_sessions(text)
    assert loaded.session.parameters == {"temperature": "1e999"}
    assert "not-a-number" in [found.code for found in loaded.findings]
