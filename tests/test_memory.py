"""What was written once is not written again, and nobody can tell by what is written."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from playground.dialects import DeclaredDialect, dialect_names, get_dialect
from playground.dialects.conversation import requests_of
from playground.dialects.memory import Memory
from playground.dialects.rendering import Block, Draft
from playground.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.parsing.syntax import Syntax
from playground.prompt_data import PromptData, TaskConfig
from playground.questions.comparison import compare
from playground.sessions.session import Session
from playground.tools import ToolMetadata

SYNTAX = Syntax(call="<{name}>{args:json}")
ARGUMENTS = {"path": "a", "depth": 1}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOLS = tuple(ToolMetadata(name=name, input_schema=SCHEMA) for name in ("list", "find", "read"))


def turn(number: int, arguments: dict[str, Any] | None = None) -> list[Message]:
    """A question, a call and its result, and an answer."""
    name = TOOLS[number % 3].name
    call = ToolCallPart(f"c{number}", name, ARGUMENTS if arguments is None else arguments)
    return [
        Message("user", (TextPart(f"question {number}"),)),
        Message("assistant", (TextPart("so"), call)),
        Message("tool", (ToolResultPart(f"c{number}", name, {"found": [number]}),)),
        Message("user", (TextPart("and then?"),)),  # the result may be a user's too
        Message("assistant", (TextPart(f"answer {number}"),)),
    ]


def prompt(messages: Sequence[Message], tools: Sequence[ToolMetadata] = TOOLS) -> PromptData:
    return PromptData(
        messages=list(messages),
        tool_metadata=list(tools),
        task_config=TaskConfig(user_agent_prompt="You look."),
    )


class Counting(DeclaredDialect):
    """Counts what it writes; it goes by the message alone, and says so."""

    remembers: ClassVar[bool] = True
    written: ClassVar[Counter[str]] = Counter()

    def format_history_item(
        self, item: Message, tools: Sequence[ToolMetadata] = ()
    ) -> dict[str, Any] | None:
        self.written["message"] += 1
        return super().format_history_item(item, tools)

    def format_tool_doc(self, tool: ToolMetadata) -> str:
        self.written[tool.name] += 1
        return super().format_tool_doc(tool)


@pytest.fixture
def counting() -> Counting:
    Counting.written.clear()
    return Counting(name="counting", syntax=SYNTAX, rules="Call.")


def test_a_message_more_costs_one_message(counting: Counting) -> None:
    messages = [message for number in range(9) for message in turn(number)]
    counting.render(prompt(messages))
    assert counting.written["message"] == len(messages)
    found = counting.render(prompt([*messages, *turn(9)[:1]])).messages
    assert counting.written["message"] == len(messages) + 1
    assert found[-1]["content"][0]["text"] == "question 9"


def test_an_edited_tool_is_written_anew_and_no_other(counting: Counting) -> None:
    messages = [message for number in range(9) for message in turn(number)]
    session = Session(tools=TOOLS, messages=tuple(messages))
    compare(session, [counting]).columns[0].rendering  # noqa: B018
    before = counting.written.copy()
    edited = TOOLS[1].model_copy(update={"description": "Finds."})
    text = (
        compare(replace(session, tools=(TOOLS[0], edited, TOOLS[2])), [counting]).columns[0].texts
    )
    assert counting.written - before == {"find": 1}
    assert "Finds." in text["tool:find"]


def test_an_edited_schema_writes_the_calls_of_its_tool_anew(counting: Counting) -> None:
    messages = [message for number in range(9) for message in turn(number)]
    counting.render(prompt(messages))
    before = counting.written.copy()
    schema = {"type": "object", "properties": {"path": {"type": "array"}}}
    edited = TOOLS[1].model_copy(update={"input_schema": schema})
    counting.render(prompt(messages, (TOOLS[0], edited, TOOLS[2])))
    assert counting.written - before == {"find": 1, "message": 3}


def test_a_class_that_does_not_say_so_is_asked_every_time() -> None:
    class Own(Counting):
        pass

    Own.written.clear()
    own = Own(name="own", syntax=SYNTAX, rules="Call.")
    for _ in range(2):
        own.render(prompt(turn(0)))
    assert own.written["message"] == 2 * len(turn(0))


def test_a_declaration_that_cannot_be_told_from_others_writes_all_the_same() -> None:
    stops: Any = ["<end>"]
    dialect = DeclaredDialect(name="l", syntax=SYNTAX, rules="", stops=stops)
    assert dialect.render(prompt(turn(0))).messages[-1]["content"] == "answer 0"


@pytest.mark.parametrize("name", dialect_names())
def test_nobody_can_write_into_what_is_remembered(name: str) -> None:
    dialect, data = get_dialect(name), prompt([*turn(0), *turn(1)])
    expected = copy.deepcopy(dialect.render(data).messages)
    spoiled = dialect.render(data).messages
    for message in spoiled:
        for part in message["content"] if isinstance(message["content"], list) else ():
            part.clear()
        for call in message.get("tool_calls", ()):
            call.clear()
        message.clear()
    assert dialect.render(data).messages == expected


@pytest.mark.parametrize("name", ["xml", "hermes", "native"])
def test_what_a_value_holds_counts_not_what_it_held(name: str) -> None:
    dialect, data = get_dialect(name), prompt(turn(0, {"path": "a", "depth": {"of": [1]}}))
    first = dialect.render(data).messages
    data.messages[1].tool_calls[0].args["depth"]["of"][0] = 2
    changed = dialect.render(data).messages
    assert changed != first
    written = turn(0, {"path": "a", "depth": {"of": [2]}})
    assert changed == dialect.render(prompt(written)).messages
    # 1 and True are the same to a comparison, not to a reader
    truth = dialect.render(prompt(turn(0, {"path": "a", "depth": {"of": [True]}}))).messages
    assert truth != dialect.render(prompt(turn(0, {"path": "a", "depth": {"of": [1]}}))).messages


@pytest.mark.parametrize("name", dialect_names())
def test_requests_are_what_is_rendered_of_each(name: str) -> None:
    dialect = get_dialect(name)
    messages = [Message("system", (TextPart("Be brief."),)), *turn(0), *turn(1), *turn(2)]
    data = prompt(messages)
    stops = list(range(len(messages) + 1))
    # what a request holds when it is given out is what it holds in the end
    requests = list(requests_of(dialect, data, stops))
    for stop, request in zip(stops, requests, strict=True):
        # new messages, which nobody remembers
        anew = prompt([replace(message) for message in messages[:stop]])
        assert request == dialect.with_policy("none").render(anew).messages


def test_a_memory_forgets_what_was_not_asked_for_lately() -> None:
    memory, asked = Memory(characters=100, docs=2), list[str]()

    def ask(text: str) -> None:
        def form(index: int, message: Message) -> list[Draft]:
            asked.append(message.text)
            block = Block("message:0", "user", message.text)
            return [Draft({"role": "user", "content": message.text}, (block,))]

        memory.session("dialect", messages[text], (), form)

    messages = {text: [Message("user", (TextPart(text * 40),))] for text in "abc"}
    for text in ("a", "b", "a", "c", "a", "b"):
        ask(text)
    assert [text[0] for text in asked] == ["a", "b", "c", "b"]
    docs = list[str]()
    for tool in (TOOLS[0], TOOLS[1], TOOLS[0], TOOLS[2], TOOLS[0], TOOLS[1]):
        memory.doc("dialect", tool, lambda tool=tool: docs.append(tool.name) or "")  # type: ignore[misc, func-returns-value]
    assert docs == ["list", "find", "read", "find"]
