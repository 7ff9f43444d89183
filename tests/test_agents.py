"""Prompt, Tool and ChatModel: filled, declared, asked, called; every model by one interface."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from terminals import run

from playground.base.errors import InputFault, PlaygroundError, UnknownNameError
from playground.nouns.tool_formats import create_schema_from_function
from playground.plugins.systems.flink_agents import (
    BaseTool,
    ChatMessage,
    ChatModel,
    ChatModelSetup,
    ChatResponseEvent,
    Completion,
    FunctionTool,
    LiteLLMModel,
    MessageRole,
    Prompt,
    ResourceType,
    ScriptedModel,
    ToolMetadata,
    ToolResponseEvent,
    ToolType,
    chat_events,
    chat_model,
    chat_model_setup,
    load_declarations,
    prompt,
    scan,
    tool,
)
from playground.plugins.systems.flink_agents.chat_message import (
    lost_calls,
    to_anthropic_message,
    to_anthropic_request,
    to_openai_message,
)
from playground.plugins.systems.flink_agents.chat_model import Messages
from playground.plugins.systems.flink_agents.completion import Piece
from playground.plugins.systems.flink_agents.prompt import prompt_of_mcp
from playground.plugins.systems.flink_agents.replies import extract_reasoning
from playground.plugins.systems.flink_agents.tools import to_openai_tool
from playground.plugins.systems.flink_agents.upstream import (
    from_java_schema,
    rebuilt_schema,
    to_java_schema,
)
from playground.plugins.systems.flink_agents.views import read_prompt, view_prompt, view_tool
from playground.plugins.trials.demo_server import DemoServer, serving

CALL: Final = {
    "id": "u1",
    "type": "function",
    "function": {"name": "add", "arguments": {"a": 1, "b": 2}},
    "original_id": "call_1",
}
ASKED: Final = [ChatMessage(content="1 + 2?")]


def add(a: int, b: int) -> int:
    """Add.

    Parameters
    ----------
    a : int
        The first.
    b : int
        The second.
    """
    return a + b


def said(content: str = "", **more: Any) -> ChatMessage:
    return ChatMessage(role=MessageRole.ASSISTANT, content=content, **more)


# prompts


def test_a_text_is_filled_as_text_and_as_messages() -> None:
    made = Prompt.from_text("A prompt about {topic}, {missing}.")
    assert made.format_string(topic="tides") == "A prompt about tides, {missing}."
    (message,) = made.format_messages(topic="tides")
    assert (message.role, message.content) == ("system", "A prompt about tides, {missing}.")
    assert made.variables == ["topic", "missing"]
    assert made.missing({"topic": 1}) == ["missing"]


def test_the_role_of_a_text_is_systems_unless_it_is_given() -> None:
    """The design document says user; the code that is in use writes system."""
    assert Prompt.from_text("x").format_messages()[0].role == "system"
    assert Prompt.from_text("x", MessageRole.USER).format_messages()[0].role == "user"
    assert Prompt.from_text("x", "user").format_messages(role="tool")[0].role == "tool"
    with pytest.raises(
        InputFault, match="unknown role 'pirate'.*one of system, user, assistant, tool"
    ):
        Prompt.from_text("x", "pirate")


def test_messages_keep_their_roles_and_send_no_extra_args() -> None:
    made = Prompt.from_messages(
        [
            {"role": "system", "content": "You know {topic}."},
            {"role": "assistant", "content": "Spring, the", "extra_args": {"partial": True}},
        ]
    )
    assert made.format_string(topic="tides") == (
        "system: You know tides.\nassistant: Spring, the{'partial': True}"
    )
    assert [m.model_dump() for m in made.format_messages({"topic": "tides"})] == [
        {"role": "system", "content": "You know tides.", "tool_calls": [], "extra_args": {}},
        {"role": "assistant", "content": "Spring, the", "tool_calls": [], "extra_args": {}},
    ]


@pytest.mark.parametrize(
    ("text", "values", "filled"),
    [
        ("{{x}}", {"x": 1}, "{1}"),
        ('{"id": 1}', {}, '{"id": 1}'),
        ("{ x }{x!r}{x:>5}{}", {"x": 1}, "{ x }{x!r}{x:>5}{}"),
        ("{ x }", {" x ": 1}, "1"),
        ("{a}{b}", {"a": "{b}", "b": "{a}"}, "{b}{a}"),
        ("{role}{self}{values}", {"role": "r", "self": "s", "values": "v"}, "rsv"),
    ],
)
def test_one_pass_and_the_letter_counts(text: str, values: dict[str, Any], filled: str) -> None:
    assert Prompt.from_text(text).format_string(values) == filled
    assert Prompt.from_text(text).format_string(**values) == filled
    assert Prompt.from_text(text).format_messages(values)[0].content == filled


@given(st.text(), st.dictionaries(st.text(min_size=1), st.text()))
def test_a_text_is_its_pieces_and_nothing_is_lost(text: str, values: dict[str, str]) -> None:
    """Between the variables every character stays; what is put in is never read again."""
    filled = Prompt.from_text(text).format_string(values)
    pieces = re.split(r"\{([^{}]+)\}", text)
    expected = [
        piece if index % 2 == 0 else values.get(piece, "{" + piece + "}")
        for index, piece in enumerate(pieces)
    ]
    assert filled == "".join(expected)


def test_a_prompt_of_an_mcp_server() -> None:
    given = {"messages": [{"role": "user", "content": {"type": "text", "text": "Tides of {port}"}}]}
    assert prompt_of_mcp(given).format_messages(port="Brest")[0].content == "Tides of Brest"
    given["messages"].append({"role": "user", "content": {"type": "image", "text": ""}})
    with pytest.raises(InputFault, match=r"messages.1.content.*image in a prompt.*text"):
        prompt_of_mcp(given)


# messages


def test_a_message_is_text_and_has_an_older_name_for_its_extras() -> None:
    message = ChatMessage.model_validate({"content": "x", "additional_kwargs": {"k": 1}})
    assert (message.role, message.extra_args, str(message)) == ("user", {"k": 1}, "user: x")
    with pytest.raises(InputFault, match=r"messages.1.role.*one of system, user"):
        Prompt.from_messages([{"role": "user"}, {"role": "developer"}])
    with pytest.raises(InputFault, match=r"messages.0.content"):
        Prompt.from_messages([{"role": "user", "content": [{"type": "text"}]}])


def test_calls_that_are_lost_on_the_way_to_anthropic_are_named() -> None:
    blocks = [{"type": "tool_use", "id": "call_1", "name": "add", "input": {}}]
    kept = said("t", tool_calls=[CALL], extra_args={"anthropic_content_blocks": blocks})
    messages = [
        ChatMessage(role=MessageRole.SYSTEM, content="s"),
        said("t", tool_calls=[CALL]),
        kept,
    ]
    text = said("t", tool_calls=[CALL], extra_args={"anthropic_content_blocks": [{"type": "text"}]})
    asked = kept.model_copy(update={"role": MessageRole.USER})  # blocks are only the assistant's
    assert lost_calls([*messages, text, asked]) == [1, 3, 4]
    assert to_anthropic_message(kept)["content"] == blocks
    assert to_anthropic_request(messages)["system"] == [{"type": "text", "text": "s"}]


def test_a_prefix_to_go_on_with_reaches_the_provider() -> None:
    message = said("Spring has arrived, and", extra_args={"partial": True})
    assert to_openai_message(message)["partial"] is True


# tools


def test_a_function_is_a_tool_that_can_be_called() -> None:
    made = FunctionTool(add)
    assert isinstance(made, BaseTool)
    assert (made.tool_type(), made.name, made.call(1, b=2)) == (ToolType.FUNCTION, "add", 3)
    schema = made.metadata.args_schema.model_json_schema()
    assert schema == create_schema_from_function("add", add).model_json_schema()
    assert schema == {
        "properties": {
            "a": {"description": "The first.", "title": "A", "type": "integer"},
            "b": {"description": "The second.", "title": "B", "type": "integer"},
        },
        "required": ["a", "b"],
        "title": "add",
        "type": "object",
    }
    assert [kind.value for kind in ToolType] == [
        "model_built_in",
        "function",
        "remote_function",
        "mcp",
    ]


def test_our_schema_keeps_what_the_other_project_loses() -> None:
    """What is kept here, beside what Flink-Agents would send."""
    schema = {
        "type": "object",
        "properties": {"unit": {"type": "string", "enum": ["c", "f"]}, "k": {"const": 1}},
        "required": ["unit"],
    }
    kept = ToolMetadata(name="t", args_schema=schema)
    assert to_openai_tool(kept)["function"]["parameters"] == schema
    assert rebuilt_schema(schema, "t") == {
        "properties": {"unit": {"title": "Unit", "type": "string"}, "k": {"title": "K"}},
        "required": ["unit", "k"],
        "title": "t",
        "type": "object",
    }
    bounded = {"type": "string", "minLength": 2, "maxLength": 3, "inclusiveMinimum": 1}
    named = {"json": bounded, "n": {"anyOf": [{"$ref": "#/$defs/P"}, {"type": "integer"}]}}
    assert rebuilt_schema({"properties": named, "required": ["json"]})["properties"] == {
        "json": {"ge": 1, "title": "Json", "type": "string"},
        "n": {"title": "N", "type": "integer"},
    }
    with pytest.raises(InputFault, match="field a: Flink-Agents cannot read a list of types"):
        rebuilt_schema({"properties": {"a": {"type": ["string", "null"]}}})
    odds: list[dict[str, Any]] = [
        {"_a": {}},
        {"a": None},
        {"a": {"$ref": "#/x", "default": {"$ref": "y"}}},
    ]
    for odd in odds:
        with pytest.raises(InputFault, match="Flink-Agents cannot read this schema"):
            rebuilt_schema({"properties": odd})


def test_a_schema_of_the_java_side_has_types_and_descriptions_alone() -> None:
    text = '{"properties": {"json": {"type": "array"}, "b": {"type": "tide", "description": ""}}}'
    assert from_java_schema(text, "J")["properties"] == {
        "json": {"description": "Parameter: json", "items": {}, "title": "Json", "type": "array"},
        "b": {"description": "", "title": "B", "type": "null"},
    }
    for odd in ("{}", '{"properties": {"a": {}}}', "no JSON"):
        with pytest.raises(InputFault, match="Flink-Agents cannot read this schema"):
            from_java_schema(odd, "J")
    numbers = {"type": "array", "items": {"type": "integer"}}
    fields = {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "l": numbers, "k": {}}
    assert to_java_schema({"properties": fields}) == {
        "properties": {
            "n": {"type": "integer", "description": "Parameter: n"},
            "l": {"type": "string", "description": "Parameter: l"},
            "k": {"type": "string", "description": "Parameter: k"},
        }
    }


# declarations


class Harbour:
    """Declared as an agent's class has it."""

    @prompt
    @staticmethod
    def greeting() -> Prompt:
        return Prompt.from_text("You know {port}.")

    @tool
    @staticmethod
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    @chat_model
    @staticmethod
    def by_name() -> tuple[type[ChatModel], dict[str, Any]]:
        return ScriptedModel, {"answers": ["ok"], "prompt": "greeting", "tools": ["add"]}

    @chat_model_setup
    @staticmethod
    def by_object() -> tuple[type[ChatModel], dict[str, Any]]:
        return ScriptedModel, {"answers": ["ok"], "prompt": Prompt.from_text("P")}

    @chat_model
    @staticmethod
    def broken() -> tuple[type[ChatModel], dict[str, Any]]:
        return ScriptedModel, {"answers": [], "prompt": "no such"}


