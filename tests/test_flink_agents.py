"""Flink-Agents' agents: the design document's classes as written, and those of release 0.3.1."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from playground.agents import (
    Agent,
    AgentConfiguration,
    AgentExecutionOptions,
    AgentsExecutionEnvironment,
    BaseChatModel,
    BaseChatModelConnection,
    BaseChatModelSetup,
    BaseTool,
    ChatMessage,
    ChatRequestEvent,
    ChatResponseEvent,
    ErrorHandlingStrategy,
    Event,
    InputEvent,
    LocalRunner,
    MessageRole,
    OutputEvent,
    Prompt,
    ReActAgent,
    Resource,
    ResourceDescriptor,
    ResourceType,
    RunnerContext,
    ScriptedModel,
    SerializableResource,
    ToolRequestEvent,
    ToolResponseEvent,
    action,
    chat_model,
    chat_model_connection,
    chat_model_setup,
    load_yaml,
    prompt,
    tool,
    vector_store,
)
from playground.base.errors import InputFault, PlaygroundError, UnknownNameError


def call(name: str, arguments: dict[str, Any], call_id: str = "1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: dict[str, Any], text: str = "") -> ChatMessage:
    return ChatMessage(role=MessageRole.ASSISTANT, content=text, tool_calls=list(made))


ADD = call("add", {"a": 1, "b": 2})


class OllamaChatModel(BaseChatModel):
    """A model over a host, as in the document; it answers with what it was sent."""

    host: str
    model: str
    __tools: Sequence[str] = ()

    def chat(self, messages: Sequence[ChatMessage], *more: Any, **rest: Any) -> ChatMessage:
        sent = list(messages)
        if self.prompt is not None:
            values: dict[str, Any] = {}
            for message in messages:
                values.update(message.additional_kwargs)
            sent = self.prompt.format_messages(**values)
        content = f"{self.model} with {', '.join(self.__tools)}: {sent[-1].content}"
        return ChatMessage(role=MessageRole.ASSISTANT, content=content)

    def bind_tools(self, tools: Sequence[BaseTool]) -> None:
        self.__tools = [each.name for each in tools]


class MyAgent(Agent):
    """Sections 6.1 to 6.4 of the design document (there `int: a, int: b`, which is no Python)."""

    @prompt
    @staticmethod
    def converter() -> Any:
        return Prompt.from_text(
            "The product is {name}, {description}. There are the evaluate details, each item"
            "contains a rating score and rating reasons: {detail}"
        )

    @tool
    @staticmethod
    def add(a: int, b: int) -> int:
        """calculate the sum of a and b

        Parameters
        ----------
        a : int
            The first operand
        b : int
            The second operand

        Returns:
        -------
        int
            The sum of a and b.
        """
        return a + b

    @chat_model
    @staticmethod
    def ollama() -> Any:
        return OllamaChatModel, {
            "host": "8.8.8.8",
            "model": "qwen2.5:7b",
            "prompt": "converter",
            "tools": ["add"],
        }

    @action(InputEvent)
    @staticmethod
    def mock(event: InputEvent, ctx: RunnerContext) -> None:
        input_data = event.value
        converter_prompt = ctx.get_resource("converter", ResourceType.PROMPT)
        model = ctx.get_resource("ollama", ResourceType.CHAT_MODEL)
        tool = ctx.get_resource("add", ResourceType.TOOL)
        ctx.send_event(OutputEvent(converter_prompt.format_string(name=input_data)[:23]))
        ctx.send_event(OutputEvent(tool.call(a=1, b=2)))
        asked = ChatMessage(content="?", extra_args={"name": input_data})
        ctx.send_event(OutputEvent(model.chat([asked]).content[:46]))


def process_chat_event(event: ChatRequestEvent, ctx: RunnerContext) -> None:
    """The document's own action, word for word."""
    chat_model = ctx.get_resource(event.model, ResourceType.CHAT_MODEL)
    response = chat_model.chat(event.messages)
    # call tool
    if len(response.tool_calls) > 0:
        for tool_call in response.tool_calls:
            ctx.send_event(
                ToolRequestEvent(name=tool_call.function.name, kwargs=tool_call.function.arguments)
            )

    # return response
    if len(response.content) > 0:
        ctx.send_event(ChatResponseEvent(request=event, response=response))


