"""Recognise plain messages, which hold only texts, calls, and results that are texts.

Most messages are plain. A search for unknown fields or pictures can skip them.
"""

from __future__ import annotations

from collections.abc import KeysView
from typing import Any, Final

NOT_PLAIN: Final = -2
_PLAIN_MARK: Final = {"type": "ephemeral"}
# Anthropic's parts: the role that a part belongs to ("" for any), and the fields that it may have
_PARTS: Final = {
    "text": ("", {"type", "text"}),
    "tool_use": ("assistant", {"type", "id", "name", "input"}),
    "tool_result": ("user", {"type", "tool_use_id", "content"}),
}
# The fields of OpenAI's messages and calls
_MESSAGE: Final = {"role", "content"}
_ANSWER: Final = {"role", "content", "tool_calls"}
_RESULT: Final = {"role", "content", "tool_call_id"}
_CALL: Final = {"id", "type", "function"}
_FUNCTION: Final = {"name", "arguments"}


def marked_part(message: dict[str, Any], api: str) -> int:
    """Return the index of the last part with a cache mark in a plain message, -1 if it has none,
    `NOT_PLAIN` if the message is not plain. `api` is the form of the request's body."""
    role, content, fields = message.get("role"), message.get("content"), message.keys()
    if api == "chat" and _is_plain_chat(message, role, content, fields):
        return -1
    if fields != _MESSAGE or role not in ("user", "assistant"):
        return NOT_PLAIN
    if isinstance(content, str):
        return -1 if api in ("messages", "chat", "responses") else NOT_PLAIN
    if not isinstance(content, list) or api not in ("messages", "chat"):
        return NOT_PLAIN
    marked = -1
    for number, part in enumerate(content):
        part_fields = _known_fields(part, role, api)
        if not part_fields:
            return NOT_PLAIN
        if part.keys() != part_fields:
            is_marked = part.get("cache_control") == _PLAIN_MARK
            if not is_marked or len(part) != len(part_fields) + 1 or not part_fields <= part.keys():
                return NOT_PLAIN
            marked = number
    return marked


def _known_fields(part: Any, role: str, api: str) -> set[str]:
    """Return the fields of a plain part, except its mark; an empty set for any other part."""
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str) or kind not in _PARTS:
        return set()
    if kind != "text" and api != "messages":
        return set()
    speaker, fields = _PARTS[kind]
    if speaker and speaker != role:
        return set()
    is_plain = kind != "tool_result" or isinstance(part.get("content"), str)
    return fields if is_plain else set()


def _is_plain_chat(message: dict[str, Any], role: Any, content: Any, fields: KeysView[str]) -> bool:
    """Return True for a result that is a text, or an answer with calls, in OpenAI's form."""
    if role == "tool":
        return isinstance(content, str) and fields == _RESULT
    if role != "assistant" or fields != _ANSWER or not isinstance(content, str | None):
        return False
    calls = message["tool_calls"]
    return isinstance(calls, list) and all(map(_is_plain_call, calls))


def _is_plain_call(call: Any) -> bool:
    if not isinstance(call, dict) or call.keys() != _CALL or call["type"] != "function":
        return False
    function = call["function"]
    return isinstance(function, dict) and function.keys() == _FUNCTION
