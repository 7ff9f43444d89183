"""What each provider would be sent, and what became of the session on the way."""

from __future__ import annotations

import base64
import json
import subprocess
from dataclasses import replace
from typing import Any, Final

import pytest
from pydantic import BaseModel
from terminals import run

import playground as pg
from playground.base.errors import InputFault
from playground.base.findings import CODES, finding
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import TaskConfig
from playground.nouns.tools import ToolMetadata
from playground.questions.provider_models import PROVIDERS
from playground.questions.provider_parameters import parameter_differences
from playground.questions.provider_payload import ProviderPayload, provider_payload
from playground.sessions.session import Session
from playground.show.payloads import payload_pane

TIDES: Final = ToolMetadata(
    name="tides",
    description="Tides of a port.",
    input_schema={
        "type": "object",
        "properties": {"port": {"type": "string", "format": "hostname"}},
        "required": ["port"],
    },
)
TALK: Final = (
    Message("user", (TextPart("When is high water?"),)),
    Message("assistant", (ToolCallPart("call_1", "tides", {"port": "Brest"}),)),
    Message("tool", (ToolResultPart("call_1", "tides", {"high": "05:12"}),)),
    Message("user", (TextPart("And in Nantes?"),)),
)
SESSION: Final = Session(
    task=TaskConfig(user_agent_prompt="You keep the tide tables."), tools=(TIDES,), messages=TALK
)


def codes(found: ProviderPayload) -> set[tuple[str, str]]:
    return {(f.code, f.where) for f in found.differences}


def how(found: ProviderPayload, code: str) -> list[str]:
    return [f.message for f in found.differences if f.code == code]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_has_a_body_that_says_the_session(provider: str) -> None:
    found = provider_payload(SESSION, "native", model=provider)
    said = json.dumps(found.body, ensure_ascii=False)
    for text in ("You keep the tide tables.", "When is high water?", "Brest", "05:12", "Nantes"):
        assert text in said
    assert found.calls[-1].url.startswith("http")
    assert "message-dropped" not in {f.code for f in found.differences}
    covered = sorted({index for wire in found.messages for index in wire.rendered})
    assert covered == list(range(len(found.rendering.messages)))


def test_openai_gets_what_was_rendered() -> None:
    found = provider_payload(SESSION, "native", model="OpenAI")
    assert found.differences == []
    sent, rendered = found.body["messages"], found.rendering.messages
    assert [m["role"] for m in sent] == [m["role"] for m in rendered]
    assert sent[2]["tool_calls"] == rendered[2]["tool_calls"]
    assert sent[3:] == rendered[3:]


def test_anthropic_moves_merges_and_adds() -> None:
    found = provider_payload(SESSION, "native", model="Anthropic")
    assert codes(found) == {
        ("system-moved", "message 0"),
        ("role-changed", "message 3"),
        ("messages-merged", "message 3"),
        ("parameter-added", "max_tokens"),
    }
    assert how(found, "messages-merged") == [
        "messages 3, 4 are sent as one message, with the role user"
    ]


def test_what_is_the_same_of_many_messages_is_told_once() -> None:
    found = [finding("role-changed", f"message {i}", "tool is sent as user") for i in range(12)]
    found.append(finding("role-changed", "message 3", "system is sent as user"))
    found += [finding("tools-in-prompt", f"tool {name}") for name in ("a", "b")]
    payload = replace(provider_payload(SESSION, "native", model="OpenAI"), differences=found)
    told, other, tools = payload.grouped
    assert told.where == "messages 0, 1, 2, 3, 4, 5, 6, 7 and 4 more"
    assert other.where == "message 3"
    assert tools.where == "tool a, tool b"


def test_a_pane_counts_one_difference_as_one() -> None:
    found = [finding("system-moved", "message 0", "it is a field")]
    payload = replace(provider_payload(SESSION, "native", model="OpenAI"), differences=found)
    assert payload_pane("sent", payload)["note"] == f"{payload.model}, 1 difference"


@pytest.mark.parametrize(
    ("provider", "given", "dropped"),
    [
        ("Anthropic", {"seed": 1, "temperature": 0}, ["seed"]),  # a 1 stands elsewhere in the body
        ("OpenAI", {"seed": 1, "temperature": 0}, []),
        ("Gemini", {"max_tokens": 77, "stop": ["</x>"], "temperature": 0}, []),
        ("Bedrock", {"max_tokens": 77, "stop": ["</x>"]}, []),
        ("Anthropic", {"tool_choice": "required"}, []),
        ("Gemini", {"tool_choice": {"type": "function", "function": {"name": "tides"}}}, []),
    ],
)
def test_a_parameter_is_found_by_its_name_or_its_value(
    provider: str, given: dict[str, Any], dropped: list[str]
) -> None:
    found = provider_payload(SESSION, "native", model=provider, parameters=given)
    assert [f.where for f in found.differences if f.code == "parameter-dropped"] == dropped


