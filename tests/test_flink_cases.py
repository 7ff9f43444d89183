"""Flink-Agents' own behaviour, case by case; each way in which we differ is listed with a reason.

`PLAYGROUND_FLINK_CASES` names another file of the same form.
"""

from __future__ import annotations

import datetime
import enum
import inspect
import json
import os
import typing
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pydantic
import pytest
from conftest import ROOT
from pydantic.fields import FieldInfo

from playground.base.errors import InputFault
from playground.nouns.tool_formats import create_schema_from_function
from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.flink_agents import (
    ChatMessage,
    ChatModelSetup,
    Prompt,
    ScriptedModel,
    chat_events,
)
from playground.plugins.systems.flink_agents.chat_message import (
    read_message,
    to_anthropic_message,
    to_anthropic_request,
    to_openai_message,
)
from playground.plugins.systems.flink_agents.chat_model import Messages
from playground.plugins.systems.flink_agents.completion import Completion
from playground.plugins.systems.flink_agents.events import ToolResponseEvent
from playground.plugins.systems.flink_agents.replies import clean_response, extract_reasoning
from playground.plugins.systems.flink_agents.tools import (
    RecordedTool,
    to_anthropic_tool,
    to_openai_tool,
)
from playground.plugins.systems.flink_agents.upstream import (
    from_java_schema,
    rebuilt_schema,
    to_java_schema,
)

OWN: Final = ROOT.parent / "shared" / "conformance" / "flink_cases.json"
FILE: Final = Path(os.environ.get("PLAYGROUND_FLINK_CASES", "") or OWN)
pytestmark = pytest.mark.skipif(
    not FILE.exists(), reason="NOT RUN: ../shared/conformance is not beside this checkout"
)
CASES: Final[list[dict[str, Any]]] = json.loads(FILE.read_text()) if FILE.exists() else []
REFUSED: Final = object()


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


def function_of(given: dict[str, Any]) -> Callable[..., Any]:
    """The function of a case, which is Python text."""
    names = {**vars(typing), **vars(pydantic), "datetime": datetime, "Color": Color}
    exec(given["code"], names)
    function: Callable[..., Any] = names[given["name"]]
    return function


def schema_of(given: dict[str, Any]) -> dict[str, Any]:
    hidden = given.get("injected_args", ())
    return create_schema_from_function(
        given["name"], function_of(given), hidden
    ).model_json_schema()


def tool_of(given: dict[str, Any]) -> ToolMetadata:
    if "description_length" in given:
        return ToolMetadata(name="long", description="x" * given["description_length"])
    description = function_of(given).__doc__ or ""
    return ToolMetadata(name=given["name"], description=description, args_schema=schema_of(given))


def prompt_of(template: Any) -> Prompt:
    if isinstance(template, str):
        return Prompt.from_text(template)
    return Prompt.from_messages(template)


def plain(messages: list[ChatMessage]) -> list[dict[str, Any]]:
    return [message.model_dump(mode="json") for message in messages]


def parameters_of(schema: dict[str, Any]) -> dict[str, Any]:
    tool = ToolMetadata(name="t", input_schema=rebuilt_schema(schema))
    found: dict[str, Any] = to_openai_tool(tool)["function"]["parameters"]
    return found


class Connection(ScriptedModel):
    """Keeps all that it is given."""

    def complete(self, messages: Messages, tools: Any = (), **parameters: Any) -> Completion:
        self.seen = {
            "messages": plain(list(messages)),
            "tools": list(tools),
            "kwargs": parameters,
        }
        return super().complete(messages, tools, **parameters)


def chat_setup(given: dict[str, Any]) -> Any:
    connection = Connection(["ok"])
    prompt = prompt_of(given["prompt"]) if given.get("prompt") is not None else None
    setup = ChatModelSetup(connection, prompt, (), {"model": "m", "temperature": 0.1})
    messages = [read_message(message) for message in given["messages"]]
    setup.chat(messages, given["prompt_args"], **given["kwargs"])
    return connection.seen


def short(message: ChatMessage) -> dict[str, Any]:
    """As the cases write a model's input."""
    found: dict[str, Any] = {"role": message.role.value, "content": message.content}
    if message.tool_calls:
        found["tool_calls"] = [called(call) for call in message.tool_calls]
    if "external_id" in message.extra_args:
        found["external_id"] = message.extra_args["external_id"]
    return found


