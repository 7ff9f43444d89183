"""Run agents in one process: each event is passed to the actions that listen to it.

Features that need Flink itself (streams, tables, long-term memory, Java) raise InputFault. Source:
Apache Flink-Agents 0.3.1, `runtime/local_runner.py` and `plan/actions/`.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from playground.base.errors import InputFault, UnknownNameError
from playground.base.findings import Finding
from playground.plugins.systems.flink_agents.agent import Action, Agent, actions_of
from playground.plugins.systems.flink_agents.chat_message import ChatMessage
from playground.plugins.systems.flink_agents.chat_model import ChatModel
from playground.plugins.systems.flink_agents.declarations import Resources, agent_resources
from playground.plugins.systems.flink_agents.events import (
    ChatRequestEvent,
    ChatResponseEvent,
    Event,
    InputEvent,
    OutputEvent,
    ToolRequestEvent,
    ToolResponseEvent,
)
from playground.plugins.systems.flink_agents.flow import (
    MOST_ROUNDS,
    await_result,
    new_findings,
    result_messages,
    run_calls,
)
from playground.plugins.systems.flink_agents.memory import MemoryObject, MemoryType
from playground.plugins.systems.flink_agents.replies import clean_response
from playground.plugins.systems.flink_agents.resource import ResourceType, needs_flink
from playground.plugins.systems.flink_agents.yaml_agents import load_yaml

MOST_EVENTS: Final = 10_000  # events after one input; an agent could send itself events forever
STRUCTURED_OUTPUT: Final = "structured_output"


class ErrorHandlingStrategy(StrEnum):
    """The reaction to a failed chat request: ask again, raise the error, or go on without it."""

    RETRY = "retry"
    FAIL = "fail"
    IGNORE = "ignore"


class ConfigOption:
    """A setting: its key, its type and its default."""

    def __init__(self, key: str, config_type: type, default: Any = None) -> None:
        self._key, self._type, self._default = key, config_type, default

    def get_key(self) -> str:
        return self._key

    def get_type(self) -> type:
        return self._type

    def get_default_value(self) -> Any:
        return self._default


class AgentExecutionOptions:
    """The settings that have an effect here. Others of Flink-Agents are accepted and ignored."""

    ERROR_HANDLING_STRATEGY = ConfigOption(
        "error-handling-strategy", ErrorHandlingStrategy, ErrorHandlingStrategy.FAIL
    )
    MAX_RETRIES = ConfigOption("max-retries", int, 3)


class AgentConfiguration:
    """The settings of an agent."""

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values = dict(values or {})

    def get(self, option: ConfigOption) -> Any:
        return self._values.get(option.get_key(), option.get_default_value())

    def set(self, option: ConfigOption, value: Any) -> None:
        self._values[option.get_key()] = value


class AsyncExecutionResult:
    """The outcome of a call that has run: `await` returns its result, or raises its error."""

    def __init__(self, result: Any, error: Exception | None = None) -> None:
        self._result, self._error = result, error

    def __await__(self) -> Generator[None, None, Any]:
        yield from ()
        if self._error is not None:
            raise self._error
        return self._result


class RunnerContext:
    """The agent as an action sees it: events to send, resources, memories and settings.

    Inputs with different keys have separate memories. `sensory_memory` is emptied before each
    input, `short_term_memory` never.
    """

    def __init__(self, resources: Resources, key: Any = None, config: Any = None) -> None:
        self.key, self.events = key, deque[Event]()
        self.config = config if config is not None else AgentConfiguration()
        self.action: Action | None = None
        self._resources = resources
        self._short_term = MemoryObject(MemoryType.SHORT_TERM)
        self.clear_sensory_memory()

    def clear_sensory_memory(self) -> None:
        """Empty the memory that lasts for one input, and forget the chats that wait for results."""
        self._sensory = MemoryObject(MemoryType.SENSORY)
        # id of a tool request -> the chats that wait for it (equal requests have equal ids)
        self._chats: dict[UUID, deque[_Chat]] = {}

    def send_event(self, event: Event) -> None:
        """Send an event to the actions that listen to it, after all events sent before."""
        if not isinstance(event, Event):
            raise InputFault(f"not an event: {event!r:.80}", expected="an Event")
        self.events.append(event)

    def get_resource(self, name: str, type: ResourceType, metric_group: Any = None) -> Any:
        """Return a resource. Raises MissingResourceError, which is a KeyError."""
        return self._resources.get_resource(name, type)

    @property
    def action_config(self) -> dict[str, Any]:
        """The settings that were given to `add_action`."""
        return dict(self.action.config) if self.action else {}

    def get_action_config_value(self, key: str) -> Any:
        return self.action_config.get(key)

    @property
    def sensory_memory(self) -> MemoryObject:
        return self._sensory

    @property
    def short_term_memory(self) -> MemoryObject:
        return self._short_term

    @property
    def long_term_memory(self) -> Any:
        raise needs_flink("long-term memory")

    @property
    def agent_metric_group(self) -> None:
        return None

    @property
    def action_metric_group(self) -> None:
        return None

    def durable_execute(
        self, func: Callable[..., Any], *args: Any, reconciler: Any = None, **kwargs: Any
    ) -> Any:
        """Call a function. As in Flink-Agents' local runner, no result is stored for a recovery."""
        return func(*args, **kwargs)

    def durable_execute_async(
        self, func: Callable[..., Any], *args: Any, reconciler: Any = None, **kwargs: Any
    ) -> AsyncExecutionResult:
        """Call a function at once; `await` returns the result."""
        try:
            return AsyncExecutionResult(func(*args, **kwargs))
        except Exception as error:  # `await` raises it
            return AsyncExecutionResult(None, error)

    def close(self) -> None:
        self._resources.close()


