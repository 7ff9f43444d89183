"""Flink-Agents' design document, to the letter: its own chat model, tools and prompts run here."""

from __future__ import annotations

import asyncio
import datetime
import functools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import pytest
from pydantic import Field

from playground.agents import (
    BaseChatModel,
    ChatMessage,
    ChatModel,
    ChatModelSetup,
    FunctionTool,
    MessageRole,
    Prompt,
    ResourceType,
    ScriptedModel,
    chat_events,
    chat_model,
    prompt,
    scan,
    tool,
)
from playground.signatures import ChatAdapter, Image, Signature
from playground.systems.flink_agents.arguments import checked_arguments
from playground.systems.flink_agents.chat_message import to_openai_message
from playground.tools import ToolMetadata


def add(a: int, b: int = 0) -> Any:
    """Add.

    Parameters
    ----------
    a : int
        one
    b : int
        other
    """
    return a + b


def called(arguments: Any, function: Any = add, **ids: str) -> Any:
    """The events of one call of a tool, and the messages that the model got last."""
    call = {"type": "function", "function": {"name": function.__name__, "arguments": arguments}}
    answer = ChatMessage(role=MessageRole.ASSISTANT, tool_calls=[{**(ids or {"id": "u1"}), **call}])
    model = ScriptedModel([answer, "done"])
    setup = ChatModelSetup(model, tools=(FunctionTool(function),))
    events = list(chat_events([ChatMessage(content="?")], setup))
    return events[2], model.inputs[-1]


# arguments and tools


@pytest.mark.parametrize(
    ("arguments", "coerced"),
    [
        ({"a": "1", "b": "2"}, ["a", "b"]),
        ({"a": 1, "b": "2"}, ["b"]),
        ({"a": 1.0, "b": 2}, ["a"]),
        ({"a": 1, "b": 2}, []),
    ],
)
def test_arguments_are_read_by_the_schema_and_that_is_said(
    arguments: Mapping[str, Any], coerced: list[str]
) -> None:
    event, _ = called(arguments)
    assert (event.responses, event.success) == ([3], [True])
    assert {finding.code for finding in event.findings} <= {"argument-coerced"}
    assert [finding.where for finding in event.findings] == [
        f"tool add, argument {name}" for name in coerced
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"a": "one"}, "a: Input should be a valid integer"),
        ({"b": 1}, "a: missing"),
        ({"a": 1.5}, "a: Input should be a valid integer"),
        ({"a": None}, "a: Input should be a valid integer"),
    ],
)
def test_arguments_that_do_not_fit_are_an_error_and_the_tool_does_not_run(
    arguments: Mapping[str, Any], words: str
) -> None:
    event, messages = called(arguments)
    assert (event.responses, event.success) == (["Tool `add` execute failed."], [False])
    assert event.errors[0].startswith(words)
    assert messages[-1].content == "Tool `add` execute failed."


def moor(
    metres: Annotated[int, Field(ge=1, lt=400)],
    name: Annotated[str, Field(min_length=2, pattern="^[A-Z]")] = "Ad",
    day: datetime.date = datetime.date(2026, 2, 3),
    lines: Annotated[list[int], Field(max_length=2)] = [],  # noqa: B006
    depths: dict[str, float] = {},  # noqa: B006
) -> Any:
    """Moor a ship."""
    return [metres, name, day, lines, depths]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"metres": 0}, "metres: Input should be greater than or equal to 1"),
        ({"metres": "400"}, "metres: Input should be less than 400"),
        ({"metres": 1, "name": "A"}, "name: String should have at least 2 characters"),
        ({"metres": 1, "name": "ada"}, "name: String should match pattern"),
        ({"metres": 1, "day": "tomorrow"}, "day: Input should be a valid date"),
        ({"metres": 1, "lines": [1, 2, 3]}, "lines: List should have at most 2 items"),
        ({"metres": 1, "depths": {"quay": "deep"}}, "depths: Input should be a valid number"),
    ],
)
def test_arguments_out_of_their_bounds_are_an_error(
    arguments: Mapping[str, Any], words: str
) -> None:
    event, _ = called(arguments, moor)
    assert event.success == [False]
    assert event.errors[0].startswith(words)


def test_arguments_within_their_bounds_are_given_to_the_tool() -> None:
    given = {"metres": "1", "name": "Ada", "day": "2026-02-04", "lines": ["1"], "depths": {"a": 1}}
    event, _ = called(given, moor)
    assert event.responses == [[1, "Ada", "2026-02-04", [1], {"a": 1.0}]]


