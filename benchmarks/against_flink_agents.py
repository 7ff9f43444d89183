"""Random prompts, schemas, arguments, messages and chats: ours beside Flink-Agents 0.3.1.

`python benchmarks/against_flink_agents.py [COUNT] [SEED]` installs its Python part into a scratch
environment (without its JARs and without Flink, which stands in as an empty module) and prints how
many cases of each kind are equal, which differ on purpose, and the first others.
"""

# ruff: noqa: E402, UP007, UP045
# Imports follow the change of environment; types are tried in all their spellings.

from __future__ import annotations

import os
import sys

from scratch import run_beside

os.environ["FLINK_AGENTS_SKIP_JAR_DOWNLOAD"] = "1"  # its wheel is built without Maven's part
run_beside(
    "pydantic==2.11.4",
    "docstring-parser==0.16",
    "PyYAML",
    "jinja2",
    "regex",
    "cloudpickle",
    "packaging",
    "openai",
    "anthropic",
    "setuptools<82",
    without_dependencies=("flink-agents==0.3.1",),
)

import asyncio
import datetime
import json
import random
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from types import ModuleType, SimpleNamespace
from typing import Annotated, Any, Final, Literal, Optional, Union

import pydantic

from playground.errors import InputFault
from playground.systems.flink_agents import (
    ChatMessage,
    ChatModelSetup,
    FunctionTool,
    Prompt,
    ScriptedModel,
    chat_events,
)
from playground.systems.flink_agents.arguments import checked_arguments
from playground.systems.flink_agents.chat_message import (
    read_message,
    to_anthropic_request,
    to_openai_message,
)
from playground.systems.flink_agents.replies import clean_response, extract_reasoning
from playground.systems.flink_agents.tools import to_anthropic_tool, to_openai_tool
from playground.systems.flink_agents.upstream import from_java_schema, rebuilt_schema
from playground.tool_formats import create_schema_from_function
from playground.tools import ToolMetadata


class Empty(ModuleType):
    """Flink itself, which its actions import for their types."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


for _name in ("pyflink", "pyflink.common", "pyflink.common.typeinfo", "pyflink.datastream"):
    sys.modules[_name] = Empty(_name)

from flink_agents.api.chat_message import ChatMessage as TheirMessage  # type: ignore[import-not-found]
from flink_agents.api.chat_models.chat_model import BaseChatModelConnection, BaseChatModelSetup  # type: ignore[import-not-found]
from flink_agents.api.events.chat_event import ChatRequestEvent  # type: ignore[import-not-found]
from flink_agents.api.prompts.prompt import Prompt as TheirPrompt  # type: ignore[import-not-found]
from flink_agents.api.tools import utils as tool_utils  # type: ignore[import-not-found]
from flink_agents.api.tools.tool import ToolMetadata as TheirMetadata  # type: ignore[import-not-found]
from flink_agents.integrations.chat_models import chat_model_utils  # type: ignore[import-not-found]
from flink_agents.integrations.chat_models.anthropic import anthropic_chat_model  # type: ignore[import-not-found]
from flink_agents.integrations.chat_models.openai import openai_utils  # type: ignore[import-not-found]
from flink_agents.plan.actions import chat_model_action, tool_call_action  # type: ignore[import-not-found]
from flink_agents.plan.function import PythonFunction  # type: ignore[import-not-found]
from flink_agents.plan.tools.function_tool import FunctionTool as TheirTool  # type: ignore[import-not-found]

RAISES: Final = "raises"
WORDS: Final = ["tide", "{name}", "{ name }", "{{name}}", "{a.b}", "{0}", "{}", "ü π", "\n", "%s"]
NAMES: Final = ["name", "place", "a.b", "0", "days", " name ", "x y"]
TYPES: Final[dict[str, Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "list": list,
    "dict": dict,
    "list[int]": list[int],
    "dict[str, float]": dict[str, float],
    "Optional[int]": Optional[int],
    "Union[int, str]": Union[int, str],
    'Literal["a", "b"]': Literal["a", "b"],
    "datetime.date": datetime.date,
    "list[list[str]]": list[list[str]],
    'Annotated[int, "of it"]': Annotated[int, "of it"],
    "Any": Any,
    "": None,
}
VALUES: Final[list[Any]] = [
    1, 0, -3, 2.5, 2.0, True, None, "1", "2.5", "yes", "true", "x", "", "a", "2026-02-03",
    [], [1], ["1", "x"], [["a"]], {}, {"a": 1}, {"a": "1.5"}, {"a": "x"},
]  # fmt: skip


def outcome(run: Callable[[], Any]) -> Any:
    """What it gives, or that it raises; ours raises InputFault or ValueError and nothing else."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run()
    except (InputFault, ValueError):
        return RAISES