def process_tool_request(event: ToolRequestEvent, ctx: RunnerContext) -> None:
    tool = ctx.get_resource(event.name, ResourceType.TOOL)
    response = tool.call(**event.kwargs)
    ctx.send_event(ToolResponseEvent(request=event, response=response))


def test_the_documents_agent_runs_as_written() -> None:
    runner = LocalRunner(MyAgent())
    assert runner.run(value="rope", key=7) == 7
    assert [output[7] for output in runner.get_outputs()] == [
        "The product is rope, {d",
        3,
        "qwen2.5:7b with add: The product is rope, {des",
    ]


def test_the_documents_actions_run_as_written() -> None:
    agent = MyAgent()
    agent.add_action("chat", [ChatRequestEvent], process_chat_event)
    agent.add_action("call", [ToolRequestEvent], process_tool_request)
    model = ScriptedModel([calls(ADD, text="let me")])
    runner = LocalRunner(agent, models={"ollama": model}, built_in_actions=())
    asked = ChatRequestEvent("ollama", [ChatMessage(content="1 + 2?")])
    context = runner.context(1)
    process_chat_event(asked, context)
    request, answer = context.events
    assert isinstance(request, ToolRequestEvent)
    assert isinstance(answer, ChatResponseEvent)
    assert (request.name, request.kwargs) == ("add", {"a": 1, "b": 2})
    assert (answer.request, answer.response.content) == (asked, "let me")
    process_tool_request(request, context)
    response = context.events[-1]
    assert isinstance(response, ToolResponseEvent)
    assert (response.request, response.response, response.results) == (request, 3, [3])
    assert (response.request_id, [*response.responses.values()]) == (request.id, [3])


# release 0.3.1


class Connection(BaseChatModelConnection):
    answers: list[Any]
    seen: list[Any] = []

    def chat(self, messages: Any, tools: Any = None, **kwargs: Any) -> ChatMessage:
        self.seen.append(([m.content for m in messages], [t.name for t in tools], kwargs))
        answer: ChatMessage = self.answers.pop(0)
        return answer


class Setup(BaseChatModelSetup):
    @property
    def model_kwargs(self) -> dict[str, Any]:
        return {"model": self.model}


class Harbour(Agent):
    """As the quick start of release 0.3.1 writes an agent."""

    @prompt
    @staticmethod
    def desk() -> Prompt:
        return Prompt.from_text("You answer for {port}.")

    @tool
    @staticmethod
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    @chat_model_connection
    @staticmethod
    def line() -> ResourceDescriptor:
        answers = [calls(ADD), ChatMessage(role=MessageRole.ASSISTANT, content="three")]
        return ResourceDescriptor(clazz=f"{__name__}.Connection", answers=answers)

    @chat_model_setup
    @staticmethod
    def model() -> ResourceDescriptor:
        return ResourceDescriptor(
            clazz=f"{__name__}.Setup", connection="line", model="m", prompt="desk", tools=["add"]
        )

    @vector_store
    @staticmethod
    def charts() -> ResourceDescriptor:
        return ResourceDescriptor(clazz="flink_agents.integrations.vector_stores.chroma.Chroma")

    @action(InputEvent.EVENT_TYPE)
    @staticmethod
    def ask(event: Event, ctx: RunnerContext) -> None:
        text = InputEvent.from_event(event).input
        ctx.short_term_memory.set("asked.last", text)
        asked = [ChatMessage(role=MessageRole.USER, content=text)]
        ctx.send_event(ChatRequestEvent("model", asked, prompt_args={"port": "Brest"}))

    @action(ChatResponseEvent.EVENT_TYPE)
    @staticmethod
    async def tell(event: Event, ctx: RunnerContext) -> None:
        response = ChatResponseEvent.from_event(event).response
        last = await ctx.durable_execute_async(ctx.short_term_memory.get, "asked.last")
        ctx.send_event(OutputEvent(output=f"{last} {response.content}"))


def test_an_agent_of_the_release_runs_in_its_environment() -> None:
    environment = AgentsExecutionEnvironment.get_execution_environment()
    outputs = environment.from_list([{"key": "k", "value": "1 + 2?"}]).apply(Harbour()).to_list()
    environment.execute()
    assert outputs == [{"k": "1 + 2? three"}]
    with pytest.raises(InputFault, match="executed a second time"):  # as the original refuses it
        environment.execute()
    assert outputs == [{"k": "1 + 2? three"}]


