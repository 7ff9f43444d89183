"""Read the messages that agent frameworks write as a model call's input and output.

The forms are from traces of Agno, AutoGen, BeeAI, Claude Agent SDK, CrewAI, Google ADK and GenAI,
Koog, LangGraph, LlamaIndex, Microsoft Agent Framework, OpenAI Agents, Pydantic AI, Semantic
Kernel, Vercel AI SDK and Vertex AI.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any, Final

from playground.sessions.inner_json import json_value
from playground.sessions.shapes.fields import listed, mapping, text_of

_NAME: Final = re.compile(r"\s*([a-z_]+)=")
_STRING: Final = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_PIECE: Final = re.compile(rf"(?s)({_STRING})|([\[({{])|([\])}}])|[^\s'\"\[\](){{}}]+|(\s)")
_FIELDS: Final = frozenset({
    "role", "content", "name", "tool_call_id", "tool_calls", "reasoning_content", "tool_name",
    "tool_call_error",
})  # fmt: skip


def chat_messages(value: Any, role: str) -> list[Any]:
    """Return the messages in a model call's input or output; [] if it holds no chat.

    A text alone is a message of `role`. JSON inside a text is read, up to two levels deep.
    """
    value = json_value(json_value(value))
    if isinstance(value, str):
        return [{"role": role, "content": value}] if value else []
    if isinstance(value, list):
        return _of_list(value, role)
    if not isinstance(value, dict):
        return []
    if (
        "lc" in value
        or "content" in value
        or "parts" in value
        or isinstance(value.get("text"), str)
    ):
        return _of_message(value, role)
    for key, read in _ENVELOPES.items():
        if value.get(key):
            return read(value, role) or _unread(key, json_value(value[key]))
    return []


def _unread(key: str, value: Any) -> list[Any]:
    """Return a field's value that is not a list of messages, so that it gets a finding later."""
    return [] if key not in _MESSAGE_FIELDS else value if isinstance(value, list) else [value]


def further_replies(value: Any) -> int:
    """Return how many replies follow the first, the only one that is read, in a call's output."""
    value = json_value(json_value(value))
    if not isinstance(value, dict):
        return 0
    for key in ("choices", "candidates", "generations"):
        found = value.get(key)
        if isinstance(found, list) and found:  # LangChain has a list for each prompt
            return sum(len(each) if isinstance(each, list) else 1 for each in found) - 1
    inner = value.get("output")
    return further_replies(inner) if isinstance(inner, dict) else 0


def chat_tools(request: Any, metadata: Any) -> list[Any]:
    """Return a model call's tools, from its input or messages, else from the span's attributes."""
    request = json_value(json_value(request))
    if isinstance(request, dict):
        config = request.get("config")
        tools = request.get("tools") or (config.get("tools") if isinstance(config, dict) else None)
        if tools:
            return tools if isinstance(tools, list) else [tools]
    tools = [item["content"] for item in listed(request) if _is_definition(item)]
    return tools or _tools_in(json_value(metadata))


def _is_definition(item: Any) -> bool:
    """Return True for a tool's definition among messages, to which LangChain's callbacks give the
    role `tool`."""
    content = item.get("content") if isinstance(item, dict) else None
    return isinstance(content, dict) and content.get("type") == "function" and "function" in content


def _tools_in(metadata: Any) -> list[Any]:
    attributes = json_value(mapping(metadata).get("attributes"))
    for holder in map(mapping, (attributes, metadata)):
        for key in _TOOL_FIELDS:
            tools = json_value(holder.get(key))
            if isinstance(tools, dict):
                tools = tools.get("function_tools")
            if isinstance(tools, list) and tools:
                return [_tool(json_value(tool)) for tool in tools]
    return []


def _tool(tool: Any) -> Any:
    """Return a tool with its schema under the usual name, which Pydantic AI does not use."""
    if isinstance(tool, dict) and "parameters_json_schema" in tool:
        return {**tool, "parameters": tool["parameters_json_schema"]}
    return tool


def _of_list(value: list[Any], role: str) -> list[Any]:
    """Return the messages of a list, [] if it holds none. Other items are kept, so that each gives
    a finding later."""
    if value and isinstance(value[0], list):  # a batch: read its first chat
        return _of_list(value[0], role) + value[1:]
    if value and all(isinstance(item, dict) and "toolCallId" in item for item in value):
        calls = [{**item, "type": "tool-call"} for item in value]
        return [{"role": "assistant", "content": calls}]
    items = [item for item in value if not _is_definition(item)]
    read = [_of_item(item, role) for item in items]
    if not any(read):
        return []
    return [m for item, messages in zip(items, read, strict=True) for m in messages or [item]]


def _of_item(item: Any, role: str) -> list[Any]:
    if not isinstance(item, dict):
        return []
    inner = item.get("message")
    if isinstance(inner, dict) and "role" not in item:  # LangChain's generation around a message
        return _of_message(inner, role)
    if "role" in item or "type" in item or "lc" in item:
        return _of_message(item, role)
    return _of_message(inner, role) if isinstance(inner, dict) else []


