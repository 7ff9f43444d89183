"""Random prompts, schemas, arguments, messages, chats and agents: ours beside Flink-Agents 0.3.1.

`python benchmarks/against_flink_agents.py [COUNT] [SEED]` installs its Python part into a scratch
environment (without its JARs, and with an empty module in place of Flink) and prints how many cases
of each kind are equal, which differ on purpose, and the first of the others.
"""

# ruff: noqa: E402, UP007, UP045
# Imports follow the change of environment; types are tried in all their spellings.

from __future__ import annotations

import os
import sys

from scratch import RAISES, Tally, numbers, run_beside

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

import dataclasses
import datetime
import enum
import json
import random
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Annotated, Any, Final, Literal, Optional, Union

import pydantic

from playground.nouns.tool_formats import create_schema_from_function
from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.flink_agents import ChatMessage, FunctionTool, Prompt
from playground.plugins.systems.flink_agents.arguments import checked_arguments
from playground.plugins.systems.flink_agents.tools import to_anthropic_tool, to_openai_tool
from playground.plugins.systems.flink_agents.upstream import from_java_schema, rebuilt_schema


class Empty(ModuleType):
    """A module in place of Flink itself, which Flink-Agents' actions import for their types."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


for _name in ("pyflink", "pyflink.common", "pyflink.common.typeinfo", "pyflink.datastream"):
    sys.modules[_name] = Empty(_name)

from flink_agents.api.chat_message import ChatMessage as TheirMessage  # type: ignore[import-not-found]
from flink_agents.api.prompts.prompt import Prompt as TheirPrompt  # type: ignore[import-not-found]
from flink_agents.api.tools import utils as tool_utils  # type: ignore[import-not-found]
from flink_agents.api.tools.tool import ToolMetadata as TheirMetadata  # type: ignore[import-not-found]
from flink_agents.integrations.chat_models import chat_model_utils  # type: ignore[import-not-found]
from flink_agents.integrations.chat_models.anthropic import anthropic_chat_model  # type: ignore[import-not-found]
from flink_messages import (
    anthropic_requests,
    chats,
    openai_messages,
    ours_of,
    replies,
    text,
    theirs_of,
)
from flink_runs import agents_run, react_run


class Colour(enum.Enum):
    RED = "red"


class Berth(pydantic.BaseModel):
    quay: str
    metres: int = 1


@dataclasses.dataclass
class Ship:
    name: str
    built: Optional[datetime.date] = None


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
    "datetime.datetime": datetime.datetime,
    "set[int]": set[int],
    "tuple[int, str]": tuple[int, str],
    "Colour": Colour,
    "Berth": Berth,
    "Optional[Berth]": Optional[Berth],
    "dict[str, Berth]": dict[str, Berth],
    "list[Ship]": list[Ship],
}
VALUES: Final[list[Any]] = [
    1, 0, -3, 2.5, 2.0, True, None, "1", "2.5", "yes", "true", "x", "", "a", "2026-02-03",
    [], [1], ["1", "x"], [["a"]], {}, {"a": 1}, {"a": "1.5"}, {"a": "x"},
    "red", {"quay": "west"}, {"quay": "west", "metres": "2"}, {"a": {"quay": "west"}}, [1, "a"],
    [1, 1], [{"name": "Ada"}], [{"name": "Ada", "built": "2026-02-03"}], "2026-02-03T04:05:06",
]  # fmt: skip


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
        theirs_of(lambda: [theirs.format_string(**values), dumped(theirs, values)]),
        ours_of(lambda: [ours.format_string(**values), dumped(ours, values)]),
    )


def dumped(prompt: Any, values: Mapping[str, str]) -> list[Any]:
    return [message.model_dump(mode="json") for message in prompt.format_messages(**values)]


def function(rng: random.Random) -> Callable[..., Any]:
    """Return a function with a random signature and docstring."""
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
    scope = dict(globals())  # where the names of the types are known
    exec(compile(source, "tool", "exec", dont_inherit=True), scope)  # types, not their texts
    made: Callable[..., Any] = scope["tool"]
    made.__module__ = "__main__"
    return made


def signatures(rng: random.Random) -> tuple[Any, Any]:
    made = function(rng)
    model = theirs_of(lambda: tool_utils.create_schema_from_function("tool", made))
    if model == RAISES:
        return RAISES, ours_of(lambda: create_schema_from_function("tool", made))
    theirs = TheirMetadata(name="tool", description="Does it.", args_schema=model)
    return theirs_of(lambda: in_providers_forms(theirs)), ours_of(lambda: ours_in_forms(made))


def in_providers_forms(metadata: Any) -> list[Any]:
    schema = metadata.args_schema.model_json_schema()
    anthropic = anthropic_chat_model.to_anthropic_tool(metadata=metadata)
    return [schema, chat_model_utils.to_openai_tool(metadata=metadata), anthropic]


def ours_in_forms(made: Callable[..., Any]) -> list[Any]:
    schema = create_schema_from_function("tool", made).model_json_schema()
    tool = ToolMetadata(name="tool", description="Does it.", args_schema=schema)
    return [schema, to_openai_tool(tool), to_anthropic_tool(tool)]


def arguments(rng: random.Random) -> tuple[Any, Any]:
    """Return how their pydantic model and ours read random arguments of a random function, or
    RAISES."""
    made = function(rng)
    model = theirs_of(lambda: tool_utils.create_schema_from_function("tool", made))
    tool = theirs_of(lambda: FunctionTool(made).metadata)
    if RAISES in (model, tool):
        return model is RAISES, tool is RAISES
    given = {name: rng.choice(VALUES) for name in model.model_fields if rng.random() < 0.9}
    for name, value in given.items():
        if rng.random() < 0.7:  # any of those that fit, where some do
            alone = [v for v in VALUES if fits(model.model_fields[name].annotation, v)]
            given[name] = rng.choice(alone or [value])
    theirs = theirs_of(lambda: values_of(model.model_validate(given), given))
    return theirs, ours_of(lambda: repr(checked_arguments(tool, given)[0]))


def values_of(made: pydantic.BaseModel, given: Mapping[str, Any]) -> str:
    return repr({name: getattr(made, name) for name in given})


def fits(annotation: Any, value: Any) -> bool:
    adapter = pydantic.TypeAdapter(annotation)
    return bool(theirs_of(lambda: [adapter.validate_python(value)]) != RAISES)


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
        theirs_of(lambda: tool_utils.create_model_from_schema("T", given).model_json_schema()),
        ours_of(lambda: rebuilt_schema(given, "T")),
    )


def object_schema(rng: random.Random) -> dict[str, Any]:
    names = rng.sample(["a", "b", "c d", "class", "_x", "model_x"], rng.randrange(4))
    return {"type": "object", "properties": {name: schema(rng) for name in names}}


def java_schemas(rng: random.Random) -> tuple[Any, Any]:
    given = json.dumps(object_schema(rng))
    return (
        theirs_of(lambda: java_model(given)),
        ours_of(lambda: from_java_schema(given, "T")),
    )


def java_model(given: str) -> Any:
    return tool_utils.create_model_from_java_tool_schema_str("T", given).model_json_schema()


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
    agents_run,
    react_run,
)


def main() -> None:
    count, seed = numbers(sys.argv[1:3], 2000, 1)
    for kind in KINDS:
        rng = random.Random(f"{seed} {kind.__name__}")
        tally = Tally(kind.__name__)
        for _ in range(count):
            tally.add(*kind(rng))
        tally.tell()


if __name__ == "__main__":
    main()
