"""Random messages and whole chats for the comparison with Flink-Agents: theirs beside ours.

Imported by `against_flink_agents.py`, once that runs where Flink-Agents is installed.
"""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, Final

from flink_agents.api.chat_message import ChatMessage as TheirMessage  # type: ignore[import-not-found]
from flink_agents.api.chat_models.chat_model import BaseChatModelConnection, BaseChatModelSetup  # type: ignore[import-not-found]
from flink_agents.api.events.chat_event import ChatRequestEvent  # type: ignore[import-not-found]
from flink_agents.api.prompts.prompt import Prompt as TheirPrompt  # type: ignore[import-not-found]
from flink_agents.integrations.chat_models.anthropic import anthropic_chat_model  # type: ignore[import-not-found]
from flink_agents.integrations.chat_models.openai import openai_utils  # type: ignore[import-not-found]
from flink_agents.plan.actions import chat_model_action, tool_call_action  # type: ignore[import-not-found]
from flink_agents.plan.function import PythonFunction  # type: ignore[import-not-found]
from flink_agents.plan.tools.function_tool import FunctionTool as TheirTool  # type: ignore[import-not-found]
from scratch import outcome

from playground.base.errors import InputFault
from playground.plugins.systems.flink_agents import (
    ChatMessage,
    ChatModelSetup,
    FunctionTool,
    Prompt,
    ScriptedModel,
    chat_events,
)
from playground.plugins.systems.flink_agents.chat_message import (
    read_message,
    to_anthropic_request,
    to_openai_message,
)
from playground.plugins.systems.flink_agents.replies import clean_response, extract_reasoning

WORDS: Final = ["tide", "{name}", "{ name }", "{{name}}", "{a.b}", "{0}", "{}", "ü π", "\n", "%s"]


def ours_of(run: Callable[[], Any]) -> Any:
    """Return the result of our code, which may raise InputFault or ValueError and nothing else."""
    return outcome(run, InputFault, ValueError)


def theirs_of(run: Callable[[], Any]) -> Any:
    return outcome(run, Exception)  # whatever foreign code raises


def text(rng: random.Random) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(6)))


def message(rng: random.Random, roles: list[str]) -> dict[str, Any]:
    role = rng.choice(roles)
    made: dict[str, Any] = {"role": role, "content": text(rng), "extra_args": {}}
    if role == "tool" and rng.random() < 0.9:
        made["extra_args"]["external_id"] = rng.choice(["call_1", "", 5])
    if role == "assistant" and rng.random() < 0.5:
        made["tool_calls"] = [call(rng) for _ in range(rng.randint(1, 2))]
    if rng.random() < 0.2:
        made["extra_args"]["partial"] = True
    if role == "assistant" and rng.random() < 0.2:
        made["extra_args"]["anthropic_content_blocks"] = [{"type": "text", "text": "x"}]
    return made


def call(rng: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": "function",
        "function": {"name": "add", "arguments": rng.choice([{}, {"a": 1, "b": "ü"}, '{"a": 1}'])},
    }
    if rng.random() < 0.9:
        made["id"] = rng.choice(["u1", "u2"])
    if rng.random() < 0.5:
        made["original_id"] = "call_7"
    return made


def openai_messages(rng: random.Random) -> tuple[Any, Any]:
    given = message(rng, ["system", "user", "assistant", "tool"])
    return (
        theirs_of(lambda: openai_utils.convert_to_openai_message(TheirMessage(**given))),
        ours_of(lambda: to_openai_message(read_message(given))),
    )


def anthropic_requests(rng: random.Random) -> tuple[Any, Any]:
    given = [message(rng, ["system", "user", "assistant", "tool"]) for _ in range(rng.randrange(5))]
    theirs = [TheirMessage(**each) for each in given]
    return (
        {
            "system": anthropic_chat_model.convert_to_anthropic_system_prompts(theirs),
            "messages": anthropic_chat_model.convert_to_anthropic_messages(theirs),
        },
        to_anthropic_request([read_message(each) for each in given]),
    )


REPLIES: Final = [
    "<think>", "</think>", "<Think>", "</THINK>", "<analysis>", "</analysis>", "```think\n",
    "\n```", "```json", "```", "Reasoning: so", "\n\n", "\n", "  ", "a", '{"a": 1}', "\n\n\n\n",
]  # fmt: skip