@dataclass
class _Chat:
    """A chat: its request, the messages so far, and the findings that were `reported`. While it
    waits for results of tools, `answer` is the model's message that calls these tools."""

    request: ChatRequestEvent
    messages: list[ChatMessage]
    rounds: int = 0
    retries: int = 0
    reported: set[Finding] = field(default_factory=set)
    answer: ChatMessage | None = None


def process_chat_request_or_tool_response(event: Event, ctx: RunnerContext) -> None:
    """Send a chat request to its model; or, if `event` holds results of tools, continue the chat
    that waits for them. An answer with calls becomes a ToolRequestEvent, any other answer a
    ChatResponseEvent. Raises InputFault if the model calls tools a hundred times in a row.
    """
    if event.type == ChatRequestEvent.EVENT_TYPE:
        request = ChatRequestEvent.from_event(event)
        _ask(_Chat(request, list(request.messages)), ctx)
        return
    response = ToolResponseEvent.from_event(event)
    waiting = ctx._chats.get(response.request_id)
    if not waiting:
        return  # an action called these tools, so no chat waits for them
    chat = waiting.popleft()
    if chat.answer is not None:
        calls = chat.answer.tool_calls
        chat.messages += [chat.answer, *result_messages(response, calls)]
        _ask(chat, ctx)


def _ask(chat: _Chat, ctx: RunnerContext) -> None:
    if chat.rounds >= MOST_ROUNDS:
        problem = f"the model called tools {MOST_ROUNDS} times in a row"
        raise InputFault(problem, expected="an answer without calls")
    chat.rounds += 1
    answer = _answer(chat, ctx)
    if answer is None:
        return
    if answer.tool_calls:
        chat.answer = answer
        event = ToolRequestEvent(chat.request.model, answer.tool_calls)
        ctx._chats.setdefault(event.id, deque()).append(chat)
        ctx.send_event(event)
    else:
        ctx.send_event(
            ChatResponseEvent(response=answer, retry_count=chat.retries, request=chat.request)
        )


def _answer(chat: _Chat, ctx: RunnerContext) -> ChatMessage | None:
    """Return the model's answer, or None after an error that the settings ignore."""
    setup = ctx.get_resource(chat.request.model, ResourceType.CHAT_MODEL)
    strategy = ErrorHandlingStrategy(ctx.config.get(AgentExecutionOptions.ERROR_HANDLING_STRATEGY))
    retries = ctx.config.get(AgentExecutionOptions.MAX_RETRIES)
    retries_left = max(0, retries) if strategy is ErrorHandlingStrategy.RETRY else 0
    while True:
        try:
            answer: ChatMessage = setup.chat(list(chat.messages), chat.request.prompt_args)
            schema = chat.request.output_schema
            if schema is not None and not answer.tool_calls:
                schema = getattr(schema, "output_schema", schema)
                value = schema.model_validate(json.loads(clean_response(answer.content)))
                answer.extra_args[STRUCTURED_OUTPUT] = value
            return answer
        except Exception:  # a model may raise anything
            if strategy is ErrorHandlingStrategy.IGNORE:
                return None
            if not retries_left:
                raise
            retries_left -= 1
            chat.retries += 1


