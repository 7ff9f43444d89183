"""What every dialect does with a session on its way to a request; each test names one behaviour."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest
from pydantic import SecretStr
from strategies import DIALECTS, TOOLS

from playground.base.errors import InputFault, InsufficientCreditsError, UnknownUserError
from playground.dialects import get_dialect
from playground.dialects.checking import check_session
from playground.dialects.declared import DeclaredDialect
from playground.dialects.preflight import CreditCheck, JsonLedger
from playground.nouns.messages import (
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from playground.nouns.prompt_data import (
    CacheDialect,
    DynamicTaskConfig,
    PromptData,
    PromptTemplateType,
    TaskConfig,
)
from playground.nouns.tools import ParameterMetadata, ToolExample, ToolMetadata

each_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
XML = get_dialect("xml")
NATIVE = get_dialect("native")


def user(text: str) -> Message:
    return Message("user", (TextPart(text),))


def assistant(text: str) -> Message:
    return Message("assistant", (TextPart(text),))


def prompt(*messages: Message, **task: str) -> PromptData:
    return PromptData(
        messages=list(messages),
        tool_metadata=TOOLS,
        task_config=TaskConfig(**{"user_agent_prompt": "AGENT", **task}),  # type: ignore[arg-type]
    )


# the system prompt


@each_dialect
def test_without_placeholders_the_order_is_rules_docs_agent_system_user(
    dialect: DeclaredDialect,
) -> None:
    data = prompt(user_prompt="Be kind.")
    text = dialect.format_system_prompt(data)["content"][0]["text"]
    parts = [
        dialect.format_dialect_rules(data),
        dialect.format_tool_docs(data),
        "AGENT",
        dialect.format_system_rules(data),
        dialect.format_user_prompt(data),
    ]
    assert text == "\n".join(part for part in parts if part)


@each_dialect
def test_placeholders_are_filled_where_they_stand(dialect: DeclaredDialect) -> None:
    template = "A {USER_PROMPT} B {TOOL_USE_INSTRUCTION} C {AVAILABLE_TOOLS} D {SYSTEM_INSTRUCTION}"
    data = prompt(user_agent_prompt=template, user_prompt="Be kind.")
    text = dialect.format_system_prompt(data)["content"][0]["text"]
    assert text == (
        f"A {dialect.format_user_prompt(data)} B {dialect.format_dialect_rules(data)} "
        f"C {dialect.format_tool_docs(data)} D {dialect.format_system_rules(data)}"
    )


def test_placeholders_are_filled_in_one_pass() -> None:
    tool = ToolMetadata(name="t", description="Says {USER_PROMPT} and {SYSTEM_INSTRUCTION}.")
    data = PromptData(
        tool_metadata=[tool],
        task_config=TaskConfig(
            user_agent_prompt="{AVAILABLE_TOOLS}{USER_PROMPT}", user_prompt="own {AVAILABLE_TOOLS}"
        ),
    )
    text = XML.format_system_prompt(data)["content"][0]["text"]
    assert "Says {USER_PROMPT} and {SYSTEM_INSTRUCTION}." in text
    assert "own {AVAILABLE_TOOLS}" in text


def test_a_placeholder_that_is_missing_goes_to_its_usual_place() -> None:
    data = prompt(user_agent_prompt="X {AVAILABLE_TOOLS} Y")
    text = XML.format_system_prompt(data)["content"][0]["text"]
    assert text.startswith(XML.format_dialect_rules(data))
    assert text.endswith(f"Y\n{XML.format_system_rules(data)}")


def test_the_placeholders_are_the_four_names_in_braces() -> None:
    assert [t.placeholder for t in PromptTemplateType] == [
        "{SYSTEM_INSTRUCTION}",
        "{AVAILABLE_TOOLS}",
        "{TOOL_USE_INSTRUCTION}",
        "{USER_PROMPT}",
    ]


@each_dialect
def test_the_system_message_is_a_list_with_one_text_part(dialect: DeclaredDialect) -> None:
    message = dialect.format_messages(prompt(user("hi")))[0]
    assert message["role"] == "system"
    assert [part["type"] for part in message["content"]] == ["text"]


def test_custom_instructions_are_framed_and_empty_ones_leave_nothing() -> None:
    framed = XML.format_user_prompt(prompt(user_prompt="Answer in French."))
    assert framed.splitlines()[0] == framed.splitlines()[-1] == "===="
    assert "\nAnswer in French.\n" in framed
    for nothing in ("", "  \n"):
        data = prompt(user_prompt=nothing)
        assert XML.format_user_prompt(data) == ""
        text = XML.format_system_prompt(data)["content"][0]["text"]
        assert text.endswith(XML.format_system_rules(data))


def test_the_frame_is_not_a_template_for_the_instructions() -> None:
    assert "{text} {0}" in XML.format_user_prompt(prompt(user_prompt="{text} {0}"))


def test_rules_ask_for_a_json_object_only_if_the_form_has_it() -> None:
    """gptme-tool asked for the name inside the object, and Kimi K3 for an object of arguments."""
    holes = {
        "JSON object for each call": "{call:json}",
        "arguments as a JSON object": "{args:json}",
    }
    wrong = [
        (dialect.name, words)
        for dialect in DIALECTS
        for words, hole in holes.items()
        if words in dialect.rules and hole not in dialect.syntax.call
    ]
    assert wrong == []


def test_rules_of_the_task_replace_the_dialects_own() -> None:
    data = prompt(dialect_rules="MY RULES")
    text = XML.format_system_prompt(data)["content"][0]["text"]
    assert text.startswith("MY RULES\n")
    assert XML.format_dialect_rules(data) not in text


# tool documentation


def test_tool_docs_list_one_parameter_a_line() -> None:
    tool = ToolMetadata(
        name="read",
        description="Read it.",
        parameters={"path": ParameterMetadata(description="Where."), "from": "Line."},
        required_parameters=["path"],
    )
    lines = XML.format_tool_docs(PromptData(tool_metadata=[tool])).splitlines()
    assert "- path (string, required): Where." in lines
    assert "- from (string, optional): Line." in lines


@pytest.mark.parametrize("dialect", [XML, get_dialect("dspy-chat")], ids=lambda d: d.name)
def test_every_tag_of_the_tool_docs_opens_and_closes(dialect: DeclaredDialect) -> None:
    example = ToolExample(explanation="Why.", parameters={"path": "a"})
    tools = [TOOLS[0].model_copy(update={"examples": (example, example)}), TOOLS[1]]
    docs = dialect.format_tool_docs(PromptData(tool_metadata=tools))
    for tag, count in (("tool_doc", 2), ("tool_call_examples", 1), ("tool_call_example", 2)):
        assert docs.count(f"<{tag} ") == docs.count(f"</{tag}>") == count
    assert docs.count("<write_file>") == docs.count("</write_file>")


def test_the_simplified_schema_has_strings_and_the_typed_one_is_as_given() -> None:
    simple = XML.format_tool_schema(TOOLS[0])
    assert list(simple) == ["name", "description", "input_schema"]
    assert {p["type"] for p in simple["input_schema"]["properties"].values()} == {"string"}
    assert simple["input_schema"]["required"] == ["path"]
    typed = XML.format_tool_schema(TOOLS[0], typed=True)
    assert typed["function"]["parameters"] is TOOLS[0].input_schema
    assert len(XML.format_tools_schema(TOOLS)) == 2


# the history


@each_dialect
def test_messages_with_neither_content_nor_calls_are_dropped(dialect: DeclaredDialect) -> None:
    data = prompt(user("hi"), Message("assistant"), assistant(""), user("there"))
    roles = [message["role"] for message in dialect.format_messages(data)]
    assert roles == ["system", "user"]


def test_a_native_call_without_text_is_kept() -> None:
    call = ToolCallPart("c", "list_files", {})
    message = NATIVE.format_messages(prompt(user("hi"), Message("assistant", (call,))))[2]
    assert message["content"] is None
    assert message["tool_calls"][0]["function"] == {"name": "list_files", "arguments": "{}"}


@each_dialect
def test_consecutive_messages_of_one_role_are_merged(dialect: DeclaredDialect) -> None:
    data = prompt(user("a"), user("b"), assistant("c"), assistant("d"), user("e"))
    messages = dialect.format_messages(data)
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "user"]
    assert [part["text"] for part in messages[1]["content"]] == ["a", "b"]


def test_native_results_stay_apart_because_each_answers_a_call() -> None:
    calls = (ToolCallPart("1", "list_files"), ToolCallPart("2", "list_files"))
    results = (ToolResultPart("1", "list_files", "x"), ToolResultPart("2", "list_files", ["y"]))
    data = prompt(user("go"), Message("assistant", calls), Message("tool", results))
    assert NATIVE.format_messages(data)[3:] == [
        {"role": "tool", "tool_call_id": "1", "content": "x"},
        {"role": "tool", "tool_call_id": "2", "content": '["y"]'},
    ]


def test_text_results_of_one_turn_share_a_user_message() -> None:
    results = (ToolResultPart("1", "ls", "x"), ToolResultPart("2", "ls", "no", is_error=True))
    data = prompt(user("go"), assistant("ok"), Message("tool", results), model_name="openai/gpt-5")
    messages = XML.format_messages(data)
    assert messages[-1] == {
        "role": "user",
        "content": (
            '<tool_result tool="ls">\nx\n</tool_result>\n'
            '<tool_result tool="ls">\nError: no\n</tool_result>'
        ),
    }


def test_results_in_a_users_message_are_results_all_the_same() -> None:
    parts = (ToolResultPart("1", "ls", "x"), TextPart("go on"))
    data = prompt(user("go"), assistant("ok"), Message("user", parts), model_name="openai/gpt-5")
    assert NATIVE.format_messages(data)[3:] == [
        {"role": "tool", "tool_call_id": "1", "content": "x"},
        {"role": "user", "content": "go on"},
    ]
    assert [part["text"] for part in XML.format_messages(data)[-1]["content"]] == [
        '<tool_result tool="ls">\nx\n</tool_result>',
        "go on",
    ]


def test_a_part_that_is_not_sent_is_a_finding() -> None:
    call, image = ToolCallPart("1", "list_files"), ImagePart("data:,")
    data = prompt(
        Message("user", (TextPart("go"), call)), Message("assistant", (image, ReasoningPart("hm")))
    )
    assert [(f.code, f.where) for f in check_session(XML, data)] == [
        ("part-dropped", "message 0, part 1"),
        ("part-dropped", "message 1, part 0"),
        ("reasoning-dropped", "message 1"),
    ]


def test_a_native_message_with_two_results_must_be_split_first() -> None:
    both = Message("tool", (ToolResultPart("1", "ls", "x"), ToolResultPart("2", "ls", "y")))
    with pytest.raises(InputFault, match="answers one call, not 2; expected one of the messages"):
        NATIVE.format_history_item(both)
    assert [len(m.tool_results) for m in NATIVE.split_message(both)] == [1, 1]


def test_images_become_parts_and_reasoning_is_not_sent_again() -> None:
    picture = Message("user", (TextPart("see"), ImagePart("data:image/png;base64,AA==")))
    thought = Message("assistant", (ReasoningPart("hm"), TextPart("ok")))
    messages = XML.format_messages(prompt(picture, thought, model_name="openai/gpt-5"))
    assert messages[1]["content"][1] == {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64,AA=="},
    }
    assert messages[2]["content"] == "ok"


# the order of format_messages


class Recorder:
    """A pre-flight check that notes when it is asked."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    def check(self, prompt_data: PromptData) -> None:
        self.log.append("pre-flight")


