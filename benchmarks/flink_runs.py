"""Random agents for the comparison with Flink-Agents: the same source in its runner and in ours.

Imported by `against_flink_agents.py`, once that runs where Flink-Agents is installed.
"""

from __future__ import annotations

import importlib
import json
import logging
import random
import sys
from types import ModuleType
from typing import Any, Final

from flink_agents.plan.configuration import AgentConfiguration  # type: ignore[import-not-found]
from flink_agents.runtime import local_runner  # type: ignore[import-not-found]
from flink_messages import call, message, ours_of, text, theirs_of
from scratch import RAISES

from playground.plugins.systems import flink_agents as agents

logging.disable(logging.CRITICAL)  # its runner logs every event

_THEIR_MODULES: Final = (
    "agents.agent", "agents.react_agent", "chat_message", "chat_models.chat_model", "decorators",
    "events.chat_event", "events.event", "prompts.prompt", "resource", "tools.tool",
)  # fmt: skip
TYPES: Final = ("_input_event", "a", "b", "_chat_response_event")
PATHS: Final = ("x", "x.y", "x.y.z", "w", "w.v")
HEAD: Final = """
class Connection(BaseChatModelConnection):
    answers: list
    def chat(self, messages, tools=None, **kwargs):
        if not self.answers:
            return ChatMessage(role="assistant", content=str(len(messages)) + str(kwargs))
        return ChatMessage(**self.answers.pop(0))

class Setup(BaseChatModelSetup):
    @property
    def model_kwargs(self):
        return {"model": self.model}

def step(event, ctx, kind, name, value):
    left = event.attributes.get("left", 2)
    memory = ctx.short_term_memory if kind.startswith("short") else ctx.sensory_memory
    if kind == "output":
        ctx.send_event(OutputEvent(output=value))
    elif kind == "event" and left > 0:
        ctx.send_event(Event(type=name, attributes={"left": left - 1, "value": value}))
    elif kind == "chat" and event.type != "_chat_response_event" and left > 1:
        messages = [ChatMessage(**message) for message in value]
        ctx.send_event(ChatRequestEvent("model", messages, prompt_args={"name": name}))
    elif kind.endswith("set"):
        try:
            ctx.send_event(OutputEvent(output=memory.set(name, value).path))
        except Exception:
            ctx.send_event(OutputEvent(output="refused"))
    elif kind.endswith("new"):
        try:
            ctx.send_event(OutputEvent(output=memory.new_object(name).get_field_names()))
        except Exception:
            ctx.send_event(OutputEvent(output="refused"))
    elif kind.endswith("get"):
        found = memory.get(name)
        found = found.get_fields() if hasattr(found, "get_fields") else found
        fields = {k: v for k, v in memory.get_fields().items() if not k.startswith("_")}
        ctx.send_event(OutputEvent(output=[found, memory.is_exist(name), fields]))

class MyAgent(Agent):
    @prompt
    @staticmethod
    def desk():
        return Prompt.from_text(PROMPT)
    @tool
    @staticmethod
    def add(a: int, b: int = 0) -> int:
        "Add."
        return a + b
    @chat_model_connection
    @staticmethod
    def line():
        return ResourceDescriptor(clazz=__name__ + ".Connection", answers=list(ANSWERS))
    @chat_model_setup
    @staticmethod
    def model():
        return ResourceDescriptor(clazz=__name__ + ".Setup", connection="line", model="m",
                                  tools=["add"], **({"prompt": "desk"} if PROMPT else {}))
    @action("_input_event", "_output_event", "a", "b", "_chat_response_event")
    @staticmethod
    def listen(event: Event, ctx: RunnerContext) -> None:
        pass
"""


REACT: Final = """
from pydantic import BaseModel

class Out(BaseModel):
    result: int

class Thing:
    def __init__(self, fields):
        self.__dict__.update(fields)

def MyAgent():
    made = ReActAgent(
        chat_model=ResourceDescriptor(
            clazz=__name__ + ".Setup", connection="line", model="m", tools=["add"]
        ),
        prompt=MAKE and MAKE(Prompt, ChatMessage),
        output_schema=Out if WITH_SCHEMA else None,
    )
    to_tool = getattr(globals().get("Tool"), "from_callable", lambda each: each)
    for name, kind, value in (
        ("line", ResourceType.CHAT_MODEL_CONNECTION, AddParts.line()),
        ("add", ResourceType.TOOL, to_tool(AddParts.add)),
    ):
        made.add_resource(name, kind, value)
    return made
"""


def agent_source(rng: random.Random) -> str:
    """Return the source of an agent with random actions."""
    source = HEAD
    for number in range(rng.randint(1, 4)):
        events = rng.sample(TYPES, rng.randint(1, 3))
        steps = "\n".join(f"        step(event, ctx, {s})" for s in random_steps(rng))
        begin, wait = ("async ", "await ") if rng.random() < 0.3 else ("", "")
        execute = f"{wait}ctx.durable_execute{'_async' if begin else ''}(len, 'abc')"
        order = ["    @staticmethod", f"    @action({', '.join(map(repr, events))})"]
        rng.shuffle(order)
        source += "\n".join(
            [
                *order,
                f"    {begin}def action_{number}(event: Event, ctx: RunnerContext) -> None:",
                f"        {execute}",
                steps,
                "",
            ]
        )
    return source