def called(call: dict[str, Any]) -> dict[str, Any]:
    return {"name": call["function"]["name"], "arguments": call["function"]["arguments"]}


def event_flow(given: dict[str, Any], expected: Any) -> Any:
    """The flow, with tools that give what the case has them give, or fail as it has them fail."""
    responses = [item for item in expected if item.get("event") == "_tool_response_event"]
    pairs = (zip(item["responses"], item["success"], strict=True) for item in responses)
    results = chain.from_iterable(pairs)
    errors = iter([error for item in responses for error in item["error"]])

    def answer(**_: Any) -> Any:
        value, fine = next(results)
        if not fine:
            raise ValueError(next(errors))
        return value

    log: list[dict[str, Any]] = []

    class Model(ScriptedModel):
        def complete(self, messages: Messages, tools: Any = (), **more: Any) -> Completion:
            log.append({"model_input": [short(message) for message in messages]})
            return super().complete(messages, tools, **more)

    model = Model([read_message(message) for message in given["model_script"]])
    tools = {name: RecordedTool(ToolMetadata(name=name), answer) for name in given["tools"]}
    request = [read_message(message) for message in given["request"]]
    for event in chat_events(request, ChatModelSetup(model), tools):
        log.append(told(event))
    return log


def told(event: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"event": event.type}
    if event.type == "_tool_request_event":
        found["tool_calls"] = [called(call) for call in event.tool_calls]
    elif isinstance(event, ToolResponseEvent):
        found |= {"responses": event.results, "success": event.success, "error": event.errors}
        found["external_ids"] = list(event.external_ids.values())
    elif event.type == "_chat_response_event":
        found |= {"response": short(event.response), "retry_count": event.retry_count}
    return found


RUNNERS: Final[dict[str, Callable[[Any], Any]]] = {
    "prompt_format_string": lambda g: prompt_of(g["template"]).format_string(**g["args"]),
    "prompt_format_messages": lambda g: plain(
        prompt_of(g["template"]).format_messages(**g["args"])
    ),
    "prompt_role_param": lambda g: plain(
        prompt_of(g["template"]).format_messages(g["args"], role=g["role"])
    ),
    "to_openai_tool": lambda g: to_openai_tool(tool_of(g)),
    "to_anthropic_tool": lambda g: to_anthropic_tool(tool_of(g)),
    "schema_from_function": schema_of,
    "model_from_schema_roundtrip": lambda g: rebuilt_schema(g["schema"]),
    "parameters_dict_roundtrip": lambda g: parameters_of(g["schema"]),
    "java_schema_to_model": lambda g: from_java_schema(g["schema_str"], "J"),
    "model_to_java_schema": lambda g: to_java_schema(g["model_schema"]),
    "to_openai_message": lambda g: to_openai_message(read_message(g)),
    "to_anthropic_message": lambda g: to_anthropic_message(read_message(g)),
    "anthropic_request": lambda g: to_anthropic_request([read_message(m) for m in g["messages"]]),
    "extract_reasoning": lambda g: list(extract_reasoning(g)),
    "clean_llm_response": clean_response,
    "chat_setup": chat_setup,
    "chat_message": lambda g: read_message(g).model_dump(mode="json"),
    "chat_message_str": lambda g: str(read_message(g)),
}

# Where we differ on purpose: which cases, why, and what we give instead.


def any_name_is_a_variable(case: dict[str, Any]) -> Any:
    """Upstream takes `self` and `_template` for its own parameters and raises."""
    given = case["input"]
    if not case["group"].startswith("prompt_format") or "multiple values" not in str(case["error"]):
        return None
    text = given["template"]
    for name, value in given["args"].items():
        text = text.replace("{" + name + "}", str(value))
    if case["group"] == "prompt_format_string":
        return text
    return plain([ChatMessage(role="system", content=text)])  # type: ignore[arg-type]


def a_prompt_argument_named_role_is_a_variable(case: dict[str, Any]) -> Any:
    """Upstream takes it for the message's role, and raises where no such role exists."""
    given = case["input"]
    if case["group"] != "chat_setup" or "role" not in (given.get("prompt_args") or {}):
        return None
    said = given["prompt"].replace("{role}", given["prompt_args"]["role"])
    system = {"role": "system", "content": said, "tool_calls": [], "extra_args": {}}
    kwargs = {"model": "m", "temperature": 0.1}
    return {"messages": [system], "tools": [], "kwargs": kwargs}


