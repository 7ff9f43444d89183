"""Convert a session to the plain values that a corpus stores, and each of its messages to JSON.

The result equals pydantic's dump of the session. Text messages, the most common kind, are converted
by faster code in this module.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from json.encoder import encode_basestring
from typing import Any, Final

from playground.nouns.messages import (
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    unchecked,
)
from playground.nouns.tools import ToolMetadata
from playground.plugins.corpus.json_text import json_of
from playground.sessions.native_format import plain_part, plain_session
from playground.sessions.session import Session

_NO_REFERENCES: Final = 2  # a version of marshal's format that never depends on objects' identity
_PLAIN_TYPES: Final = frozenset({str, int, bool, type(None)})
_MOST_TOOL_LISTS: Final = 256  # the most lists of tools that are cached
# Placeholders for fields that are set after the dump. A dump leaves out an empty field, which would
# then be added at the end; a placeholder keeps pydantic's order of fields.
_MESSAGES: Final = (Message("user"),)
_TOOLS: Final = (ToolMetadata(name="tool"),)
_text: Final = encode_basestring


class PlainSessions:
    """A converter of sessions to plain values. It caches lists of tools, which sessions share."""

    def __init__(self) -> None:
        self._tools: dict[bytes, list[Any]] = {}  # keys are those of `tools_key`

    def of(self, session: Session, key: bytes | None) -> dict[str, Any]:
        """Return the session as plain values, with no recordings and an empty list of messages.

        `key` is the result of `tools_key` for its tools.
        """
        cached = None if key is None else self._tools.get(key)
        placeholders: dict[str, Any] = {"recordings": ()}
        if session.messages:
            placeholders["messages"] = _MESSAGES
        if cached:
            placeholders["tools"] = _TOOLS
        plain = plain_session(unchecked(Session, {**vars(session), **placeholders}))
        if session.messages:
            plain["messages"] = []
        if cached:
            plain["tools"] = cached
        elif key is not None and len(self._tools) < _MOST_TOOL_LISTS:
            self._tools[key] = plain.get("tools", [])
        return plain


def tools_key(tools: Sequence[ToolMetadata]) -> bytes | None:
    """Return a key that is equal only for lists of tools that are written identically. Return None
    if there is no such key, for example for tools with examples."""
    if any(tool.examples for tool in tools):
        return None
    return plain_key([(tool.name, tool.description, tool.input_schema) for tool in tools])


def message_json(message: Message) -> str:
    """Return a message as the JSON that a corpus stores."""
    parts = ", ".join(map(_part_json, message.parts))
    return f'{{"role": "{message.role}", "parts": [{parts}]}}'


def _part_json(part: Part) -> str:
    kind = type(part)
    if kind is TextPart:
        return f'{{"type": "text", "text": {_text(part.text)}}}'  # type: ignore[union-attr]
    if isinstance(part, ToolResultPart) and type(part.result) is str and part.result:
        call = f'"tool_call_id": {_text(part.tool_call_id)}, "tool_name": {_text(part.tool_name)}'
        failed = ', "is_error": true' if part.is_error else ""
        return f'{{"type": "tool_result", {call}, "result": {_text(part.result)}{failed}}}'
    if isinstance(part, ToolCallPart) and part.args and _are_plain(part.args.values()):
        call = f'"tool_call_id": {_text(part.tool_call_id)}, "tool_name": {_text(part.tool_name)}'
        return f'{{"type": "tool_call", {call}, "args": {json_of(part.args)}}}'
    return json_of(plain_part(part))


def _are_plain(values: Iterable[Any]) -> bool:
    return _PLAIN_TYPES.issuperset(map(type, values))


def plain_key(value: Any) -> bytes | None:
    """Return a key that is equal only for plain values that are written identically.

    The key is a digest and holds no text. Return None for values that are not plain.
    """
    try:
        return blake2b(marshal.dumps(value, _NO_REFERENCES), digest_size=16).digest()
    except ValueError:
        return None
