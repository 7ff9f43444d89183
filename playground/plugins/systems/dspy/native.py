"""The parts of a signature that a model's API can carry: tool calls, reasoning, a schema.

A field that the API carries is left out of the prompt, and its value is read from the response's
own field, not from the answer's text. The rules are DSPy's (3.4.1, `Adapter._call_preprocess`,
`_call_postprocess` and `JSONAdapter`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args, get_origin

from pydantic import ConfigDict, create_model
from pydantic import Field as PydanticField
from pydantic.errors import PydanticUserError

from playground.base.errors import InputFault
from playground.plugins.systems.dspy.calling import AnswerFault
from playground.plugins.systems.dspy.reading import load, read
from playground.plugins.systems.dspy.signature import REQUIRED, Field, Signature
from playground.plugins.systems.dspy.types import kind_of

_TOOL_PARAMETERS: Final = ("tools", "tool_choice", "parallel_tool_calls")
_ANY_OBJECT: Final = {"type": "json_object"}


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a request: the signature for its messages, and its other parameters."""

    signature: Signature
    parameters: dict[str, Any]


def supports(lm: object, ability: str) -> bool:
    """Return True if a model states that it has an ability. As in DSPy, a model that states
    nothing has no ability."""
    return bool(getattr(lm, ability, False))


# the request


def plan_as_text(signature: Signature, parameters: Mapping[str, Any]) -> Plan:
    """Plan a request with tools and calls as text fields, without parameters for native tools."""
    others = {name: value for name, value in parameters.items() if name not in _TOOL_PARAMETERS}
    return Plan(signature, others)


def plan_with_tools(
    lm: object,
    parameters: Mapping[str, Any],
    signature: Signature,
    inputs: Mapping[str, Any],
    parallel: bool | None,
) -> Plan:
    """Plan a request with native tools, if calls are an output and the model can call functions.

    `parallel` is passed to the provider unless it is None. Raises InputFault if calls are an output
    and no input takes tools, or if a model that can call functions gets no tools.
    """
    calls_field = _output_of(signature, "ToolCalls")
    if not calls_field:
        return Plan(signature, _with_tool_choice(parameters))
    tools_field = _tools_field(signature)
    if not tools_field:
        raise InputFault(
            f"the output {calls_field} takes tool calls, but no input of the signature takes tools",
            expected="an input of type list[Tool]",
        )
    if not supports(lm, "supports_function_calling"):
        return plan_as_text(signature, parameters)
    tools = inputs.get(tools_field)
    if tools is None:
        raise InputFault(
            f"no tools are given in {tools_field}", field=tools_field, expected="tools"
        )
    tool_list = tools if isinstance(tools, list) else [tools]
    forms = [tool.format_as_litellm_function_call() for tool in tool_list]
    extended = {**parameters, "tools": forms}
    if parallel is not None and extended.get("parallel_tool_calls") is None:
        extended["parallel_tool_calls"] = parallel
    return Plan(signature.without(calls_field).without(tools_field), _with_tool_choice(extended))