def replies(rng: random.Random) -> tuple[Any, Any]:
    reply = "".join(rng.choice(REPLIES) for _ in range(rng.randrange(9)))
    return (
        [
            *BaseChatModelConnection._extract_reasoning(reply),
            chat_model_action._clean_llm_response(reply),
        ],
        [*extract_reasoning(reply), clean_response(reply)],
    )


# a whole chat: their two actions run in turn, over a model that gives the same answers


class TheirConnection(BaseChatModelConnection):  # type: ignore[misc]
    answers: list[Any]
    seen: list[Any]

    def chat(self, messages: Any, tools: Any = None, **kwargs: Any) -> Any:
        self.seen.append([*map(shown, messages)])
        return self.answers.pop(0)


class TheirSetup(BaseChatModelSetup):  # type: ignore[misc]
    @property
    def model_kwargs(self) -> dict[str, Any]:
        return {}


class OurConnection(ScriptedModel):
    def complete(self, messages: Any, tools: Any = (), **more: Any) -> Any:
        self.seen = [*getattr(self, "seen", []), [*map(shown, messages)]]
        return super().complete(messages, tools, **more)


def shown(given: Any) -> Any:
    """Return the facts of a message that a model sees; `external_id` names the call that a result
    answers."""
    names = given.extra_args.get("external_id")
    return [given.role.value, given.content, len(given.tool_calls), names]


class Context:
    """The runner that their actions ask for: resources, a memory, events, and calls that are made
    at once."""

    def __init__(self, resources: Mapping[str, Any]) -> None:
        self.resources, self.events, self.values = resources, [], {}
        self.sensory_memory = SimpleNamespace(get=self.values.get, set=self.values.__setitem__)
        self.action_metric_group = None
        self.config = SimpleNamespace(get=self._setting)

    events: list[Any]
    values: dict[str, Any]

    @staticmethod
    def _setting(option: Any) -> Any:
        return False if option.get_key().endswith("async") else option.get_default_value()

    def get_resource(self, name: str, kind: Any) -> Any:
        return self.resources.get(name)

    def send_event(self, event: Any) -> None:
        self.events.append(event)

    @staticmethod
    def durable_execute(run: Callable[..., Any], *given: Any, **named: Any) -> Any:
        return run(*given, **named)


def add(a: int, b: int = 0) -> int:
    """Adds."""
    return a + b


async def their_chat(request: list[Any], context: Context) -> None:
    context.send_event(ChatRequestEvent(model="model", messages=request))
    while context.events:
        event = context.events.pop(0)
        kind = type(event).__name__
        if "ToolRequest" in kind:
            await tool_call_action.process_tool_request(event, context)
        elif "ChatResponse" not in kind:
            await chat_model_action.process_chat_request_or_tool_response(event, context)


def chats(rng: random.Random) -> tuple[Any, Any]:
    script = []
    for step in range(rng.randrange(4)):
        calls = []
        for place in range(rng.randint(1, 2)):
            made = {"name": rng.choice(["add", "add", "gone"]), "arguments": {"a": step, "b": 2}}
            ids = {"id": str(uuid.UUID(int=rng.getrandbits(128))), "original_id": f"c{place}"}
            calls.append({**ids, "type": "function", "function": made})
        script.append({"role": "assistant", "content": text(rng), "tool_calls": calls})
    script.append({"role": "assistant", "content": text(rng)})
    request = [message(rng, ["system", "user"]) for _ in range(rng.randint(1, 3))]
    prompt = [message(rng, ["system", "user"])] if rng.random() < 0.5 else None

    def theirs() -> Any:
        connection = TheirConnection(answers=[TheirMessage(**each) for each in script], seen=[])
        setup = TheirSetup(connection="connection", model="m")
        setup._resolved_connection = connection
        if prompt:
            setup.prompt = TheirPrompt.from_messages([TheirMessage(**each) for each in prompt])
        tool = TheirTool(func=PythonFunction.from_callable(add))
        context = Context({"model": setup, "add": tool})
        asyncio.run(their_chat([TheirMessage(**each) for each in request], context))
        return connection.seen

    def ours() -> Any:
        connection = OurConnection([read_message(each) for each in script])
        given = Prompt.from_messages([ChatMessage(**each) for each in prompt]) if prompt else None
        setup = ChatModelSetup(connection, given, (FunctionTool(add),))
        for _ in chat_events([read_message(each) for each in request], setup):
            pass
        return connection.seen

    return theirs_of(theirs), ours_of(ours)
