"""Statements of Flink-Agents' design of prompt, tool and chat model, each tried by code."""

# mypy: ignore-errors
# A statement is one expression over code that has no types.

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel
from seed_statements import Statement, confirm, differs, each, raises, renamed, works

from playground import agents
from playground.agents import (
    Agent,
    ChatMessage,
    ChatRequestEvent,
    ChatResponseEvent,
    FunctionTool,
    InputEvent,
    LocalRunner,
    MessageRole,
    Prompt,
    ResourceType,
    ScriptedModel,
    ToolRequestEvent,
    ToolResponseEvent,
    ToolType,
)


def add(a: int, b: int = 0) -> int:
    """Add.

    Parameters
    ----------
    a : int
        the first
    """
    return a + b


class Mine(agents.BaseChatModel):
    host: str = "h"
    __bound: Any = None

    def chat(self, messages: Any, *more: Any, **rest: Any) -> ChatMessage:
        return ChatMessage(role=MessageRole.ASSISTANT, content=messages[-1].content)

    def bind_tools(self, tools: Any) -> None:
        self.__bound = tools


class Harbour(Agent):
    @agents.prompt
    @staticmethod
    def desk() -> Any:
        return Prompt.from_text("For {port}.")

    @agents.tool
    @staticmethod
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    @agents.chat_model
    @staticmethod
    def model() -> Any:
        return Mine, {"host": "x", "prompt": "desk", "tools": ["add"]}

    @agents.chat_model
    @staticmethod
    def direct() -> Any:
        return Mine, {"prompt": Prompt.from_text("At {port}.")}

    @agents.action(InputEvent)
    @staticmethod
    def begin(event: InputEvent, ctx: Any) -> None:
        ctx.send_event(ChatRequestEvent("model", [ChatMessage(content=event.value)]))


def started() -> LocalRunner:
    runner = LocalRunner(Harbour(), models={"model": ScriptedModel(["ok"])})
    runner.run(key=1, value="x")
    return runner


def context() -> Any:
    return LocalRunner(Harbour()).context(1)


def resource(name: str, kind: ResourceType) -> Any:
    return context().get_resource(name, kind)


ABOUT: Final = Prompt.from_text("About {topic}.")
LIST: Final = Prompt.from_messages([ChatMessage(role=MessageRole.USER, content="About {topic}.")])
TOOL: Final = FunctionTool(add)
CALL: Final = {
    "id": "1",
    "type": "function",
    "function": {"name": "add", "arguments": {"a": 1, "b": 2}},
}