def _of_message(value: dict[str, Any], role: str) -> list[Any]:
    """Return a message with the usual keys, not the framework's, and with `role` if it has none."""
    content = value.get("content")
    if value.get("role") == "tool" and (calls := printed_calls(content)):
        return [{"role": "assistant", "tool_calls": calls}]
    if isinstance(content, dict) and "parts" in content:  # Gemini's content inside a response
        return [{"role": role, **content}]
    if content is None and isinstance(value.get("text"), str) and "type" not in value:
        value = {**value, "content": value["text"]}
    has_role = value.get("role") or value.get("from") or value.get("lc") or value.get("type")
    return [value if has_role else {"role": role, **value}]


def printed_calls(content: Any) -> list[Any]:
    """Return the calls in a message of Koog, whose text is a list of calls, or []."""
    if not isinstance(content, str) or not content.startswith('[{"function"'):
        return []
    calls = json_value(content)
    return calls if isinstance(calls, list) and all("function" in call for call in calls) else []


def _nested(key: str) -> Callable[[dict[str, Any], str], list[Any]]:
    def read(value: dict[str, Any], role: str) -> list[Any]:
        return chat_messages(value[key], role)

    return read


def _messages(value: dict[str, Any], role: str) -> list[Any]:
    """Return the list under `messages`; an unreadable value gets a finding later. Agno prints
    messages as text."""
    messages = json_value(value["messages"])
    if isinstance(messages, list) and any(isinstance(each, str) for each in messages):
        return [isinstance(each, str) and printed_message(each) or each for each in messages]
    return chat_messages(messages, role) or listed(messages)


def _request(value: dict[str, Any], role: str) -> list[Any]:
    """Return the messages of Gemini's request: its system instruction and its contents."""
    system = value.get("system_instruction") or value.get("systemInstruction")
    system = system or mapping(value.get("config")).get("system_instruction")
    content = system if isinstance(system, dict) else {"content": system}
    instruction = [{"role": "system", **content}] if system else []
    return instruction + chat_messages(value["contents"], role)


def _prompt(value: dict[str, Any], role: str) -> list[Any]:
    system = text_of(value.get("system"))
    instruction = [{"role": "system", "content": system}] if system else []
    return instruction + chat_messages(value["prompt"], role)


def _choices(value: dict[str, Any], role: str) -> list[Any]:
    first = value["choices"][0] if isinstance(value["choices"], list) else value["choices"]
    message = mapping(first).get("message")
    return _of_message(message, role) if isinstance(message, dict) else []


def _generations(value: dict[str, Any], role: str) -> list[Any]:
    """Return the first of LangChain's replies to the first prompt."""
    found = value["generations"]
    first = found[0] if isinstance(found, list) and found else found
    first = first[0] if isinstance(first, list) and first else first
    return _of_list([first], role) if isinstance(first, dict) else []


def _candidates(value: dict[str, Any], role: str) -> list[Any]:
    first = value["candidates"][0] if isinstance(value["candidates"], list) else {}
    content = mapping(first).get("content")
    return [{"role": role, **content}] if isinstance(content, dict) else []


_TOOL_FIELDS: Final = (
    "gen_ai.tool.definitions", "ai.prompt.tools", "tools", "model_request_parameters",
)  # fmt: skip
_MESSAGE_FIELDS: Final = ("messages", "choices", "candidates", "contents", "generations")
_ENVELOPES: Final[dict[str, Callable[[dict[str, Any], str], list[Any]]]] = {
    "messages": _messages,
    "choices": _choices,
    "candidates": _candidates,
    "contents": _request,
    "new_message": _nested("new_message"),
    "message": _nested("message"),
    "generations": _generations,
    "role": _of_message,
    "prompt": _prompt,
    "output": _nested("output"),
    "input": _nested("input"),
}


def printed_message(text: str) -> dict[str, Any] | None:
    """Return the fields of a message that Python printed as a pydantic model; None for other text.

    Agno's traces (2025) hold `role='user' content='…' tool_calls=None …`. A value that is not a
    literal ends the reading.
    """
    if not text.startswith("role="):
        return None
    found: dict[str, Any] = {}
    at = 0
    while name := _NAME.match(text, at):
        stop = _end(text, name.end())
        if name[1] in _FIELDS:
            try:
                found[name[1]] = ast.literal_eval(text[name.end() : stop])
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                break
        at = stop
    return found if isinstance(found.get("role"), str) and "content" in found else None


def _end(text: str, at: int) -> int:
    """Return the end of a value: the next white space outside of strings and brackets."""
    depth = 0
    while piece := _PIECE.match(text, at):
        if piece[4] and depth == 0:
            break
        depth += bool(piece[2]) - bool(piece[3])
        at = piece.end()
    return at