def theirs_outcome(run: Callable[[], Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run()
    except Exception:  # whatever foreign code raises
        return RAISES


def text(rng: random.Random) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(6)))


# one kind of case each: theirs, ours, and what a difference on purpose is called


def prompts(rng: random.Random) -> tuple[Any, Any]:
    values = {name: text(rng) for name in rng.sample(NAMES, rng.randrange(4))}
    if rng.random() < 0.4:
        template: Any = text(rng)
        theirs, ours = TheirPrompt.from_text(template), Prompt.from_text(template)
    else:
        template = [
            {"role": rng.choice(["system", "user", "assistant", "tool"]), "content": text(rng),
             "extra_args": {"k": 1} if rng.random() < 0.2 else {}}
            for _ in range(rng.randint(1, 4))
        ]  # fmt: skip
        theirs = TheirPrompt.from_messages([TheirMessage(**each) for each in template])
        ours = Prompt.from_messages([ChatMessage(**each) for each in template])
    return (
        theirs_outcome(lambda: [theirs.format_string(**values), dumped(theirs, values)]),
        outcome(lambda: [ours.format_string(**values), dumped(ours, values)]),
    )


def dumped(prompt: Any, values: Mapping[str, str]) -> list[Any]:
    return [message.model_dump(mode="json") for message in prompt.format_messages(**values)]


def function(rng: random.Random) -> Callable[..., Any]:
    """A function with a random signature and docstring."""
    names = rng.sample(["a", "b", "city", "days", "unit"], rng.randint(1, 4))
    optional = sorted(rng.random() < 0.4 for _ in names)
    written = []
    for name, has_default in zip(names, optional, strict=True):
        kind = rng.choice(list(TYPES))
        default = f" = {rng.choice(VALUES)!r}" if has_default else ""
        written.append(f"{name}: {kind}{default}" if kind else f"{name}{default}")
    styles = {
        "numpy": ["Parameters", "----------", *(f"{n} : int\n        the {n}" for n in names[1:])],
        "google": ["Args:", *(f"    {name}: the {name}" for name in names[:2])],
        "sphinx": [f":param {name}: the {name}" for name in names],
        "": [],
    }
    lines = ["Does it.", "", *styles[rng.choice(list(styles))]]
    body = "\n    ".join(lines)
    source = f'def tool({", ".join(written)}):\n    """{body}\n    """\n    return 1\n'
    scope = {"Optional": Optional, "Union": Union, "Literal": Literal, "datetime": datetime,
             "Annotated": Annotated, "Any": Any}  # fmt: skip
    exec(compile(source, "tool", "exec", dont_inherit=True), scope)  # types, not their texts
    made: Callable[..., Any] = scope["tool"]  # type: ignore[assignment]
    made.__module__ = "__main__"
    return made


def signatures(rng: random.Random) -> tuple[Any, Any]:
    made = function(rng)
    model = theirs_outcome(lambda: tool_utils.create_schema_from_function("tool", made))
    if model == RAISES:
        return RAISES, outcome(lambda: create_schema_from_function("tool", made))
    theirs = TheirMetadata(name="tool", description="Does it.", args_schema=model)
    return theirs_outcome(lambda: in_providers_forms(theirs)), outcome(lambda: ours_in_forms(made))


def in_providers_forms(metadata: Any) -> list[Any]:
    schema = metadata.args_schema.model_json_schema()
    anthropic = anthropic_chat_model.to_anthropic_tool(metadata=metadata)
    return [schema, chat_model_utils.to_openai_tool(metadata=metadata), anthropic]


def ours_in_forms(made: Callable[..., Any]) -> list[Any]:
    schema = create_schema_from_function("tool", made).model_json_schema()
    tool = ToolMetadata(name="tool", description="Does it.", args_schema=schema)
    return [schema, to_openai_tool(tool), to_anthropic_tool(tool)]