def test_a_tool_that_nobody_has_is_added_for_a_history_of_calls() -> None:
    bare = replace(SESSION, tools=())
    found = provider_payload(bare, "native", model="Anthropic")
    assert [f.where for f in found.differences if f.code == "tool-added"] == ["tool dummy_tool"]


def test_gemini_takes_part_of_a_schema() -> None:
    found = provider_payload(SESSION, "native", model="Gemini")
    assert how(found, "schema-changed") == ["it is sent without port.format"]
    assert ("system-moved", "message 0") in codes(found)


def test_a_keyword_that_says_something_else_is_told() -> None:
    """LiteLLM takes a text with properties for an object when it writes for Gemini."""
    data = {"type": "string", "properties": {"x": {"type": "string"}}, "required": ["x"]}
    tool = ToolMetadata(
        name="create",
        description="Create",
        input_schema={"type": "object", "properties": {"data": data}, "required": ["data"]},
    )
    found = provider_payload(
        replace(SESSION, tools=(tool,), messages=TALK[:1]), "native", model="Gemini"
    )
    assert how(found, "schema-changed") == [
        'it is sent with data.type "object" instead of "string"'
    ]


def test_a_provider_means_the_sessions_own_model_where_it_is_that_ones() -> None:
    asked = SESSION.with_model("gemini-3-flash-preview")
    assert (
        provider_payload(asked, "native", model="gemini").model == "gemini/gemini-3-flash-preview"
    )
    assert provider_payload(asked, "native", model="OpenAI").model == PROVIDERS["OpenAI"]
    assert provider_payload(SESSION, "native", model="Gemini").model == PROVIDERS["Gemini"]


def test_ollama_writes_everything_into_one_prompt() -> None:
    found = provider_payload(SESSION, "native", model="Ollama")
    assert ("tools-in-prompt", "tool tides") in codes(found)
    assert how(found, "messages-merged") == [
        "messages 0, 1, 2, 3, 4 are sent as one message, in the field prompt"
    ]
    assert ("parameter-added", "format") in codes(found)


def test_mistral_gets_parts_as_one_text_and_no_marks() -> None:
    session = pg.sample_sessions()["06-cache-eight-turns"]
    found = provider_payload(session, "native", model="Mistral")
    assert ("content-flattened", "message 15") in codes(found)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_image_arrives_or_is_said_to_be_dropped(provider: str) -> None:
    data = base64.b64encode(bytes(range(90))).decode()
    image = {"url": f"data:image/png;base64,{data}", "detail": "high"}
    parts = [{"type": "text", "text": "Paid?"}, {"type": "image_url", "image_url": image}]
    found = provider_payload(
        pg.session(messages=[{"role": "user", "content": parts}]), "native", model=provider
    )
    bodies = json.dumps([call.body for call in found.calls])
    dropped = [words for words in how(found, "message-dropped") if "image" in words]
    assert bool(dropped) == (data not in bodies)
    assert (("message-dropped", "message 0") in codes(found)) == (provider == "DeepSeek")
    detail = ("parameter-dropped", "message 0") in codes(found)
    assert detail == (not dropped and "detail" not in bodies and "HIGH" not in bodies)
    assert ("parameter-added", "images") not in codes(found)


def test_a_tool_with_a_parameter_detail_does_not_hide_that_an_image_lost_its_own() -> None:
    image = {"url": f"data:image/png;base64,{'abcd' * 30}", "detail": "high"}
    schema = {"type": "object", "properties": {"detail": {"type": "string"}}}
    session = pg.session(
        messages=[{"role": "user", "content": [{"type": "image_url", "image_url": image}]}],
        tools=[ToolMetadata(name="tides", description="Tides.", input_schema=schema)],
    )
    found = provider_payload(session, "native", model="Anthropic")
    assert "its image is sent without detail: high" in how(found, "parameter-dropped")