def test_checks_run_before_the_marks_and_the_environment_comes_after_them() -> None:
    log: list[str] = []

    class Watched(type(XML)):  # type: ignore[misc]
        def inject_prompt_cache(self, messages, prompt_data):  # type: ignore[no-untyped-def]
            log.append("marks")
            assert all("ENV" not in str(message) for message in messages)
            assert [m["role"] for m in messages] == ["system", "user", "assistant", "user"]
            return super().inject_prompt_cache(messages, prompt_data)

    assert isinstance(XML, DeclaredDialect)
    values = {field.name: getattr(XML, field.name) for field in fields(XML)}
    dialect = Watched(**values).with_preflight(Recorder(log))
    data = prompt(user("a"), user("b"), assistant(""), assistant("c"), user("d"))
    data.dynamic_task_config = DynamicTaskConfig(dynamic_environment_details_block="ENV")
    last = dialect.format_messages(data)[-1]
    assert log == ["pre-flight", "marks"]
    assert last["content"] == [
        {"type": "text", "text": "d", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "ENV"},
    ]


def test_the_environment_block_turns_a_string_content_into_parts() -> None:
    data = prompt(user("a"), assistant("b"), model_name="openai/gpt-5")
    data.dynamic_task_config = DynamicTaskConfig(dynamic_environment_details_block="ENV")
    assert XML.format_messages(data)[1]["content"] == [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "ENV"},
    ]