MODULE: Final = types.ModuleType("harbour")
vars(MODULE).update({name: vars(Harbour)[name] for name in dir(Harbour) if name[0] != "_"})


@pytest.mark.parametrize("holder", [Harbour, Harbour(), MODULE])
def test_what_is_declared_is_found_by_name(holder: object) -> None:
    found = scan(holder)
    assert found.names(ResourceType.CHAT_MODEL) == ["broken", "by_name", "by_object"]
    setup = found.chat_model("by_name")
    assert setup.chat(ASKED, {"port": "Brest"}).content == "ok"
    assert isinstance(setup.model, ScriptedModel)
    assert [str(m) for m in setup.model.inputs[0]] == ["system: You know Brest.", "user: 1 + 2?"]
    assert found.tool("add").call(a=1, b=2) == 3
    assert found.get_resource("greeting", ResourceType.PROMPT) is found.prompt("greeting")
    with pytest.raises(UnknownNameError, match="unknown tool 'sub'; known: add"):
        found.tool("sub")
    with pytest.raises(UnknownNameError, match="unknown prompt 'no such'; known: greeting"):
        found.chat_model("broken")


YAML: Final = """
tools:
  - {name: sum, function: "my_pkg.tools:add"}
  - {name: gone, function: "elsewhere:lost"}
prompts:
  - {name: p1, text: "Report on {topic}"}
  - name: p2
    messages: [{role: system, content: "You are {who}"}, {role: user, content: "{q}"}]
actions: []
"""