def test_marks_that_get_lost_are_told() -> None:
    rules = "You keep the tide tables. " * 400
    task = TaskConfig(user_agent_prompt=rules, model_name="anthropic/claude-sonnet-4-5")
    talk = (*TALK, Message("assistant", (TextPart("05:40"),)), Message("user", (TextPart("Why?"),)))
    session = replace(SESSION, task=task, messages=talk)
    kept = provider_payload(session, "xml", model="Anthropic")
    assert "cache_control" in json.dumps(kept.body)
    assert "mark-lost" not in {f.code for f in kept.differences}
    lost = provider_payload(session, pg.get_dialect("xml").with_policy("azad"), model="DeepSeek")
    marked = json.dumps(lost.rendering.messages).count("cache_control")
    assert len(how(lost, "mark-lost")) == marked


@pytest.mark.parametrize("provider", ["Anthropic", "OpenAI", "Gemini"])
def test_what_of_the_session_no_provider_is_sent_is_told(provider: str) -> None:
    """Signed thoughts, and the marks of a recorded request, were dropped without a word."""
    mark = {"cache_control": {"type": "ephemeral"}}
    thought = {"type": "thinking", "thinking": "Brest.", "signature": "c2ln"}
    asked, answer = {"type": "text", "text": "Tides?"}, {"type": "text", "text": "At noon."}
    body = {
        "model": "claude-sonnet-4-5",
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "system": [{"type": "text", "text": "Be brief.", **mark}],
        "messages": [
            {"role": "user", "content": [{**asked, **mark}]},
            {"role": "assistant", "content": [thought, answer]},
        ]
        * 2,
    }
    off = {"thinking": {"type": "disabled"}}
    found = provider_payload(pg.session(body), "native", model=provider, parameters=off)
    assert "c2ln" not in json.dumps(found.body)
    told = {(each.code, each.where, each.message) for each in found.grouped}
    thoughts = (
        "reasoning-dropped",
        "the session's messages 2, 4",
        CODES["reasoning-dropped"].meaning,
    )
    unplaced = f"3 marks; the policy 'azad' places none for {found.model}"
    assert thoughts in told
    assert (("marks-not-placed", "the recorded request", unplaced) in told) == (
        provider != "Anthropic"
    )
    assert "mark-lost" not in {each.code for each in found.differences}
    policy_none = pg.cache_on_wire(pg.session(body), policy="none", model=found.model).findings
    assert [(each.code, each.severity) for each in policy_none] == [("marks-not-placed", "info")]


def test_parameters_that_arrive_under_another_name_or_not_at_all() -> None:
    given: dict[str, Any] = {
        "temperature": 0.25,
        "stop": ["</call>"],
        "logit_bias": {"50256": -100},
    }
    found = provider_payload(SESSION, "native", model="Anthropic", parameters=given)
    assert found.body["stop_sequences"] == ["</call>"]
    assert [f.where for f in found.differences if f.code == "parameter-dropped"] == ["logit_bias"]
    assert provider_payload(SESSION, "native", model="OpenAI", parameters=given).differences == []


def test_what_a_provider_refuses_is_one_clear_error() -> None:
    """Hermes hands results back in the role tool, without the ids that Anthropic wants."""
    told = "LiteLLM refuses .* results in messages of the role 'tool' without 'tool_call_id'"
    for provider in ("Anthropic", "Gemini"):
        with pytest.raises(InputFault, match=told):
            provider_payload(SESSION, "hermes", model=provider)
    with pytest.raises(InputFault, match="not known to stay offline"):
        provider_payload(SESSION, "native", model="vertex_ai/gemini-2.5-pro")


def test_a_later_system_message_is_moved_to_the_front_with_the_first() -> None:
    later = Message("system", (TextPart("The wind has changed."),))
    session = replace(SESSION, messages=(*TALK, later, TALK[-1]))
    found = provider_payload(session, "native", model="Gemini")
    assert ("system-moved", "message 5") in codes(found)
    assert "messages 0, 5 are sent as one message, with the role system" in how(
        found, "messages-merged"
    )


def test_messages_that_say_the_same_are_not_taken_for_one_another() -> None:
    ok = Message("user", (TextPart("ok"),))
    answer = Message("assistant", (TextPart("ok"),))
    session = replace(SESSION, messages=(ok, answer, ok, answer, ok), tools=())
    found = provider_payload(session, "native", model="OpenAI")
    assert [wire.rendered for wire in found.messages] == [(0,), (1,), (2,), (3,), (4,), (5,)]
    assert found.differences == []
    bare = Session(task=TaskConfig(system_rules=False), messages=(ok, answer))
    found = provider_payload(bare, "native", model="OpenAI")  # no system message comes first
    assert [(wire.role, wire.rendered) for wire in found.messages] == [
        ("user", (0,)),
        ("assistant", (1,)),
    ]
    call = Message("assistant", (TextPart("ok"), ToolCallPart("1", "ok", {})))
    result = Message("tool", (ToolResultPart("1", "ok", "ok"),))
    session = replace(SESSION, messages=(ok, call, result, answer, ok), tools=())
    found = provider_payload(session, "native", model="Anthropic")
    assert [wire.rendered for wire in found.messages] == [(0,), (1,), (2,), (3,), (4,), (5,)]