def arguments(rng: random.Random) -> tuple[Any, Any]:
    """Whether a call's arguments fit, and as what they are read: by their pydantic model."""
    made = function(rng)
    model = theirs_outcome(lambda: tool_utils.create_schema_from_function("tool", made))
    tool = theirs_outcome(lambda: FunctionTool(made).metadata)
    if RAISES in (model, tool):
        return model is RAISES, tool is RAISES
    given = {name: rng.choice(VALUES) for name in model.model_fields if rng.random() < 0.9}
    for name, value in given.items():
        if rng.random() < 0.7:  # any of those that fit, where some do
            alone = [v for v in VALUES if fits(model.model_fields[name].annotation, v)]
            given[name] = rng.choice(alone or [value])
    theirs = theirs_outcome(
        lambda: model.model_validate(given).model_dump(mode="json", exclude_unset=True)
    )
    if theirs != RAISES:  # on purpose: a date is checked, and handed on as the model wrote it
        dates = [n for n in given if model.model_fields[n].annotation is datetime.date]
        theirs |= {name: given[name] for name in dates}
    return theirs, outcome(lambda: checked_arguments(tool, given)[0])


def fits(annotation: Any, value: Any) -> bool:
    adapter = pydantic.TypeAdapter(annotation)
    return bool(theirs_outcome(lambda: [adapter.validate_python(value)]) != RAISES)


def schema(rng: random.Random, depth: int = 2) -> dict[str, Any]:
    kinds = ["string", "integer", "number", "boolean", "null", "object", "array", None]
    kind = rng.choice(kinds if depth else kinds[:5])
    made: dict[str, Any] = {"type": kind} if kind else {}
    for keyword in ("minimum", "maximum", "minItems", "maxItems", "pattern", "enum", "default"):
        if rng.random() < 0.1:
            made[keyword] = {"pattern": "^x", "enum": ["a", 1]}.get(keyword, rng.randrange(4))
    if kind == "array" and rng.random() < 0.7:
        made["items"] = schema(rng, depth - 1)
    if kind == "object" and rng.random() < 0.5:
        made["additionalProperties"] = schema(rng, depth - 1)
    if depth and rng.random() < 0.2:
        made = {"anyOf": [schema(rng, 0) for _ in range(rng.randint(1, 3))]}
    if rng.random() < 0.5:
        made["description"] = text(rng)
    return made


def schemas(rng: random.Random) -> tuple[Any, Any]:
    given = object_schema(rng)
    return (
        theirs_outcome(lambda: tool_utils.create_model_from_schema("T", given).model_json_schema()),
        outcome(lambda: rebuilt_schema(given, "T")),
    )


def object_schema(rng: random.Random) -> dict[str, Any]:
    names = rng.sample(["a", "b", "c d", "class", "_x", "model_x"], rng.randrange(4))
    return {"type": "object", "properties": {name: schema(rng) for name in names}}


def java_schemas(rng: random.Random) -> tuple[Any, Any]:
    given = json.dumps(object_schema(rng))
    return (
        theirs_outcome(lambda: java_model(given)),
        outcome(lambda: from_java_schema(given, "T")),
    )


def java_model(given: str) -> Any:
    return tool_utils.create_model_from_java_tool_schema_str("T", given).model_json_schema()


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
        theirs_outcome(lambda: openai_utils.convert_to_openai_message(TheirMessage(**given))),
        outcome(lambda: to_openai_message(read_message(given))),
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
    """A message as a model sees it; an id that nobody gave is what names a result's call."""
    names = given.extra_args.get("external_id")
    return [given.role.value, given.content, len(given.tool_calls), names]


class Context:
    """What their actions ask of a runner: resources, a memory, events, and calls made at once."""

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

    return theirs_outcome(theirs), outcome(ours)


KINDS: Final = (
    prompts,
    signatures,
    arguments,
    schemas,
    java_schemas,
    openai_messages,
    anthropic_requests,
    replies,
    chats,
)


def main() -> None:
    given = [int(value) for value in sys.argv[1:3]]
    count, seed = [*given, *(2000, 1)[len(given) :]]
    for kind in KINDS:
        rng = random.Random(f"{seed} {kind.__name__}")
        found: Counter[str] = Counter()
        for _ in range(count):
            theirs, ours = kind(rng)
            same = json.dumps(theirs, default=str) == json.dumps(ours, default=str)
            found["equal" if same else "different"] += 1
            found["raise in both"] += same and ours == RAISES
            if not same and found["different"] <= 3:
                print(f"--- {kind.__name__}:\n  theirs {theirs!r}\n  ours   {ours!r}")
        share = 100 * found["equal"] / count
        print(
            f"{kind.__name__}: {found['equal']:,} of {count:,} equal ({share:.1f} %), "
            f"{found['raise in both']:,} raise in both"
        )


if __name__ == "__main__":
    main()