def _with_tool_choice(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Add the choice `auto` if `parallel_tool_calls` is set, even to False, and no choice is."""
    if parameters.get("parallel_tool_calls") is None:
        return dict(parameters)
    return {"tool_choice": "auto", **parameters}


def plan_with_reasoning(lm: object, plan: Plan) -> Plan:
    """Remove Reasoning outputs from a plan's prompt, if the model reasons natively.
    The new plan's `reasoning_effort` is the request's, or else the model's own, or else `low`.
    If this is None, return the plan unchanged.
    """
    signature, parameters = plan.signature, plan.parameters
    defaults = getattr(lm, "kwargs", None) or {}
    effort = parameters.get("reasoning_effort", defaults.get("reasoning_effort", "low"))
    is_chat = getattr(lm, "model_type", "chat") == "chat"
    # LiteLLM returns no reasoning of these models
    hides_reasoning = is_chat and "gpt-5" in str(getattr(lm, "model", ""))
    names = [
        k for k, field in signature.outputs.items() if kind_of(field.annotation) == "Reasoning"
    ]
    if not names or effort is None or hides_reasoning or not supports(lm, "supports_reasoning"):
        return plan
    for name in names:
        signature = signature.without(name)
    return Plan(signature, {**parameters, "reasoning_effort": effort})


def _output_of(signature: Signature, kind: str) -> str:
    """Return the name of the first output of a kind, or ""."""
    return next((k for k, f in signature.outputs.items() if kind_of(f.annotation) == kind), "")


def _tools_field(signature: Signature) -> str:
    """Return the name of the input that holds a tool or a list of tools, or ""."""
    for name, field in signature.inputs.items():
        inside = get_args(field.annotation) if get_origin(field.annotation) is list else ()
        if kind_of(inside[0] if inside else field.annotation) == "Tool":
            return name
    return ""


# an answer as JSON


def response_format(lm: object, signature: Signature, calls_tools: bool) -> dict[str, Any] | None:
    """Return the parameter `response_format`, or None if the provider does not have it. It holds
    a JSON Schema of the outputs in OpenAI's form, as LiteLLM makes it of DSPy's class. It asks for
    any object if the model supports no schemas, if an output is a dict with any keys, or if calls
    are written in the text; `calls_tools` is True if they are native instead.
    """
    if "response_format" not in (getattr(lm, "supported_params", None) or ()):
        return None
    calls_in_text = not calls_tools and bool(_output_of(signature, "ToolCalls"))
    open_ended = any(get_origin(f.annotation) is dict for f in signature.outputs.values())
    if open_ended or calls_in_text or not supports(lm, "supports_response_schema"):
        return _ANY_OBJECT
    outputs = {
        name: field
        for name, field in signature.outputs.items()
        if not (calls_tools and kind_of(field.annotation) == "ToolCalls")
    }
    try:
        schema = outputs_schema(outputs)
    except (ValueError, PydanticUserError):  # a type without a JSON Schema
        return _ANY_OBJECT
    json_schema = {"name": "DSPyProgramOutputs", "strict": True, "schema": schema}
    return {"type": "json_schema", "json_schema": json_schema}


def outputs_schema(fields: Mapping[str, Field]) -> dict[str, Any]:
    """Return the JSON Schema of outputs as one object; all objects allow no other
    keys, and all keys are required.

    Raises ValueError, or pydantic's PydanticUserError, for a type without a schema.
    """
    fields_by_number: Any = {
        f"field_{number}": (field.annotation, PydanticField(_default(field), alias=name))
        # numbered, because a field's name may be one of pydantic's
        for number, (name, field) in enumerate(fields.items())
    }
    config = ConfigDict(extra="forbid")
    schema: dict[str, Any] = create_model(
        "DSPyProgramOutputs", __config__=config, **fields_by_number
    ).model_json_schema()
    _close(schema)
    return schema


def _default(field: Field) -> Any:
    return REQUIRED if callable(field.default) else field.default  # a schema shows no functions


def _close(schema: dict[str, Any]) -> None:
    """Require all keys and forbid others, as OpenAI demands; like DSPy, skip those in `anyOf`."""
    if schema.get("type") == "object":
        properties = schema.setdefault("properties", {})
        schema.update(required=list(properties), additionalProperties=False)
        for inner in properties.values():
            _close(inner)
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        _close(schema["items"])
    for inner in schema.get("$defs", {}).values():
        _close(inner)


# the answer


def carried_values(signature: Signature, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that an answer has outside of its text: calls, reasoning, `logprobs`.

    Raises AnswerFault if calls cannot be read.
    """
    values: dict[str, Any] = {}
    calls_field = _output_of(signature, "ToolCalls")
    if calls_field and answer.get("tool_calls"):
        values[calls_field] = _read_calls(
            answer["tool_calls"], signature.outputs[calls_field].annotation
        )
    for name, field in signature.outputs.items():
        if kind_of(field.annotation) == "Reasoning" and answer.get("reasoning_content"):
            values[name] = field.annotation(content=answer["reasoning_content"])
    return values | ({"logprobs": answer["logprobs"]} if answer.get("logprobs") else {})


def has_calls(signature: Signature, values: Mapping[str, Any]) -> bool:
    """Return True if the values of `carried_values` include calls."""
    return _output_of(signature, "ToolCalls") in values


def _read_calls(listed: Any, annotation: Any) -> Any:
    try:
        return read({"tool_calls": [_call(call) for call in listed]}, annotation)
    except (ValueError, TypeError) as error:
        problem = f"the calls {listed!r:.200} cannot be read: {error}"
        raise AnswerFault(problem, expected="calls with a name and a JSON object") from error


def _call(call: Any) -> dict[str, Any]:
    """Return a provider's call with id, name and args.

    In OpenAI's Responses API, name and arguments are not inside `function`, and results refer to
    `call_id` instead of `id`.
    """
    function = _get(call, "function") or {}
    arguments = _get(function, "arguments") or _get(call, "arguments") or {}
    return {
        "id": _get(call, "call_id") or _get(call, "id"),
        "name": _get(function, "name") or _get(call, "name"),
        "args": load(arguments) if isinstance(arguments, str) else arguments,
    }


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else getattr(value, key, None)