def asked(*more: str) -> subprocess.CompletedProcess[str]:
    return run("payload", "02-parallel-calls", *more)


@pytest.mark.long
def test_a_payload_as_json_and_a_refusal() -> None:
    done = asked("--json", "--provider", "Gemini")
    (told,) = json.loads(done.stdout)
    assert done.returncode == 0
    assert told["calls"][0]["body"]["system_instruction"]
    assert {"code": "schema-changed", "where": "tool get_weather"}.items() <= (
        told["differences"][-1].items()
    )
    done = asked("-d", "hermes", "--provider", "Anthropic")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_payloads_on_the_command_line() -> None:
    done = asked("-d", "hermes")
    assert done.returncode == 0
    assert "OpenAI (openai/gpt-4o): 0 differences" in done.stdout
    assert "Anthropic: LiteLLM refuses to send this to" in done.stdout


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"messages": []}, "messages cannot be set here"),
        ({"api_base": "http://127.0.0.1:9", "model": "x"}, "api_base, model cannot be set here"),
        ({"mock_response": "x"}, "mock_response cannot be set here"),
    ],
)
def test_parameters_that_cannot_be_sent_are_one_clear_error(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputFault, match=said):
        provider_payload(SESSION, "native", model="Gemini", parameters=given)


@pytest.mark.parametrize("given", [{"session": 1, "dialect": 2, "self": 3}, {"stream": True}])
def test_odd_parameters_are_sent_or_said_to_be_dropped(given: dict[str, Any]) -> None:
    for provider in ("OpenAI", "Anthropic", "Gemini"):
        found = provider_payload(SESSION, "native", model=provider, parameters=given)
        dropped = {told.where for told in found.differences if told.code == "parameter-dropped"}
        assert given.keys() == (given.keys() & found.body.keys()) ^ dropped


def test_a_zero_that_an_adapter_adds_is_told_and_no_key_that_it_adds() -> None:
    key = "sk-ant-" + "api03-" + "AbCd1234" * 6
    sent = {"temperature": 0, "top_p": 0.0, "stream": False, "user": key, "stop": []}
    told = {found.where: found.message for found in parameter_differences({}, sent)}
    assert told.keys() == {"temperature", "top_p", "user"}
    assert key not in "".join(told.values())


def test_a_class_for_the_answer_is_a_parameter() -> None:
    class Tide(BaseModel):
        height: float

    found = provider_payload(
        SESSION, "native", model="OpenAI", parameters={"response_format": Tide}
    )
    assert found.body["response_format"]["json_schema"]["name"] == "Tide"
    (dropped,) = parameter_differences({"response_format": Tide}, {})
    assert dropped.message.startswith('"Tide" is not sent')


def test_a_session_without_a_user_message_says_what_it_lacks() -> None:
    tools_alone = Session(task=TaskConfig(user_agent_prompt="Keep."), tools=(TIDES,))
    with pytest.raises(InputFault, match="the session has no user message") as told:
        provider_payload(tools_alone, "native", model="Anthropic")
    assert "write it on Compare" in str(told.value)
    assert "LiteLLM" not in str(told.value)


def test_a_provider_that_nobody_knows_is_an_error_that_lists_those_there_are() -> None:
    with pytest.raises(InputFault, match="no provider 'nope'") as told:
        provider_payload(SESSION, "native", model="nope")
    assert all(name in str(told.value) for name in PROVIDERS)
    assert "openai/nope" in str(told.value)
    for name in ("gpt-4o", "openai/nope", "claude-sonnet-4-5", "ANTHROPIC"):
        assert provider_payload(SESSION, "native", model=name).calls


def test_a_schemas_own_description_is_told_apart_from_the_tools() -> None:
    schema = {**TIDES.input_schema, "description": "What it takes."}
    told = TIDES.model_copy(update={"input_schema": schema})
    found = provider_payload(replace(SESSION, tools=(told,)), "native", model="Anthropic")
    assert how(found, "schema-changed") == ["it is sent without parameters.description"]
