"""What was written once is not written again, and nobody can tell by what is written."""

from __future__ import annotations

import copy
import gc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.dialects import DeclaredDialect, Dialect, dialect_names, get_dialect
from playground.dialects.marks.policies import CacheDecision, Policy
from playground.dialects.render_cache import RenderCache
from playground.dialects.rendering import Block, Draft, message_text
from playground.dialects.requests import requests_of
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import PromptData, TaskConfig
from playground.nouns.tools import ToolExample, ToolMetadata
from playground.parsing.syntax import Syntax
from playground.questions.comparison import compare
from playground.sessions.session import Session

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

    caches_renderings: ClassVar[bool] = True
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


@pytest.mark.parametrize("name", dialect_names())
def test_messages_asked_for_late_say_what_was_rendered(name: str) -> None:
    dialect, data = get_dialect(name), prompt(turn(0, {"path": "a", "depth": {"of": [1]}}))
    expected = copy.deepcopy(dialect.render(data).messages)
    late, other = dialect.render(data), dialect.render(data)
    data.messages[1].tool_calls[0].args["depth"]["of"][0] = 2
    data.messages[2].tool_results[0].result["found"].append(3)
    dialect.render(data)
    assert late.messages == expected
    late.messages[-1]["content"] = "written into"
    assert late.messages[-1]["content"] == "written into"  # asked again, it is the same list
    assert other.messages == expected


@pytest.mark.parametrize("order", [("twice", "also", "inner"), ("inner", "also", "twice")])
def test_a_value_that_stands_twice_hides_no_change_beside_it(order: tuple[str, ...]) -> None:
    twice, inner = [0], [1]
    values = {"twice": twice, "also": twice, "inner": inner}
    data = prompt(turn(0, {key: values[key] for key in order}))
    dialect = get_dialect("hermes")
    assert '"inner": [1]' in message_text(dialect.render(data).messages[2])
    inner.append(2)
    assert '"inner": [1, 2]' in message_text(dialect.render(data).messages[2])


@pytest.mark.parametrize("writes", ["method", "policy"])
def test_who_may_write_into_any_message_writes_into_copies(writes: str, counting: Counting) -> None:
    def spoil(messages: Any, request: Any = None) -> list[CacheDecision]:
        for message in messages:
            message["content"] = "spoiled"
        return []

    class Spoiling(Counting):
        caches_renderings = True

        def inject_prompt_cache(self, messages: Any, prompt_data: PromptData) -> Any:
            return spoil(messages)

    if writes == "policy":
        dialect: Counting = counting.with_policy(Policy("spoil", "a test", spoil))
    else:
        dialect = Spoiling(name="counting", syntax=SYNTAX, rules="Call.")
    data = prompt(turn(0))
    assert {m["content"] for m in dialect.render(data).messages} == {"spoiled"}
    plain = dialect.with_policy("none") if writes == "policy" else counting
    told = [message_text(message) for message in plain.render(data).messages]
    assert told == [message_text(message) for message in counting.render(data).messages]
    assert not any("spoiled" in text for text in told)


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
    messages = [Message("system", (TextPart("Be brief."),)), *turn(0), *turn(1)]
    data = prompt(messages)
    stops = list(range(len(messages) + 1))
    # what a request holds when it is given out is what it holds in the end
    requests = list(requests_of(dialect, data, stops))
    for stop, request in zip(stops, requests, strict=True):
        # new messages, which nobody remembers
        anew = prompt([replace(message) for message in messages[:stop]])
        assert request == dialect.with_policy("none").render(anew).messages


def test_a_memory_forgets_what_was_not_asked_for_lately() -> None:
    memory, asked = RenderCache(characters=100, docs=100), list[str]()

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

    def write(tool: ToolMetadata) -> str:
        docs.append(tool.name)
        return tool.name * 10

    for tool in (TOOLS[0], TOOLS[1], TOOLS[0], TOOLS[2], TOOLS[0], TOOLS[1]):
        memory.docs("dialect", [tool], write, lambda *_: [])
    assert docs == ["list", "find", "read", "find"]