def test_yaml_is_read_without_running_its_code(tmp_path: Path) -> None:
    package = tmp_path / "my_pkg"
    package.mkdir()
    source = 'raise SystemExit("this ran")\ndef add(a: int, b: int = 1) -> int:\n    "Add."\n'
    (package / "tools.py").write_text(source)
    (tmp_path / "agent.yaml").write_text(YAML)
    found = load_declarations(tmp_path / "agent.yaml")
    assert found.prompt("p1").format_string(topic="tides") == "Report on tides"
    assert [m.role for m in found.prompt("p2").format_messages()] == ["system", "user"]
    made = found.tool("sum")
    assert (made.name, made.metadata.required_parameters) == ("sum", ["a"])
    with pytest.raises(InputFault, match="my_pkg.tools:add was not imported"):
        made.call(a=1)
    assert [(f.code, f.where) for f in found.findings] == [
        ("part-lost", "actions"),
        ("tool-left-out", "tool gone"),
    ]


def test_yaml_runs_code_when_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "asked_for.py").write_text("def add(a: int) -> int:\n    return a + 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "agent.yaml"
    path.write_text('tools: [{name: add, function: "asked_for:add"}]')
    assert load_declarations(path, import_code=True).tool("add").call(a=1) == 2
    assert "asked_for" in sys.modules


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1", "no declarations.*prompts or tools"),
        ("prompts: [{name: p}]", "agent.yaml, field prompts.0: neither text nor messages"),
        ("prompts: [{name: p, text: a, messages: []}]", "text and messages; expected exactly one"),
        ("prompts: [{name: p, messages: [{role: x}]}]", r"prompts.0.messages.0.role"),
        ("prompts: [{text: a}]", "prompts.0: no name"),
        ("prompts: {a: b}", "field prompts: not a list"),
        ("tools: [{name: t, function: '../x:y'}]", "tools.0.function: not a function.*module:qual"),
        ("tools: [{name: t}]", "not a function: None"),
        ("prompts: !!python/name:os.system", "not plain YAML"),
    ],
)
def test_a_bad_declaration_is_one_clear_error(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "agent.yaml"
    path.write_text(text)
    with pytest.raises(InputFault, match=said):
        load_declarations(path)


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("a\tb  c", "a\tb c", None),
        ("```thought\ntide\n```ebb", "ebb", "tide"),
        ("```thought\ntide```", "```thought\ntide```", None),
        ("ebb\nReasoning: tide\n\n\nflood", "ebbflood", "tide"),
    ],
)
def test_reasoning_is_taken_out(text: str, answer: str, reasoning: str | None) -> None:
    assert extract_reasoning(text) == (answer, reasoning)


