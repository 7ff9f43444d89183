"""The dialogs that Meta's prompt formats for Llama 3.1 to 3.3 import, with Meta's texts.

Source: llama-stack 0.2.12, `models/llama/prompt_format.py`. Meta's code writes the present
date. Here the date is an argument, because a prompt must not depend on the clock.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final

from playground.base.errors import InputFault
from playground.dialects.raw_prompts.llama import ENVIRONMENT, tool_definitions
from playground.nouns.messages import Message, Role, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.tools import ToolMetadata

TODAY: Final = "15 September 2024"
_HELPFUL: Final = "You are a helpful assistant."
_NUMBER: Final = "The number of songs to return"
_GENRE: Final = "The genre of the songs to return"


class ToolPromptFormat(StrEnum):
    """The format in which a custom tool is defined and called, under Meta's name."""

    json = "json"
    function_tag = "function_tag"
    python_list = "python_list"


class BuiltinTool(StrEnum):
    """Meta's built-in tools."""

    brave_search = "brave_search"
    wolfram_alpha = "wolfram_alpha"
    photogen = "photogen"
    code_interpreter = "code_interpreter"


class StopReason(StrEnum):
    """The end of a message, under Meta's name. The playground does not use it, because the
    calls show how a message ends."""

    end_of_turn = "end_of_turn"
    end_of_message = "end_of_message"
    out_of_tokens = "out_of_tokens"


def ToolCall(call_id: str, tool_name: str, arguments: dict[str, Any]) -> ToolCallPart:  # noqa: N802 - Meta's name
    """Return Meta's `ToolCall` as a part of a message."""
    return ToolCallPart(call_id, str(tool_name), arguments)


def RawMessage(  # noqa: N802 - Meta's name
    role: Role = "assistant",
    content: str = "",
    stop_reason: str | None = None,
    tool_calls: Sequence[ToolCallPart] = (),
    tool_call_id: str = "",
) -> Message:
    """Return Meta's `RawMessage` as a message.

    `stop_reason` is accepted and dropped: the end of a message follows from its calls
    (docs/raw-prompts.md).
    """
    if role == "tool":
        return Message("tool", (ToolResultPart(tool_call_id, "", content),))
    text = (TextPart(content),) if content else ()
    return Message(role, (*text, *tool_calls))


def llama_dates(today: str = TODAY) -> str:
    """Return Meta's two lines of dates for a system prompt."""
    return f"Cutting Knowledge Date: December 2023\nToday Date: {today}"


def llama3_1_builtin_tool_call_dialog(
    tool_prompt_format: str = "json", *, today: str = TODAY
) -> list[Message]:
    """Return a dialog with the built-in search and calculator, the same for every format."""
    system = f"{ENVIRONMENT}\nTools: brave_search, wolfram_alpha\n{llama_dates(today)}"
    question = "Search the web for the latest price of 1oz gold?"
    return _dialog(f"{system}\n\n{_HELPFUL}\n", question)


def llama3_1_builtin_code_interpreter_dialog(
    tool_prompt_format: str = "json", *, today: str = TODAY
) -> list[Message]:
    """Return a dialog with the code interpreter, the same for every format."""
    question = "Write code to check if number is prime. Use it to verify if number 7 is prime"
    return _dialog(f"{ENVIRONMENT}\n\n{llama_dates(today)}\n", question)


def llama3_1_custom_tool_call_dialog(
    tool_prompt_format: str = "json", *, today: str = TODAY
) -> list[Message]:
    """Return a dialog with a custom tool, which a user message defines.

    Raises InputFault for a format other than `json` and `function_tag`, as Meta's code does.
    """
    system = f"{ENVIRONMENT}\n\n{llama_dates(today)}\n\n{_HELPFUL}\n"
    return _dialog(
        system, _definition(tool_prompt_format), "Use tools to get latest trending songs"
    )


def _dialog(system: str, *users: str) -> list[Message]:
    asked = [Message("user", (TextPart(text),)) for text in users]
    return [Message("system", (TextPart(system),)), *asked]


def _definition(tool_format: str) -> str:
    if tool_format == "function_tag":
        parameters = {
            "genre": {"description": _GENRE, "param_type": "str", "required": False},
            "n": {"description": _NUMBER, "param_type": "int", "required": True},
        }
        return tool_definitions([_tool({"properties": parameters})], "function_tag")
    if tool_format != "json":
        expected = "json or function_tag"
        raise InputFault(
            f"no tool prompt format {tool_format!r:.40}", field="format", expected=expected
        )
    # Meta writes the properties as a list of objects, and the names in one line
    properties = [
        {name: {"type": "object", "description": description}}
        for name, description in (("n", _NUMBER), ("genre", _GENRE))
    ]
    schema = {"type": "object", "properties": properties, "required": ["n"]}
    text = tool_definitions([_tool(schema)], "json")
    return re.sub(r'\[\s*"n"\s*\]', '["n"]', text)


def _tool(schema: dict[str, Any]) -> ToolMetadata:
    return ToolMetadata(
        name="trending_songs",
        description="Returns the trending songs on a Music site",
        input_schema=schema,
    )