def random_steps(rng: random.Random) -> list[str]:
    kinds = ["output", "event", "chat", "short set", "short get", "short new", "set", "get", "new"]
    steps = []
    for _ in range(rng.randint(1, 4)):
        kind = rng.choice(kinds)
        name = rng.choice(PATHS)
        value: Any = rng.choice([1, "ü", None, [1, {"a": 2.5}], {"k": [True]}, text(rng)])
        if kind == "event":
            name = rng.choice(["a", "b"])
        if kind == "chat":
            value = [message(rng, ["system", "user"]) for _ in range(rng.randint(1, 2))]
        if kind.endswith("set") and rng.random() < 0.1:
            value = (1, 2)  # not what a checkpoint can hold
        steps.append(f"{kind!r}, {name!r}, {value!r}")
    return steps


def agents_run(rng: random.Random) -> tuple[Any, Any]:
    """Run an agent on a few inputs: its outputs, and every event with its id, as JSON."""
    source = agent_source(rng)
    script = [answer(rng) for _ in range(rng.randrange(4))]
    inputs = [
        {"key": rng.choice("kl"), rng.choice(["v", "value"]): rng.choice([1, "x", {"a": [2]}])}
        for _ in range(rng.randint(1, 3))
    ]
    values = {"ANSWERS": script, "PROMPT": rng.choice(["", "for {name}, {who}"])}
    ours = ours_of(lambda: in_our_runner(module_of("our_agent", source, values), inputs))
    theirs = theirs_of(lambda: in_their_runner(module_of("their_agent", source, values), inputs))
    if theirs == RAISES and ours != RAISES and has_equal_requests(ours[0]):
        return ours, ours  # their runner forgets a chat if another makes the same request meanwhile
    return theirs, ours


def react_run(rng: random.Random) -> tuple[Any, Any]:
    """Run a ReActAgent on a few inputs: its events without ids, and its outputs, as JSON.

    An id counts the schema's class, which the two write differently.
    """
    source = HEAD.replace("class MyAgent(Agent)", "class AddParts(Agent)") + REACT
    script = [answer(rng) for _ in range(rng.randrange(4))]
    with_schema = rng.random() < 0.4
    for made in script if with_schema else ():
        made["content"] = rng.choice(['{"result": 4}', '```json\n{"result": 5}\n```', "4"])
    fields = {"name": text(rng), "a.b": 5}
    given = rng.choice([1, "x {name}", None, True, 2.5, fields, [1]])
    inputs = [{"key": "k", "v": given} for _ in range(rng.randint(1, 2))]
    written, messages = text(rng), [message(rng, ["system", "user"]) for _ in range(2)]
    make: Any = rng.choice(
        [
            None,
            lambda prompt, _: prompt.from_text(f"{{input}} {written}"),
            lambda prompt, message: prompt.from_messages([message(**each) for each in messages]),
        ]
    )
    values = {"ANSWERS": script, "PROMPT": "", "MAKE": make, "WITH_SCHEMA": with_schema}
    ours = ours_of(lambda: in_our_runner(module_of("our_agent", source, values), inputs))
    theirs = theirs_of(lambda: in_their_runner(module_of("their_agent", source, values), inputs))
    return without_ids(theirs), without_ids(ours)


def without_ids(run: Any) -> Any:
    """Return events without ids and schemas, and the outputs as texts."""
    if run == RAISES:
        return run
    sent, outputs = run
    for event in sent:
        for name in ("output_schema", "request_id"):
            event["attributes"].pop(name, None)
    return [(event["type"], event["attributes"]) for event in sent], str(outputs)


def has_equal_requests(sent: list[Any]) -> bool:
    ids = [event["id"] for event in sent if event["type"] == "_tool_request_event"]
    return len(ids) > len(set(ids))


def answer(rng: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {"role": "assistant", "content": text(rng)}
    if rng.random() < 0.6:
        made["tool_calls"] = []
        for number in range(rng.randint(1, 2)):
            tool_call = {"original_id": f"c{number}"} if rng.random() < 0.5 else {}
            arguments = {"a": rng.randrange(5), "b": 2}
            function = {"name": "add", "arguments": arguments}
            made["tool_calls"].append({**call(rng), **tool_call, "id": f"u{number}"})
            made["tool_calls"][-1]["function"] = function
    return made


def module_of(name: str, source: str, values: dict[str, Any]) -> ModuleType:
    made = ModuleType(name)
    if name == "our_agent":
        vars(made).update({each: getattr(agents, each) for each in agents.__all__})
    else:
        for each in (*_THEIR_MODULES, "runner_context"):
            vars(made).update(vars(importlib.import_module(f"flink_agents.api.{each}")))
    vars(made).update(values, __name__=name)
    sys.modules[name] = made
    exec(compile(source, name, "exec", dont_inherit=True), vars(made))
    return made


def in_their_runner(module: ModuleType, inputs: list[dict[str, Any]]) -> Any:
    sent = []

    class Context(local_runner.LocalRunnerContext):  # type: ignore[misc]
        def send_event(self, event: Any) -> None:
            sent.append(json.loads(event.model_dump_json()))
            super().send_event(event)

    own = local_runner.LocalRunnerContext
    local_runner.LocalRunnerContext = Context
    try:
        runner = local_runner.LocalRunner(module.MyAgent(), AgentConfiguration())
        for data in inputs:
            runner.run(**data)
    finally:
        local_runner.LocalRunnerContext = own
    return [sent, runner.get_outputs()]


def in_our_runner(module: ModuleType, inputs: list[dict[str, Any]]) -> Any:
    runner = agents.LocalRunner(module.MyAgent())
    for data in inputs:
        runner.run(**data)
    sent = [json.loads(event.model_dump_json(fallback=str)) for event in runner.events]
    return [sent, runner.get_outputs()]