def test_a_chat_over_a_connection_sends_prompt_tools_and_parameters() -> None:
    runner = LocalRunner(Harbour())
    key = runner.run(value="1 + 2?")
    connection = runner.context(key).get_resource("line", ResourceType.CHAT_MODEL_CONNECTION)
    first = ["You answer for Brest.", "1 + 2?"]
    assert connection.seen == [
        (first, ["add"], {"model": "m"}),
        ([*first, "", "3"], ["add"], {"model": "m"}),
    ]
    assert [type(event).__name__ for event in runner.events] == [
        "InputEvent",
        "ChatRequestEvent",
        "ToolRequestEvent",
        "ToolResponseEvent",
        "ChatResponseEvent",
        "OutputEvent",
    ]


def test_another_model_stands_in_for_a_declared_one() -> None:
    model = ScriptedModel(["by script"])
    runner = LocalRunner(Harbour(), models={"model": model})
    runner.run(v="?")
    assert [*runner.get_outputs()[0].values()] == ["? by script"]
    assert [m.content for m in model.inputs[0]] == ["You answer for Brest.", "?"]
    with pytest.raises(UnknownNameError, match="unknown chat model 'mode'; did you mean 'model'"):
        LocalRunner(Harbour(), models={"mode": model})


class Sum(BaseModel):
    total: int


def run_once(answers: list[Any], schema: Any = None, **settings: Any) -> LocalRunner:
    """Run an agent that asks a scripted model once."""
    agent = Agent().add_resource("m", ResourceType.CHAT_MODEL, model_of(answers))
    config = AgentConfiguration()
    for name, value in settings.items():
        config.set(getattr(AgentExecutionOptions, name), value)

    def ask(event: Event, ctx: RunnerContext) -> None:
        ctx.send_event(ChatRequestEvent("m", [ChatMessage(content="?")], output_schema=schema))

    agent.add_action("ask", [InputEvent.EVENT_TYPE], ask)
    runner = LocalRunner(agent, config)
    runner.run(value=1)
    return runner


def model_of(answers: list[Any]) -> ResourceDescriptor:
    return ResourceDescriptor(clazz=ScriptedModel, answers=answers)


def test_an_answer_is_read_by_the_schema_and_asked_for_again_as_the_settings_say() -> None:
    retry = {"ERROR_HANDLING_STRATEGY": ErrorHandlingStrategy.RETRY, "MAX_RETRIES": 1}
    last = run_once(["no json", '```json\n{"total": 3}\n```'], Sum, **retry).events[-1]
    assert isinstance(last, ChatResponseEvent)
    assert (last.response.extra_args, last.retry_count) == ({"structured_output": Sum(total=3)}, 1)
    with pytest.raises(ValueError, match="Expecting value"):
        run_once(["no json", "nor this", '{"total": 3}'], Sum, **retry)
    with pytest.raises(InputFault, match="only 0 answers"):
        run_once([])
    ignore = run_once([], ERROR_HANDLING_STRATEGY="ignore")
    assert isinstance(ignore.events[-1], ChatRequestEvent)


def test_a_model_that_calls_for_ever_and_an_agent_that_never_ends_are_stopped() -> None:
    with pytest.raises(InputFault, match="called tools 100 times in a row"):
        run_once([calls(call("gone", {}))] * 200)
    agent = Agent()
    agent.add_action("again", [InputEvent], lambda event, ctx: ctx.send_event(event))
    with pytest.raises(InputFault, match="one input led to 10,000 events"):
        LocalRunner(agent).run(value=1)


def test_a_tool_that_fails_or_is_missing_answers_the_model() -> None:
    runner = run_once([calls(call("gone", {}, "x"), call("gone", {}, "x")), "well"])
    response = runner.events[3]
    assert isinstance(response, ToolResponseEvent)
    assert response.results == ["Tool `gone` does not exist."] * 2  # two calls with one id
    assert response.responses == {"x": "Tool `gone` does not exist."}
    assert response.success == [False, False]


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (lambda: AgentsExecutionEnvironment.get_execution_environment(env=object()), "environment"),
        (lambda: AgentsExecutionEnvironment().from_datastream(None), "from_datastream"),
        (lambda: AgentsExecutionEnvironment().from_list([]).to_table(None, None), "to_table"),
        (lambda: context().long_term_memory, "long-term memory"),
        (lambda: context().get_resource("charts", ResourceType.VECTOR_STORE), "vector store"),
    ],
)
def test_what_needs_flink_says_so(run: Any, words: str) -> None:
    with pytest.raises(InputFault, match=f"{words}.* needs Apache Flink"):
        run()


