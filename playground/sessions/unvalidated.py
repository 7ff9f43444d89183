"""Build messages and parts without pydantic's checks, because importers have checked the values.

A file may have a million parts. Fields are set one by one, so that all instances of a class share a
table of keys, which saves a third of the memory and the time.
"""

from __future__ import annotations

from typing import Any, Final

from playground.nouns.messages import (
    Message,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    unchecked,
)
from playground.sessions.session import RequestRecord

_new: Final = object.__new__
_STR_ONLY: Final = frozenset({str})


def text(text: str) -> TextPart:
    part = _new(TextPart)
    fields = part.__dict__
    fields["text"] = text
    fields["type"] = "text"
    return part


def reasoning(text: str, signature: str | None) -> ReasoningPart:
    part = _new(ReasoningPart)
    fields = part.__dict__
    fields["text"] = text
    fields["signature"] = signature
    fields["type"] = "reasoning"
    return part


def call(tool_call_id: str, tool_name: str, args: dict[str, Any]) -> ToolCallPart:
    part = _new(ToolCallPart)
    fields = part.__dict__
    fields["tool_call_id"] = tool_call_id
    fields["tool_name"] = tool_name
    fields["args"] = args
    fields["type"] = "tool_call"
    return part


def result(
    tool_call_id: str, tool_name: str, result: Any, is_error: bool = False
) -> ToolResultPart:
    part = _new(ToolResultPart)
    fields = part.__dict__
    fields["tool_call_id"] = tool_call_id
    fields["tool_name"] = tool_name
    fields["result"] = result
    fields["is_error"] = is_error
    fields["type"] = "tool_result"
    return part


def message(role: Role, parts: tuple[Part, ...]) -> Message:
    message = _new(Message)
    fields = message.__dict__
    fields["role"] = role
    fields["parts"] = parts
    return message


def record(fields: dict[str, Any]) -> RequestRecord:
    """Build a request's record; pydantic checks it if a key of its usage is not a str."""
    if _STR_ONLY.issuperset(map(type, fields["usage"] or ())):  # YAML may have other keys
        return unchecked(RequestRecord, fields)
    return RequestRecord(**fields)


# Python shares the keys only if one of the first thirty instances was built in this way.
_FIRST: Final = (
    text(""),
    reasoning("", None),
    call("", "", {}),
    result("", "", ""),
    message("user", ()),
)