def test_calls_are_the_assistants_and_ids_are_kept() -> None:
    user = ChatMessage(role=MessageRole.USER, content="a", tool_calls=[CALL])
    assert to_openai_message(user) == {"role": "user", "content": "a"}
    empty = said(tool_calls=[{**CALL, "original_id": ""}])
    assert to_openai_message(empty)["tool_calls"][0]["id"] == ""
    with pytest.raises(InputFault, match="names no call"):
        to_openai_message(ChatMessage(role=MessageRole.TOOL, extra_args={"external_id": ""}))


# the flow


def flow(answers: list[ChatMessage | str], **more: Any) -> list[Any]:
    more.setdefault("tools", {"add": FunctionTool(add)})
    return list(chat_events(ASKED, ChatModelSetup(ScriptedModel(answers)), **more))


def test_the_model_is_asked_again_once_the_tools_have_answered() -> None:
    events = flow([said("let me", tool_calls=[CALL]), "3"])
    assert [event.type for event in events] == [
        "_chat_request_event",
        "_tool_request_event",
        "_tool_response_event",
        "_chat_response_event",
    ]
    assert (events[2].results, events[2].external_ids) == ([3], {"u1": "call_1"})
    assert events[3].response.content == "3"


def test_tools_that_fail_answer_with_a_text() -> None:
    def fail(**_: Any) -> None:
        raise ValueError("broken")

    unknown = {**CALL, "function": {"name": "nope", "arguments": {}}}
    odd = {**CALL, "function": {"name": "add", "arguments": "no object"}}
    calls = [{**CALL, "function": {"name": "fail", "arguments": {}}}, unknown, odd]
    tools = {"add": FunctionTool(add), "fail": FunctionTool(fail, "fail")}
    given = flow([said(tool_calls=calls), "sorry"], tools=tools)[2]
    assert given.results == [
        "Tool `fail` execute failed.",
        "Tool `nope` does not exist.",
        "Tool `add` execute failed.",
    ]
    assert given.success == [False, False, False]
    assert given.errors[:2] == ["broken", "'nope'"]
    assert "not a JSON object" in given.errors[2]