def context() -> RunnerContext:
    return LocalRunner(Harbour()).context(1)


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (lambda: action(), "an action without events"),
        (lambda: action(int), "not an event: <class 'int'>"),  # type: ignore[arg-type]
        (lambda: LocalRunner(Inheriting()), "MyAgent.mock is inherited"),
        (lambda: Agent().add_action("a", ["x"], lambda event: None), "action a: it takes event"),
        (lambda: LocalRunner(Harbour()).run(key=1), "no input"),
        (
            lambda: InputEvent.from_event(Event(type="x")),
            "not of the class InputEvent: its attributes are none",
        ),
        (lambda: ChatRequestEvent.from_event(Event(type="x")), "not of the class ChatRequestEvent"),
        (lambda: context().send_event("x"), "not an event: 'x'"),  # type: ignore[arg-type]
        (
            lambda: ResourceDescriptor(clazz="flink_agents.integrations.x.Setup").clazz,
            "flink_agents.integrations.x.Setup is Flink-Agents' own class",
        ),
        (lambda: ResourceDescriptor(clazz="x"), "not a class: 'x'"),
    ],
)
def test_what_is_wrong_is_said(run: Any, words: str) -> None:
    with pytest.raises(InputFault, match=words):
        run()


class Inheriting(MyAgent):
    pass


def test_a_missing_resource_is_a_key_error_too() -> None:
    """Flink-Agents' own agents catch a KeyError."""
    with pytest.raises(KeyError) as raised:
        context().get_resource("dusk", ResourceType.PROMPT)
    assert isinstance(raised.value, PlaygroundError)
    assert str(raised.value).startswith("unknown prompt 'dusk'; did you mean 'desk'?")


class Named(Event):
    """An event with fields, as in the first releases."""

    value: int


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(JSON)
def test_an_events_id_follows_from_its_content(value: Any) -> None:
    one, same = InputEvent(value), InputEvent(input=value)
    assert one.id == same.id
    assert one.id != OutputEvent(value).id
    assert InputEvent.from_event(one) is one
    plain = Event(type=one.type, attributes={"input": value})
    assert InputEvent.from_event(plain).id == plain.id == one.id
    assert InputEvent.from_event(plain).input == value
    before = one.id
    one.more = 1  # an event may have any further field
    assert one.id != before


def test_an_event_with_fields_is_listened_to_by_its_class() -> None:
    agent = Agent()
    agent.add_action("begin", [InputEvent], lambda e, ctx: ctx.send_event(Named(value=e.value)))
    agent.add_action("end", [Named], lambda e, ctx: ctx.send_event(OutputEvent(e.value + 1)))
    runner = LocalRunner(agent)
    runner.run(key="k", v=4)
    assert runner.get_outputs() == [{"k": 5}]


class Clock(Resource):
    """A resource that JSON cannot hold."""

    client: Any = None

    @classmethod
    def resource_type(cls) -> ResourceType:
        return ResourceType.TOOL


class WrittenClock(Clock, SerializableResource):
    pass


def test_a_serializable_resource_must_be_json() -> None:
    assert Clock(client=object()).client
    assert WrittenClock(client=[1]).model_dump_json() == '{"client":[1]}'
    with pytest.raises(ValidationError, match="Unable to serialize"):
        WrittenClock(client=object())
    assert issubclass(Prompt, SerializableResource)
    assert issubclass(BaseTool, SerializableResource)
    assert issubclass(BaseChatModel, Resource)


def test_an_awaited_call_raises_where_it_is_awaited() -> None:
    def fail() -> None:
        raise OSError("gone")

    result = context().durable_execute_async(fail)

    async def wait() -> Any:
        return await result

    with pytest.raises(OSError, match="gone"):
        asyncio.run(wait())