@pytest.mark.parametrize(
    ("schema", "value", "error"),
    [
        ({"const": 3}, 4, "Input should be 3"),
        ({"type": "object", "properties": {}, "additionalProperties": False}, {}, ""),
        (
            {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
            {"b": 1},
            "Extra inputs are not permitted",
        ),
        ({"type": "integer", "minimum": "zero"}, 1, ""),  # no bound at all
        ({"type": "string", "pattern": "(?=x)"}, "y", ""),  # pydantic's patterns have none such
    ],
)
def test_what_a_schema_says_without_a_type_is_checked_too(
    schema: dict[str, Any], value: Any, error: str
) -> None:
    tool = ToolMetadata(name="t", input_schema={"type": "object", "properties": {"a": schema}})
    if not error:
        assert checked_arguments(tool, {"a": value}) == ({"a": value}, [])
        return
    with pytest.raises(ValueError, match=f"a: {error}"):
        checked_arguments(tool, {"a": value})


def test_an_async_tool_is_awaited() -> None:
    async def later(a: int) -> int:
        """Later."""
        await asyncio.sleep(0)
        return a + 1

    assert called({"a": 1}, later)[0].responses == [2]

    async def within_a_loop() -> Any:
        return called({"a": 1}, later)[0].responses

    assert asyncio.run(within_a_loop()) == [2]


class Adder:
    """Adds."""

    __name__ = "adder"

    def __call__(self, a: int, b: int = 1) -> int:
        return a + b


@pytest.mark.parametrize("function", [Adder(), functools.partial(add, b=1)])
def test_what_can_be_called_is_read_by_its_annotations(function: Any) -> None:
    if isinstance(function, functools.partial):
        function.__name__ = "adder"  # type: ignore[attr-defined]
    assert called({"a": "2"}, function)[0].responses == [3]


def test_a_call_with_an_id_alone_gets_its_id_back() -> None:
    _, messages = called({"a": 1}, id="44d758b1")
    assert to_openai_message(messages[-1])["tool_call_id"] == "44d758b1"
    _, messages = called({"a": 1}, id="u1", original_id="call_7")
    assert to_openai_message(messages[-1])["tool_call_id"] == "call_7"


# the document's own chat model


class Client:
    """Stands where Ollama's client stands in the document."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.asked: list[Any] = []

    def create(self, **request: Any) -> str:
        self.asked.append(request)
        return f"{request['model']} at {self.host}: {request['messages'][-1]}"


class OllamaChatModel(BaseChatModel):
    """As the document writes it, but for the client."""

    host: str
    model: str
    __client: Client
    __tools: Sequence[Mapping[str, Any]] | None = None

    def __init__(self, **data: Any) -> None:
        super().__init__(**data)
        self.__client = Client(self.host)

    def chat(  # type: ignore[override]  # as the document writes it
        self, messages: Sequence[ChatMessage], chat_history: list[ChatMessage] | None = None
    ) -> ChatMessage:
        given = messages
        if self.prompt is not None:
            input_variable: dict[str, Any] = {}
            for message in messages:
                input_variable.update(message.additional_kwargs)
            given = self.prompt.format_messages(**input_variable)
        text = self.__client.create(
            model=self.model, messages=[str(m) for m in given], tools=self.__tools
        )
        return ChatMessage(role=MessageRole.ASSISTANT, content=text)

    def bind_tools(self, tools: Sequence[Any]) -> None:
        self.__tools = [{"name": each.metadata.name} for each in tools]

    @property
    def asked(self) -> list[Any]:
        return self.__client.asked


class MyAgent:
    @prompt
    @staticmethod
    def converter() -> Prompt:
        return Prompt.from_text("The product is {name}.", role=MessageRole.USER)

    @tool
    @staticmethod
    def send_email(to: str) -> str:
        """Send it."""
        return to

    @chat_model
    @staticmethod
    def ollama() -> Any:
        given = {"host": "8.8.8.8", "model": "qwen2.5:7b"}
        return OllamaChatModel, {**given, "prompt": "converter", "tools": ["send_email"]}

    @chat_model
    @staticmethod
    def older() -> Any:
        given = {"prompt": "converter", "variables_from": "messages"}
        return ScriptedModel, {"answers": ["ok"], **given}


def test_the_documents_own_chat_model_runs() -> None:
    setup = scan(MyAgent).chat_model("ollama")
    asked = ChatMessage(content="x", extra_args={"name": "rope"})
    answer = setup.chat([asked])
    assert answer.content == "qwen2.5:7b at 8.8.8.8: user: The product is rope."
    assert isinstance(setup.model, OllamaChatModel)
    assert setup.model.asked[0]["tools"] == [{"name": "send_email"}]
    alone = OllamaChatModel(host="h", model="m")
    assert alone.chat([ChatMessage(content="hi")]).content == "m at h: user: hi"
    assert alone.complete([ChatMessage(content="hi")]).message.content == "m at h: user: hi"


def test_everything_declared_says_what_kind_of_resource_it_is() -> None:
    declared = scan(MyAgent)
    assert Prompt.resource_type() is declared.prompt("converter").resource_type()
    assert Prompt.resource_type() is ResourceType.PROMPT
    assert declared.tool("send_email").resource_type() is ResourceType.TOOL
    assert OllamaChatModel.resource_type() is ChatModel.resource_type() is ResourceType.CHAT_MODEL


def test_a_chat_model_answers_messages_by_chat() -> None:
    assert ScriptedModel(["hi"]).chat([ChatMessage(content="?")]).content == "hi"


@pytest.mark.parametrize(
    "given",
    [
        Prompt.from_text("About {topic}."),
        Prompt.from_text("About {topic}.", role=MessageRole.USER),
        Prompt.from_messages([ChatMessage(content="{x}", extra_args={"partial": True})]),
    ],
)
def test_a_prompt_comes_back_from_its_json(given: Prompt) -> None:
    assert Prompt.model_validate_json(given.model_dump_json()) == given


def test_a_declared_model_may_take_its_variables_from_messages() -> None:
    setup = scan(MyAgent).chat_model("older")
    asked = ChatMessage(content="x", extra_args={"name": "rope"})
    assert setup.variables_from == "messages"
    assert setup.request([asked])[0].content == "The product is rope."


def test_an_adapter_of_signatures_asks_any_chat_model() -> None:
    signature = Signature.parse("picture: Image -> out: int")
    model = ScriptedModel(["[[ ## out ## ]]\n2"])
    inputs = {"picture": Image("https://example.org/a.png")}
    assert ChatAdapter()(model, {}, signature, [], inputs) == [{"out": 2}]
    sent = to_openai_message(model.inputs[0][-1])
    assert [part["type"] for part in sent["content"]] == ["text", "image_url", "text"]