# values


def test_override_messages_takes_deep_copies() -> None:
    call = ToolCallPart("1", "ls", {"deep": {"list": [1]}})
    data = PromptData(current_assistant_id="agent-7")
    data.override_messages([Message("assistant", (call,))])
    call.args["deep"]["list"].append(2)
    assert data.messages[0].tool_calls[0].args == {"deep": {"list": [1]}}
    assert data.current_assistant_id == "agent-7"


def test_the_api_key_is_neither_shown_nor_written() -> None:
    dynamic = DynamicTaskConfig(
        model_api_key=SecretStr("sk-secret"), cache_dialect=CacheDialect.GEMINI
    )
    assert "sk-secret" not in repr(dynamic) + dynamic.model_dump_json()


def test_a_tool_takes_parameters_or_a_schema_not_both() -> None:
    with pytest.raises(ValueError, match="not both"):
        ToolMetadata(name="t", parameters={"a": "b"}, input_schema={"type": "object"})


# pre-flight


@pytest.fixture
def ledger(tmp_path: Path) -> JsonLedger:
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps({"rich": 100, "poor": 2, "odd": "many"}))
    return JsonLedger(path)


def paying(key: str | None, model: str = "kodu/claude-sonnet-4") -> PromptData:
    data = prompt(user("hi"), model_name=model)
    data.dynamic_task_config = DynamicTaskConfig(model_api_key=SecretStr(key) if key else None)
    return data


