"""The English texts of prompts in all dialects: rules, tool documentation, frames."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from playground.nouns.tools import ParameterMetadata, Schema, ToolMetadata, resolve

SYSTEM_RULES: Final = """\
# Messages from the environment
Some messages come from the local environment rather than from the user: they report the state of \
the workspace, and the user may not see them. Take them into account. When you speak of what they \
say, name "the environment" as the source, never the user.
# Working style
Be direct and clear, and aim for the best result of the task at hand. When something you did turns \
out wrong, look for the cause, say what you learned and do better in the next step."""

_USER_FRAME: Final = """\
====
The user has added instructions of their own. They may not know the rest of these instructions; \
follow theirs where you can.

{text}
===="""


def framed_user_prompt(text: str) -> str:
    """Return the user's own instructions in a frame; "" if there are none."""
    return _USER_FRAME.replace("{text}", text) if text.strip() else ""


def typed_schema(tool: ToolMetadata) -> dict[str, Any]:
    """Return OpenAI's tool object, with the tool's JSON Schema unchanged."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def simplified_schema(tool: ToolMetadata) -> dict[str, Any]:
    """Return a schema in which every parameter is a string, for models that read descriptions."""
    properties = {
        name: {"type": "string", "description": parameter.description}
        for name, parameter in tool.parameters.items()
    }
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": {
            "type": "object",
            "properties": properties,
            "required": tool.required_parameters,
        },
    }


# The forms of tool documentation: each is a function that writes one tool, and a frame.

ExampleOf = Callable[[ToolMetadata, dict[str, Any]], str]


@dataclass(frozen=True, slots=True)
class ToolDocsFrame:
    """The texts before the first tool, between two tools, and after the last."""

    before: str
    between: str
    after: str = ""


@dataclass(frozen=True, kw_only=True)
class ToolDocs:
    """The form of the tools' documentation: a function for one tool, and the frame around all.

    The frame is data, not a function, so that the origin of every character is known.
    """

    tool: Callable[[ToolMetadata, ExampleOf], str]
    frame: ToolDocsFrame


def described_tool(tool: ToolMetadata, example_of: ExampleOf) -> str:
    """Document a tool in prose: each parameter on a line, then example calls."""
    name = escape(tool.name)
    lines = [
        f'<tool_doc tool_name="{name}">',
        f"Tool name: {tool.name}",
        f"Description: {tool.description}",
        "Parameters:",
        *(_parameter_line(tool, *parameter) for parameter in tool.parameters.items()),
    ]
    if tool.examples:
        lines += [f'<tool_call_examples tool_name="{name}">']
        for example in tool.examples:
            lines += [f'<tool_call_example tool_name="{name}">']
            lines += [example.explanation] if example.explanation else []
            lines += [example_of(tool, example.parameters), "</tool_call_example>"]
        lines += ["</tool_call_examples>"]
    return "\n".join([*lines, "</tool_doc>"])


def _parameter_line(tool: ToolMetadata, name: str, parameter: ParameterMetadata) -> str:
    need = "required" if name in tool.required_parameters else "optional"
    return f"- {name} ({parameter.type}, {need}): {parameter.description}".rstrip(": ")


def json_tool(tool: ToolMetadata, example_of: ExampleOf) -> str:
    """Document a tool as a typed JSON object on one line, as function-calling models know it."""
    return json.dumps(typed_schema(tool), ensure_ascii=False)


DESCRIBED: Final = ToolDocs(
    tool=described_tool,
    frame=ToolDocsFrame("# Tools\nRead how each tool is used before you use it.\n\n", "\n\n"),
)
JSON_LINES: Final = ToolDocs(
    tool=json_tool,
    frame=ToolDocsFrame("# Tools\nThese functions may be called:\n<tools>\n", "\n", "\n</tools>"),
)


# Example arguments


def sample_arguments(tool: ToolMetadata) -> dict[str, Any]:
    """Return the first example's arguments, or values for required parameters, or for the first."""
    if tool.examples:
        return dict(tool.examples[0].parameters)
    names = tool.required_parameters or list(tool.parameters)[:1]
    return {name: _sample(tool.parameter_schema(name), tool.input_schema, 0) for name in names}


_DEEPEST: Final = 3  # a schema may contain itself
_PLAIN_SAMPLES: Final = {"integer": 1, "number": 1.5, "boolean": True, "null": None}


def _sample(schema: Schema, root: Schema, depth: int) -> Any:
    schema = resolve(schema, root)
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    variants = schema.get("anyOf") or schema.get("oneOf")
    if variants:
        return _sample(variants[0], root, depth + 1)
    return _sample_of_type(schema, root, depth)


def _sample_of_type(schema: Schema, root: Schema, depth: int) -> Any:
    match _one_type(schema.get("type")):
        case "array" if depth < _DEEPEST:
            return [_sample(schema.get("items", {}), root, depth + 1)]
        case "array":
            return []
        case "object" if depth < _DEEPEST:
            properties = schema.get("properties", {})
            return {name: _sample(value, root, depth + 1) for name, value in properties.items()}
        case "object":
            return {}
        case kind:
            return _PLAIN_SAMPLES.get(kind, "text")


def _one_type(kind: Any) -> str:
    """Return a schema's type, or the first of several."""
    if isinstance(kind, list):
        kind = next(iter(kind), "")
    return str(kind)