@pytest.mark.parametrize("call", [{}, {"function": 3}, {"function": {"name": None}}])
def test_a_call_that_is_none_is_one_clear_error(call: dict[str, Any]) -> None:
    with pytest.raises(InputFault, match="not a tool call.*a function with a name"):
        flow([said(tool_calls=[call]), "ok"])
    with pytest.raises(InputFault, match="field tool_calls"):
        to_openai_message(said(tool_calls=[{**call, "id": "1"}]))


def test_injected_values_are_hidden_and_win() -> None:
    def order(order: str, tenant: str) -> str:
        """Look up an order."""
        return f"{tenant}: {order}"

    made = FunctionTool(order, injected_args=["tenant"])
    assert list(made.metadata.parameters) == ["order"]
    call = {"id": "1", "function": {"name": "order", "arguments": {"order": "7", "tenant": "evil"}}}
    given = flow([said(tool_calls=[call]), "ok"], tools={"order": made}, injected={"tenant": "us"})
    assert given[2].results == ["us: 7"]


def test_a_model_that_calls_for_ever_is_stopped() -> None:
    with pytest.raises(InputFault, match="called tools 100 times in a row"):
        flow([said(tool_calls=[CALL])] * 200)


class Stubborn(ScriptedModel):
    """Fails the first two times."""

    def complete(self, messages: Messages, tools: Any = (), **parameters: Any) -> Completion:
        done = super().complete(messages, tools, **parameters)
        if len(self.inputs) <= 2:
            raise InputFault("busy")
        return done