FLINK: Final[list[Statement]] = [
    works(
        "prompt, tool and chat model are resources",
        lambda: (
            {Prompt.resource_type(), TOOL.resource_type(), Mine.resource_type()}
            == {ResourceType.PROMPT, ResourceType.TOOL, ResourceType.CHAT_MODEL}
        ),
    ),
    works(
        "a prompt is made of a text",
        lambda: Prompt.from_text("Hi").format_messages()[0].content == "Hi",
    ),
    works("or of messages", lambda: LIST.format_messages(topic="x")[0].role is MessageRole.USER),
    works("format_string gives text", lambda: "About x." in ABOUT.format_string(topic="x")),
    works(
        "format_messages gives messages",
        lambda: isinstance(ABOUT.format_messages(topic="x")[0], ChatMessage),
    ),
    works(
        "parameters stand in braces, in messages too",
        lambda: LIST.format_messages(topic="x")[0].content == "About x.",
    ),
    works(
        "from_text takes a role",
        lambda: (
            Prompt.from_text("Hi", role=MessageRole.USER).format_messages()[0].role
            is MessageRole.USER
        ),
    ),
    works(
        "a prompt has a template",
        lambda: [m.content for m in LIST.template] == ["About {topic}."],
    ),
    works(
        "a prompt is serializable",
        lambda: Prompt.model_validate_json(LIST.model_dump_json()) == LIST,
    ),
    works("a tool has a type", lambda: TOOL.tool_type() is ToolType.FUNCTION),
    works("and metadata", lambda: TOOL.metadata.name == "add"),
    works("a tool is called with arguments", lambda: TOOL.call(a=1, b=2) == 3),
    *(
        works(f"{name} is a type of tool", lambda value=value: value in {t.value for t in ToolType})
        for name, value in (
            ("model_built_in", "model_built_in"),
            ("function", "function"),
            ("remote_function", "remote_function"),
            ("mcp", "mcp"),
        )
    ),
    works(
        "metadata has name, description and args_schema",
        lambda: (
            TOOL.metadata.description == "Add." and issubclass(TOOL.metadata.args_schema, BaseModel)
        ),
    ),
    works(
        "the schema is a pydantic model, which validates",
        lambda: raises(ValueError, lambda: TOOL.metadata.args_schema.model_validate({"a": "x"})),
    ),
    works(
        "create_schema_from_function reads the docstring",
        lambda: (
            agents.create_schema_from_function(name="add", func=add).model_json_schema()[
                "properties"
            ]["a"]["description"]
            == "the first"
        ),
    ),
    works(
        "what has no default is required",
        lambda: (
            agents.create_schema_from_function(name="add", func=add).model_json_schema()["required"]
            == ["a"]
        ),
    ),
    works(
        "a chat model has a prompt",
        lambda: Mine().prompt is None and Mine(prompt=ABOUT).prompt == ABOUT,
    ),
    works(
        "chat takes messages and gives one",
        lambda: Mine().chat([ChatMessage(content="x")]).content == "x",
    ),
    works(
        "chat and bind_tools are abstract",
        lambda: agents.BaseChatModel.__abstractmethods__ == {"chat", "bind_tools"},
    ),
    works("bind_tools takes tools", lambda: Mine().bind_tools([TOOL]) is None),
    works("fields of a model's class are its arguments", lambda: Mine(host="y").host == "y"),
    *(
        works(
            f"{role.value} is a role",
            lambda role=role: ChatMessage(role=role, content="x").role is role,
        )
        for role in (MessageRole.SYSTEM, MessageRole.USER, MessageRole.ASSISTANT, MessageRole.TOOL)
    ),
    works(
        "a message has content, tool_calls and extra_args",
        lambda: (m := ChatMessage(content="x")).tool_calls == [] and m.extra_args == {},
    ),
    works(
        "a call has id, type, function with name and arguments",
        lambda: (
            ChatMessage.model_validate(
                {"role": "assistant", "content": "", "tool_calls": [CALL]}
            ).tool_calls[0]["function"]["arguments"]
            == {"a": 1, "b": 2}
        ),
    ),
    works(
        "extra_args are key and value",
        lambda: (
            ChatMessage(content="x", extra_args={"partial": True}).extra_args == {"partial": True}
        ),
    ),
    works(
        "additional_kwargs fill a prompt in a chat",
        lambda: ChatMessage(content="x", extra_args={"a": 1}).additional_kwargs == {"a": 1},
    ),
    works("an agent is a class", lambda: isinstance(Harbour(), Agent)),
    works(
        "@prompt declares a prompt",
        lambda: resource("desk", ResourceType.PROMPT).format_string(port="x").endswith("For x."),
    ),
    works("@tool declares a tool", lambda: resource("add", ResourceType.TOOL).call(a=1, b=2) == 3),
    works(
        "its docstring describes it",
        lambda: resource("add", ResourceType.TOOL).metadata.description == "Add.",
    ),
    works(
        "@chat_model declares a class and its arguments",
        lambda: resource("model", ResourceType.CHAT_MODEL).model.host == "x",
    ),
    works(
        "a prompt may be given as an object",
        lambda: "At" in str(resource("direct", ResourceType.CHAT_MODEL)),
    ),
    works(
        "or by its name", lambda: "For {port}." in str(resource("model", ResourceType.CHAT_MODEL))
    ),
    works(
        "tools are given by name",
        lambda: [t.name for t in resource("model", ResourceType.CHAT_MODEL).tools] == ["add"],
    ),
    works(
        "@action listens to events",
        lambda: (
            [type(e).__name__ for e in started().events][:2] == ["InputEvent", "ChatRequestEvent"]
        ),
    ),
    works("an input's event has its value", lambda: InputEvent("x").value == "x"),
    works(
        "a resource is got from the context, by name and type",
        lambda: context().get_resource("desk", ResourceType.PROMPT),
    ),
    works(
        "a chat is asked for by an event with model and messages",
        lambda: (
            (e := ChatRequestEvent("m", [ChatMessage(content="x")])).model == "m"
            and e.messages[0].content == "x"
        ),
    ),
    works(
        "a call by one with name and kwargs",
        lambda: (
            (e := ToolRequestEvent(name="add", kwargs={"a": 1})).name == "add"
            and e.kwargs == {"a": 1}
        ),
    ),
    works(
        "responses hold their request",
        lambda: (
            ToolResponseEvent(
                request=(r := ToolRequestEvent(name="add", kwargs={})), response=3
            ).request
            is r
            and ChatResponseEvent(
                request=(c := ChatRequestEvent("m", [])), response=ChatMessage(content="x")
            ).request
            is c
        ),
    ),
    works(
        "a call is read as tool_call.function.name",
        lambda: (
            ChatMessage(role=MessageRole.ASSISTANT, tool_calls=[CALL]).tool_calls[0].function.name
            == "add"
        ),
    ),
    renamed(
        "process_chat_event is a built-in action",
        lambda: agents.process_chat_request_or_tool_response,
        "agents.md",
        "`process_chat_request_or_tool_response`",
    ),
    renamed(
        "process_tool_request is one",
        lambda: agents.process_tool_request,
        "agents.md",
        "| `process_tool_request` | `process_tool_request` |",
    ),
    renamed(
        "ctx.get_resource gives the declared chat model",
        lambda: isinstance(resource("model", ResourceType.CHAT_MODEL).model, Mine),
        "agents.md",
        "its `model` is that object",
    ),
    renamed(
        "a built-in OllamaChatModel",
        lambda: agents.LiteLLMModel("ollama_chat/llama3.1"),
        "agents.md",
        '`LiteLLMModel("ollama_chat/llama3.1")`',
    ),
    differs(
        "a text's message is the user's",
        lambda: Prompt.from_text("x").format_messages()[0].role is MessageRole.SYSTEM,
        "agents.md",
        "the message of `Prompt.from_text` is a system message",
    ),
    differs(
        "content beside calls is a response",
        lambda: (
            not any(
                isinstance(e, ChatResponseEvent)
                for e in list(
                    agents.chat_events(
                        [ChatMessage(content="?")],
                        agents.ChatModelSetup(
                            ScriptedModel(
                                [
                                    ChatMessage(
                                        role=MessageRole.ASSISTANT,
                                        content="let me",
                                        tool_calls=[CALL],
                                    ),
                                    "3",
                                ]
                            ),
                            tools=(TOOL,),
                        ),
                    )
                )[:3]
            )
        ),
        "agents.md",
        "no response is sent while there are tool calls",
    ),
    differs(
        "def add(int: a, int: b)",
        lambda: raises(SyntaxError, lambda: compile("def add(int: a, int: a): ...", "", "exec")),
        "agents.md",
        "`def add(int: a, int: b)` is no Python",
    ),
]


@each(FLINK)
def test_a_statement_of_flinks_document_is_true_here(statement: Statement) -> None:
    confirm(statement)