def what_has_no_name_is_no_parameter(case: dict[str, Any]) -> Any:
    """Upstream asks the model for `args` and `kwargs`, which no call by name can give."""
    if case["expected"] is None or "code" not in case["input"]:
        return None
    parameters = inspect.signature(function_of(case["input"])).parameters.values()
    starred = {p.name for p in parameters if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    if not starred:
        return None
    changed = json.loads(json.dumps(case["expected"]))
    schema = arguments_in(changed)
    schema["properties"] = {n: s for n, s in schema["properties"].items() if n not in starred}
    schema["required"] = [name for name in schema["required"] if name not in starred]
    return changed


def a_leading_underscore_is_a_name(case: dict[str, Any]) -> Any:
    """Upstream raises: pydantic has no such fields. Ours have an alias."""
    if "leading underscores" not in str(case["error"]):
        return None
    field = {"description": "Parameter: _a", "title": "A", "type": "integer"}
    schema = {"properties": {"_a": field}, "required": ["_a"], "type": "object"}
    name = case["input"]["name"]
    if case["group"] == "schema_from_function":
        return {**schema, "title": name}
    if case["group"] == "to_openai_tool":
        function = {"name": name, "description": "x", "parameters": schema}
        return {"type": "function", "function": function}
    return {"name": name, "description": "x", "input_schema": schema}


def bounds_within_annotated_are_kept(case: dict[str, Any]) -> Any:
    """Upstream takes the description of a `Field` within `Annotated`, and loses its bounds."""
    if case["expected"] is None or "Annotated" not in str(case["input"]):
        return None
    changed = json.loads(json.dumps(case["expected"]))
    properties = arguments_in(changed)["properties"]
    hints = typing.get_type_hints(function_of(case["input"]), include_extras=True)
    for name, hint in hints.items():
        if any(isinstance(note, FieldInfo) for note in getattr(hint, "__metadata__", ())):
            properties[name] |= pydantic.TypeAdapter(hint).json_schema()
    return changed if changed != case["expected"] else None


def a_call_with_an_id_alone_gets_it_back(case: dict[str, Any]) -> Any:
    """Upstream gives back the `original_id` alone: a result that names no call reaches nobody."""
    if case["group"] != "event_flow" or case["expected"] is None:
        return None
    changed = json.loads(json.dumps(case["expected"]))
    script = case["input"]["model_script"]
    calls = [call for message in script for call in message.get("tool_calls") or ()]
    for item in changed:
        results = [m for m in item.get("model_input", ()) if m["role"] == "tool"]
        for message, call in zip(results, calls, strict=False):
            if call.get("id") and not call.get("original_id"):
                message["external_id"] = call["id"]
    return changed if changed != case["expected"] else None


DIFFERENCES: Final = (
    a_call_with_an_id_alone_gets_it_back,
    any_name_is_a_variable,
    a_prompt_argument_named_role_is_a_variable,
    what_has_no_name_is_no_parameter,
    a_leading_underscore_is_a_name,
    bounds_within_annotated_are_kept,
)


def arguments_in(expected: dict[str, Any]) -> dict[str, Any]:
    """The schema within a tool of any form."""
    inner = expected.get("function", expected)
    found: dict[str, Any] = inner.get("parameters") or inner.get("input_schema") or inner
    return found


def outcome(case: dict[str, Any]) -> Any:
    try:
        if case["group"] == "event_flow":
            return event_flow(case["input"], case["expected"])
        return RUNNERS[case["group"]](case["input"])
    except InputFault:
        return REFUSED


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_case_of_flink_agents(case: dict[str, Any]) -> None:
    ours = [given for difference in DIFFERENCES if (given := difference(case)) is not None]
    if ours:
        assert outcome(case) == ours[0]
    elif case["error"] is not None:
        assert outcome(case) is REFUSED
    else:
        assert outcome(case) == case["expected"]


@pytest.mark.skipif(FILE != OWN, reason="another file need not show every difference")
@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda d: d.__name__)
def test_a_difference_is_still_one(difference: Callable[[dict[str, Any]], Any]) -> None:
    """One that no case shows any more is to be taken out of the list."""
    assert any(difference(case) is not None for case in CASES)