def test_a_model_that_fails_is_asked_again_as_often_as_is_said() -> None:
    setup = ChatModelSetup(Stubborn(["a", "b", "c"]))
    last = list(chat_events(ASKED, setup, retries=2))[-1]
    assert isinstance(last, ChatResponseEvent)
    assert (last.response.content, last.retry_count) == ("c", 2)
    with pytest.raises(InputFault, match="busy"):
        list(chat_events(ASKED, ChatModelSetup(Stubborn(["a", "b", "c"])), retries=1))
    called: list[ChatMessage | str] = ["a", "b", said(tool_calls=[CALL]), "3"]
    tools = {"add": FunctionTool(add)}
    last = list(chat_events(ASKED, ChatModelSetup(Stubborn(called)), tools, retries=2))[-1]
    assert isinstance(last, ChatResponseEvent)
    assert (last.response.content, last.retry_count) == ("3", 2)  # of both requests


# setups


def test_variables_come_from_the_arguments_or_as_they_once_did_from_messages() -> None:
    asked = [ChatMessage(content="q", extra_args={"port": "Brest"}), ChatMessage(content="")]
    made = Prompt.from_text("{port}")
    new = ChatModelSetup(ScriptedModel([]), made)
    assert [m.content for m in new.request(asked, {"port": "Nantes"})] == ["Nantes", "q"]
    assert [m.content for m in new.request(asked)] == ["{port}", "q"]
    old = ChatModelSetup(ScriptedModel([]), made, variables_from="messages")
    assert [m.content for m in old.request(asked)] == ["Brest", "q"]
    assert ChatModelSetup(ScriptedModel([])).request(asked) == asked


class Tide(BaseModel):
    port: str
    metres: float


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ('```json\n{"port": "Brest", "metres": 5}\n```', None),
        ("high water", "malformed-json"),
        ('{"port": 3}', "type-mismatch"),
        ("[" * 100_000, "malformed-json"),
    ],
)
def test_an_answer_is_read_as_a_schema_and_never_raises(answer: str, code: str | None) -> None:
    found = ChatModelSetup(ScriptedModel([answer])).structured(ASKED, Tide)
    assert (found.value == Tide(port="Brest", metres=5)) == (code is None)
    assert {f.code for f in found.findings} == ({code} if code else set())
    assert found.completion.message.content == answer


def test_a_schema_is_told_in_words_where_the_provider_has_no_field_for_it() -> None:
    class Wordy(ScriptedModel):
        def takes(self, parameter: str) -> bool:
            return parameter != "response_format"

    model = Wordy(['{"port": "Brest", "metres": 5}'])
    assert ChatModelSetup(model).structured(ASKED, Tide).value == Tide(port="Brest", metres=5)
    words, question = model.inputs[0]
    assert (words.role, question) == (MessageRole.SYSTEM, ASKED[0])
    assert json.loads(words.content.partition("\n")[2]) == Tide.model_json_schema()
    assert LiteLLMModel("openai/gpt-5").takes("response_format")
    assert not LiteLLMModel("cohere/command-r").takes("response_format")
    assert not LiteLLMModel("nosuch/model").takes("response_format")


def test_a_setup_answers_while_other_tasks_go_on() -> None:
    model = ScriptedModel(["one", "two", "three"])
    setup = ChatModelSetup(model, Prompt.from_text("You know {port}."), (FunctionTool(add),))

    async def both() -> list[ChatMessage]:
        return list(await asyncio.gather(*(setup.achat(ASKED, {"port": "Brest"}) for _ in "ab")))

    assert sorted(answer.content for answer in asyncio.run(both())) == ["one", "two"]
    assert [str(m) for m in model.inputs[1]] == ["system: You know Brest.", "user: 1 + 2?"]
    pieces = list(setup.stream(ASKED))
    assert [piece.text for piece in pieces] == ["three", ""]
    assert pieces[-1].completion is not None
    with pytest.raises(InputFault, match="only 3 answers"):
        asyncio.run(setup.achat(ASKED))


def test_a_prompt_is_seen_in_every_form_that_it_is_sent_in() -> None:
    made = read_prompt('[{"role": "system", "content": "You know {port}."}, {"content": "{q}"}]')
    view = view_prompt(made, {"port": "Brest"})
    assert (view.variables, view.missing, view.lost_calls) == (["port", "q"], ["q"], [])
    assert view.text == "system: You know Brest.\nuser: {q}"
    assert view.openai == [
        {"role": "system", "content": "You know Brest."},
        {"role": "user", "content": "{q}"},
    ]
    assert view.anthropic["system"] == [{"type": "text", "text": "You know Brest."}]
    assert list(view.forms()) == ["text", "messages", "OpenAI", "Anthropic"]
    assert read_prompt("[no JSON").template == "[no JSON"