def process_tool_request(event: Event, ctx: RunnerContext) -> None:
    """Run the calls of a ToolRequestEvent, and send a ToolResponseEvent with their results."""
    request = ToolRequestEvent.from_event(event)
    waiting = ctx._chats.get(request.id)

    def tool_of(name: str) -> Any:
        return ctx.get_resource(name, ResourceType.TOOL)

    response = run_calls(request, tool_of, {})
    if waiting:
        response.findings[:] = new_findings(response.findings, waiting[0].reported)
    ctx.send_event(response)


BUILT_IN_ACTIONS: Final = (
    Action(
        "chat_model_action",
        process_chat_request_or_tool_response,
        (ChatRequestEvent.EVENT_TYPE, ToolResponseEvent.EVENT_TYPE),
    ),
    Action("tool_call_action", process_tool_request, (ToolRequestEvent.EVENT_TYPE,)),
)


class LocalRunner:
    """A run of an agent in this process.

    `models` replace the declared chat models of the same names, for example by a scripted model.
    `events` lists all events in the order in which they were handled.
    """

    def __init__(
        self,
        agent: Agent,
        config: AgentConfiguration | None = None,
        *,
        models: Mapping[str, ChatModel] | None = None,
        built_in_actions: Sequence[Action] = BUILT_IN_ACTIONS,
    ) -> None:
        self._agent, self._models = agent, dict(models or {})
        agent_resources(agent, self._models)  # raises the agent's faults before the first input
        actions = [*actions_of(agent), *built_in_actions]
        names = [action.name for action in actions]
        for name in names:
            if names.count(name) > 1:
                raise InputFault(f"two actions {name}", field=name, expected="another name")
        self._actions = actions
        self._config = config if config is not None else AgentConfiguration()
        self._contexts: dict[Any, RunnerContext] = {}
        self._outputs: list[dict[Any, Any]] = []
        self.events: list[Event] = []

    def run(self, **data: Any) -> Any:
        """Process an input, passed as `value` or `v`, and return its key, passed as `key` or `k`.

        An input without a key gets a new key. Raises InputFault if no input is passed, and any
        exception of an action.
        """
        key = data.get("key", data.get("k"))
        if key is None:
            key = UUID(int=len(self._contexts))
        if "value" not in data and "v" not in data:
            raise InputFault("no input", field="value", expected="value=… or v=…")
        context = self.context(key)
        context.clear_sensory_memory()
        context.events.clear()
        context.send_event(InputEvent(data["value"] if "value" in data else data["v"]))
        for _ in range(MOST_EVENTS):
            if not context.events:
                return key
            self._handle(context.events.popleft(), context)
        raise InputFault(f"one input led to {MOST_EVENTS:,} events", expected="an agent that stops")

    def context(self, key: Any) -> RunnerContext:
        """Return the context of a key: its memory, and its own copy of every resource."""
        if key not in self._contexts:
            resources = agent_resources(self._agent, self._models)
            self._contexts[key] = RunnerContext(resources, key, self._config)
        return self._contexts[key]

    def _handle(self, event: Event, context: RunnerContext) -> None:
        self.events.append(event)
        if isinstance(event, OutputEvent):
            self._outputs.append({context.key: event.output})
            return
        for action in self._actions:
            if event.get_type() in action.events:
                context.action = action
                await_result(action.func(event, context))

    def get_outputs(self) -> list[dict[Any, Any]]:
        """Return the outputs in order, each as `{key: output}`."""
        return self._outputs

    def get_tool_request_events(self) -> list[ToolRequestEvent]:
        return [event for event in self.events if isinstance(event, ToolRequestEvent)]


