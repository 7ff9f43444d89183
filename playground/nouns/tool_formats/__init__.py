"""Readers of tools in every form: each becomes `ToolMetadata`, with its JSON Schema as given."""

from playground.nouns.tool_formats.forms import (
    looks_like_tools,
    read_entry,
    read_tool,
    read_tools,
    read_tools_and_findings,
)
from playground.nouns.tool_formats.functions import (
    create_schema_from_function,
    parameter_names,
    tool_from_function,
)

__all__ = [
    "create_schema_from_function",
    "parameter_names",
    "looks_like_tools",
    "read_entry",
    "read_tool",
    "read_tools",
    "read_tools_and_findings",
    "tool_from_function",
]