def test_enough_credits_pass(ledger: JsonLedger) -> None:
    dialect = XML.with_preflight(CreditCheck(ledger, threshold=10))
    assert len(dialect.format_messages(paying("rich"))) == 2


def test_insufficient_credits_and_unknown_users_are_two_errors(ledger: JsonLedger) -> None:
    dialect = XML.with_preflight(CreditCheck(ledger, threshold=10))
    with pytest.raises(InsufficientCreditsError, match="2 credits left"):
        dialect.format_messages(paying("poor"))
    for key in ("nobody", None):
        with pytest.raises(UnknownUserError) as caught:
            dialect.format_messages(paying(key))
        assert "nobody" not in str(caught.value)


def test_other_providers_are_not_checked(ledger: JsonLedger) -> None:
    dialect = XML.with_preflight(CreditCheck(ledger, threshold=10))
    assert dialect.format_messages(paying(None, "anthropic/claude-sonnet-4"))
    assert dialect.format_messages(paying(None, "not-kodu-at-all/x"))


def test_a_broken_ledger_is_one_clear_error(ledger: JsonLedger, tmp_path: Path) -> None:
    with pytest.raises(InputFault, match=r"ledger\.json: credits must be a whole number"):
        XML.with_preflight(CreditCheck(ledger)).format_messages(paying("odd"))
    missing = JsonLedger(tmp_path / "nowhere.json")
    with pytest.raises(
        InputFault, match="No such file or directory; expected the credit ledger: a JSON"
    ):
        XML.with_preflight(CreditCheck(missing)).format_messages(paying("rich"))