class AgentsExecutionEnvironment:
    """Flink-Agents' environment for inputs from lists; streams and tables raise InputFault."""

    def __init__(self) -> None:
        self._shared: list[tuple[str, ResourceType, Any]] = []
        self._config = AgentConfiguration()
        self._builder: AgentBuilder | None = None
        self.agents: dict[str, Agent] = {}  # agents of YAML files, by name

    @staticmethod
    def get_execution_environment(
        env: Any = None, t_env: Any = None, **kwargs: Any
    ) -> AgentsExecutionEnvironment:
        if env is not None or t_env is not None:
            raise needs_flink("an environment of Flink")
        return AgentsExecutionEnvironment()

    def get_config(self, path: str | None = None) -> AgentConfiguration:
        if path is not None:
            raise needs_flink("a file with Flink's configuration")
        return self._config

    def add_resource(
        self, name: str, resource_type: ResourceType, instance: Any
    ) -> AgentsExecutionEnvironment:
        """Add a resource for the agent that is applied later.

        Raises InputFault if the name is taken.
        """
        self.add_resources([(name, ResourceType(resource_type), instance)])
        return self

    def add_resources(self, resources: Sequence[tuple[str, ResourceType, Any]]) -> None:
        """Add several resources. Raises InputFault, and adds none, if a name is taken."""
        taken = {(name, kind) for name, kind, _ in self._shared}
        for name, kind, _ in resources:
            if (name, kind) in taken:
                raise InputFault(f"{kind.value} {name} is defined already", field=name)
            taken.add((name, kind))
        self._shared += resources

    def load_yaml(self, paths: str | Path | Sequence[str | Path]) -> None:
        """Add the agents and resources of YAML files; functions that they name are imported."""
        load_yaml(self, paths)

    def from_list(self, input: Sequence[Mapping[str, Any]]) -> AgentBuilder:
        """Set the inputs: `{"key": …, "value": …}`, or `{"value": …}`."""
        if self._builder is not None:
            raise InputFault("a second list of inputs", expected="another environment")
        self._builder = AgentBuilder(self._shared, self._config, input, self.agents)
        return self._builder

    def from_datastream(self, *_: Any, **__: Any) -> Any:
        raise needs_flink("from_datastream")

    def from_table(self, *_: Any, **__: Any) -> Any:
        raise needs_flink("from_table")

    def execute(self, job_name: str | None = None) -> None:
        """Run the agent for every input. Raises InputFault if it was run before."""
        if self._builder is None:
            raise InputFault("nothing to execute", expected="from_list(…).apply(agent) first")
        self._builder.execute()


class AgentBuilder:
    """The inputs, the agent and the outputs of one run in an environment."""

    def __init__(
        self,
        shared: Sequence[tuple[str, ResourceType, Any]],
        config: AgentConfiguration,
        inputs: Sequence[Mapping[str, Any]],
        agents: Mapping[str, Agent],
    ) -> None:
        self._shared, self._config, self._inputs = shared, config, inputs
        self._agents = agents
        self._output: list[dict[Any, Any]] = []
        self._runner: LocalRunner | None = None
        self._is_executed = False

    def apply(
        self, agent: Agent | str, models: Mapping[str, ChatModel] | None = None
    ) -> AgentBuilder:
        """Set the agent, given by itself or by its name in the YAML files that were loaded.

        `models` replace the agent's declared chat models of the same names.

        Raises InputFault for a second agent, and UnknownNameError for an unknown name.
        """
        if self._runner is not None:
            raise InputFault("a second agent", expected="another environment")
        if isinstance(agent, str):
            if agent not in self._agents:
                raise UnknownNameError("agent", agent, [*self._agents])
            agent = self._agents[agent]
        for name, kind, instance in self._shared:
            agent.resources[kind].setdefault(name, instance)
        self._runner = LocalRunner(agent, self._config, models=models)
        return self

    def execute(self) -> None:
        if self._runner is None:
            raise InputFault("no agent", expected="apply(agent) first")
        if self._is_executed:
            raise InputFault("an agent executed a second time", expected="another environment")
        self._is_executed = True
        for data in self._inputs:
            self._runner.run(**data)
        self._output += self._runner.get_outputs()

    def to_list(self) -> list[dict[Any, Any]]:
        """Return the list to which `execute` adds the outputs."""
        return self._output

    def to_datastream(self) -> Any:
        raise needs_flink("to_datastream")

    def to_table(self, *_: Any, **__: Any) -> Any:
        raise needs_flink("to_table")