def test_a_tool_is_seen_beside_what_becomes_of_it() -> None:
    schema = {"type": "object", "properties": {"u": {"type": ["string", "null"]}}}
    view = view_tool(ToolMetadata(name="t", description="x" * 1025, args_schema=schema))
    assert (view.kept, view.rebuilt, view.openai) == (schema, None, None)
    assert view.anthropic["input_schema"] == schema
    assert "cannot read a list of types" in view.fault
    assert "1,025 characters" in view.fault


# models on loopback


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with serving() as running:
        yield running


def models(server: DemoServer) -> dict[str, ChatModel]:
    text = "I will look that up."
    call = {**CALL, "function": {"name": "add", "arguments": {"a": 1, "b": 2}}}
    return {
        "scripted": ScriptedModel([said(text, tool_calls=[call])] * 5),
        "openai": LiteLLMModel("openai/demo", f"{server.url}/v1"),
        "anthropic": LiteLLMModel("anthropic/demo", server.url),
        "ollama": LiteLLMModel("ollama_chat/demo", server.url),
    }


@pytest.mark.parametrize("name", ["scripted", "openai", "anthropic", "ollama"])
def test_every_model_is_one_interface(server: DemoServer, name: str) -> None:
    model, tools = models(server)[name], [FunctionTool(add).metadata]
    done = model.complete(ASKED, tools)
    pieces = list(model.stream(ASKED, tools))
    answers = [done, pieces[-1].completion, asyncio.run(model.acomplete(ASKED, tools))]
    answers.append(asyncio.run(streamed(model, tools))[-1].completion)
    answers += model.batch([ASKED], tools)  # type: ignore[arg-type]
    for answer in answers:
        assert answer is not None
        assert answer.message.content == "I will look that up."
        (call,) = answer.message.tool_calls
        assert call["function"] == {"name": "add", "arguments": {"a": 1, "b": 2}}
    assert "".join(piece.text for piece in pieces) == done.message.content
    assert "".join(piece.reasoning for piece in pieces) == done.reasoning
    assert all(piece.text or piece.reasoning for piece in pieces[:-1])  # an empty chunk is no piece
    if name != "scripted":
        assert done.usage["prompt_tokens"] == 100
        assert {answer.stop_reason for answer in answers if answer} == {"tool_calls"}
        assert done.reasoning.startswith("The user wants")


async def streamed(model: ChatModel, tools: list[ToolMetadata]) -> list[Piece]:
    return [piece async for piece in model.astream(ASKED, tools)]


def test_the_whole_flow_against_a_server(server: DemoServer) -> None:
    setup = ChatModelSetup(models(server)["openai"]).bind_tools([FunctionTool(add)])
    events = list(chat_events(ASKED, setup))
    _, _, answered, *_, last = events
    assert isinstance(answered, ToolResponseEvent)
    assert answered.results == [3]
    assert isinstance(last, ChatResponseEvent)
    assert last.response.content == "Here is what I found. ✅"


def test_what_a_known_model_costs() -> None:
    """LiteLLM's price list, for what the server says that was used."""
    with serving() as server:
        done = LiteLLMModel("openai/demo", f"{server.url}/v1").complete(ASKED)
        assert done.cost is None  # no price is known
        local = LiteLLMModel("ollama_chat/demo", server.url).complete(ASKED)
        assert local.cost == 0.0
        model = LiteLLMModel("anthropic/demo", server.url)
        model.model, model.parameters = "anthropic/claude-sonnet-4-5", {"model": "anthropic/demo"}
        assert model.complete(ASKED).cost == pytest.approx(100 * 3e-6 + 20 * 15e-6)