def test_a_react_agent_calls_its_tools_and_answers_in_its_schema() -> None:
    model = ScriptedModel([calls(ADD), '{"total": 3}'])
    agent = ReActAgent(
        chat_model=ResourceDescriptor(clazz="flink_agents.x.Setup", tools=["add"]),
        prompt=Prompt.from_messages(
            [ChatMessage(role=MessageRole.SYSTEM, content="Add {a} and {b}.")]
        ),
        output_schema=Sum,
    )
    agent.add_resource("add", ResourceType.TOOL, add)
    runner = LocalRunner(agent, models={"_default_chat_model": model})
    runner.run(key="k", value={"a": 1, "b": 2})
    assert runner.get_outputs() == [{"k": Sum(total=3)}]
    request = runner.events[1]
    assert isinstance(request, ChatRequestEvent)
    said, asked_for = (message.content for message in request.messages)
    assert said == "Add 1 and 2."
    assert asked_for.startswith("The final response should be json format, and match the schema {")
    with pytest.raises(InputFault, match="an input of the type list"):
        runner.run(value=[1])
    with pytest.raises(InputFault, match="not a model: 5"):
        ReActAgent(chat_model=ResourceDescriptor(clazz="a.B"), output_schema=5)  # type: ignore[arg-type]


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def ask(event: Event, ctx: RunnerContext) -> None:
    text = InputEvent.from_event(event).input
    ctx.send_event(ChatRequestEvent("model", [ChatMessage(content=text)]))


def tell(event: Event, ctx: RunnerContext) -> None:
    content = ChatResponseEvent.from_event(event).response.content
    ctx.send_event(OutputEvent(content + ctx.get_action_config_value("end")))


DECLARED = """
agents:
  - name: pilot
    prompts: [{name: desk, text: You pilot ships.}]
    chat_model_setups: [{name: model, clazz: ollama, connection: line, prompt: desk, tools: [add]}]
    actions:
      - {name: ask, function: "test_flink_agents:ask", listen_to: [input]}
      - tell
tools: [{name: add, function: "test_flink_agents:add"}]
chat_model_connections: [{name: line, clazz: ollama}]
actions:
  - {name: tell, function: "test_flink_agents:tell", listen_to: [chat_response], config: {end: "!"}}
"""


def test_an_agent_of_a_yaml_file_runs(tmp_path: Path) -> None:
    file = tmp_path / "agents.yaml"
    file.write_text(DECLARED)
    env = AgentsExecutionEnvironment.get_execution_environment()
    env.load_yaml(file)
    model = ScriptedModel([calls(ADD), "3"])
    outputs = env.from_list([{"key": "k", "value": "1 + 2?"}]).apply("pilot", {"model": model})
    env.execute()
    assert outputs.to_list() == [{"k": "3!"}]
    with pytest.raises(InputFault, match="two agents pilot"):
        load_yaml(env, [file])


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("- tell", "- tel", "did you mean 'tell'"),
        *(
            ("listen_to: [input]", f"listen_to: {wrong}", r"ask\.listen_to: no list of events")
            for wrong in ("[]", "input", "5", "[[input]]", "{input: 1}", "[5]")
        ),
        ("listen_to: [input]", "listen_to: [input], config: [1]", r"ask\.config"),
        ("listen_to: [input]", "listen_to: [input], config: {1: 2}", r"ask\.config"),
        ("prompts: [", "promts: [", "agents.pilot.promts"),
        ('add, function: "', 'add, type: java, function: "', "in Java"),
        ("test_flink_agents:add", "test_flink_agents:nothing", "nothing"),
    ],
)
def test_a_yaml_file_that_cannot_run_says_why(
    tmp_path: Path, old: str, new: str, error: str
) -> None:
    file = tmp_path / "agents.yaml"
    file.write_text(DECLARED.replace(old, new))
    env = AgentsExecutionEnvironment()
    with pytest.raises(PlaygroundError, match=error):
        env.load_yaml(file)
    file.write_text(DECLARED)
    env.load_yaml(file)  # nothing of the file stayed, so no name is taken


def test_of_yaml_files_that_cannot_all_be_read_nothing_stays(tmp_path: Path) -> None:
    right, wrong, again = (tmp_path / name for name in ("a.yaml", "b.yaml", "c.yaml"))
    right.write_text(f"prompts: [{{name: q, text: hello}}]\n{DECLARED}")
    wrong.write_text("prompts: [{name: q, text: again}]")
    again.write_text("agents: [{name: pilot}]")
    env = AgentsExecutionEnvironment()
    for second, error in ((wrong, "prompt q is defined already"), (again, "two agents pilot")):
        with pytest.raises(InputFault, match=error):
            env.load_yaml([right, second])
    env.load_yaml(right)