LEAVES = st.sampled_from([0, 1, 2, True, False, 1.0, 0.0, -0.0, None, "", "1", "a"])
VALUES = LEAVES | st.builds(
    lambda leaf, shape: shape(leaf),
    LEAVES,
    st.sampled_from(
        [
            lambda leaf: [leaf],
            lambda leaf: {"a": leaf, "b": 1},
            lambda leaf: ([leaf], leaf),
            lambda leaf: {"a": [{"b": leaf}, 0], "c": None},
        ]
    ),
)
OBJECTS = st.dictionaries(st.sampled_from(["path", "depth"]), VALUES, min_size=1)


def places(value: Any) -> Iterator[dict[Any, Any] | list[Any]]:
    """Every dict and every list within a value, itself too."""
    if isinstance(value, dict | list):
        yield value
    if isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from places(each)


def write_into(
    place: dict[Any, Any] | list[Any], draw: Callable[[st.SearchStrategy[Any]], Any]
) -> None:
    """One change of many: another value, one more, one less, another order."""
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    change = draw(st.sampled_from(["value", "more", "less", "order"] if keys else ["more"]))
    match change, place:
        case "value", _:
            place[draw(st.sampled_from(keys))] = draw(VALUES)
        case "more", dict():
            place["d"] = draw(VALUES)
        case "more", list():
            place.append(draw(VALUES))
        case "less", _:
            del place[draw(st.sampled_from(keys))]
        case "order", dict():
            key = draw(st.sampled_from(keys))
            place[key] = place.pop(key)
        case "order", list():
            place.reverse()


@given(data=st.data())
def test_whatever_is_written_into_what_was_given_is_seen(data: st.DataObject) -> None:
    dialect = get_dialect(data.draw(st.sampled_from(["xml", "hermes", "native", "qwen3-coder"])))
    arguments, result, example = data.draw(OBJECTS), data.draw(VALUES), data.draw(OBJECTS)
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "x": data.draw(VALUES)}
    tool = ToolMetadata(
        name="list", input_schema=schema, examples=(ToolExample(parameters=example),)
    )
    call, answer = ToolCallPart("c", "list", arguments), ToolResultPart("c", "list", result)
    question = Message("user", (TextPart("?"), ToolResultPart("b", "list", [result])))
    given = prompt([question, Message("assistant", (call,)), Message("tool", (answer,))], [tool])
    dialect.render(given)
    # not what was drawn: pydantic takes some of it over as copies
    held = [call.args, answer.result, question.tool_results[0].result]
    written = [tool.input_schema["properties"], tool.input_schema["x"], tool.examples[0].parameters]
    found = list(places([*held, *written]))[1:]
    write_into(data.draw(st.sampled_from(found)), data.draw)
    assert_as_written_anew(dialect, given)


def assert_as_written_anew(dialect: Dialect, given: PromptData) -> None:
    """As text: 1 is True to a comparison."""
    anew = given.model_copy(deep=True)
    assert repr(dialect.render(given)) == repr(dialect.render(anew))


class Box:
    """Something that JSON has not, and that is written as its text."""

    text = "full"

    def __str__(self) -> str:
        return self.text


@pytest.mark.parametrize("name", ["xml", "hermes", "native"])
def test_what_nobody_can_look_into_is_written_every_time(name: str) -> None:
    dialect, box = get_dialect(name), Box()
    given = prompt(turn(0, {"path": {"in": [box]}}))
    assert "full" in repr(dialect.render(given))
    box.text = "empty"
    assert "empty" in repr(dialect.render(given))


def test_another_message_with_the_id_of_one_that_is_gone_is_another() -> None:
    memory, ids = RenderCache(characters=1), list[int]()

    def form(index: int, message: Message) -> list[Draft]:
        block = Block("message:0", "user", message.text)
        return [Draft({"role": "user", "content": message.text}, (block,))]

    for number in range(200):
        message = Message("user", (TextPart(f"number {number}"),))
        ids.append(id(message))
        found = memory.session("dialect", [message], (), form)
        assert found.history.messages == [{"role": "user", "content": f"number {number}"}]
        memory.session("dialect", [Message("user", (TextPart("so that it goes"),))], (), form)
        del message, found
        gc.collect(0)
    assert len(set(ids)) < len(ids), "no id came again: this showed nothing"