def test_a_busy_provider_is_asked_again() -> None:
    with serving() as server:
        model = LiteLLMModel("openai/demo-busy", f"{server.url}/v1", retries=2)
        assert model.complete(ASKED).message.content == "I will look that up."
        assert server.refusals == 3
    with serving() as server:
        model = LiteLLMModel("anthropic/demo-busy", server.url, retries=1)
        with pytest.raises(InputFault, match="anthropic/demo-busy: no answer.*busy"):
            list(model.stream(ASKED))
        assert server.refusals == 2


@pytest.mark.parametrize("model", ["openai/demo-cut", "anthropic/demo-cut", "ollama_chat/demo-cut"])
def test_a_stream_that_is_cut_off_is_no_answer(server: DemoServer, model: str) -> None:
    base = f"{server.url}/v1" if model.startswith("openai") else server.url
    made, seen = LiteLLMModel(model, base), list[Piece]()
    pieces = map(seen.append, made.stream(ASKED, [FunctionTool(add).metadata]))
    with pytest.raises(InputFault, match="the stream broke off before its end"):
        list(pieces)
    assert seen
    assert all(piece.completion is None for piece in seen)
    with pytest.raises(InputFault, match="the stream broke off before its end"):
        asyncio.run(streamed(made, []))


def test_what_cannot_be_answered_is_one_clear_error(
    server: DemoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputFault, match="no model 'nope'; known: demo"):
        LiteLLMModel("openai/nope", f"{server.url}/v1").complete(ASKED)
    with pytest.raises(InputFault, match=r"no key for this provider.*\$OPENAI_API_KEY"):
        LiteLLMModel("openai/gpt-4o").complete(ASKED)
    with pytest.raises(InputFault, match="no answer"):
        LiteLLMModel("openai/demo", "http://127.0.0.1:9/v1", retries=0).complete(ASKED)


def test_a_batch_has_its_limit_its_pace_and_its_order() -> None:
    class Slow(ChatModel):
        under_way = most = 0
        begun: list[float] = []

        def complete(self, messages: Messages, tools: Any = (), **more: Any) -> Completion:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            self.begun.append(time.monotonic())
            time.sleep(0.02)
            self.under_way -= 1
            if messages[0].content == "3":
                raise InputFault("no answer")
            return Completion(said(messages[0].content))

    model = Slow()
    asked = [[ChatMessage(content=str(number))] for number in range(8)]
    done = model.batch(asked, limit=3)
    assert model.most <= 3
    assert [d.message.content if isinstance(d, Completion) else None for d in done] == (
        ["0", "1", "2", None, "4", "5", "6", "7"]
    )
    assert isinstance(done[3], PlaygroundError)
    model.begun.clear()
    model.batch(asked[:3], limit=3, per_second=20)
    assert model.begun[-1] - model.begun[0] >= 0.09


def test_the_schema_is_asked_for_and_read(server: DemoServer) -> None:
    found = ChatModelSetup(models(server)["openai"]).structured(ASKED, Tide)
    assert found.value == Tide(port="Paris, “à la carte”", metres=2.5)
    assert json.loads(found.completion.message.content)["metres"] == 2.5


def test_a_prompt_on_the_command_line(tmp_path: Path) -> None:
    text = tmp_path / "prompt.txt"
    text.write_text("Tides of {port}, {gone}")
    yaml = tmp_path / "agent.yaml"
    yaml.write_text("prompts: [{name: p, text: 'Tides of {port}'}]")
    program = ["template", "prompt"]
    values = ["--values", '{"port": "Brest"}']
    done = run(*program, str(text), *values)
    assert (done.returncode, done.stdout) == (0, "Tides of Brest, {gone}")
    assert done.stderr == "missing: gone\n"
    done = run(*program, str(yaml), *values)
    assert (done.returncode, done.stdout) == (0, "Tides of Brest")
    named = ["--name", "q"]
    done = run(*program, str(yaml), *named)
    assert (done.returncode, done.stderr) == (2, "playground: unknown prompt 'q'; known: p\n")
