"""Read results of tools: in messages of the role `tool`, or among the parts of other messages."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Final

from playground.nouns.messages import Part, Role, ToolResultPart
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.shapes.parts import read_parts, result_value

CONTENT: Final = ("content", "parts", "value", "text", "message", "body")
# Further fields of a tool's message that may hold its result; and fields with its input.
_RESULT_FIELDS: Final = ("output", "result", "tool_output", "toolOutput", "tool_result", "response")
_INPUT_FIELDS: Final = ("tool_input", "toolInput", "arguments", "args")
_PLAIN_RESULT: Final = {"role", "content", "tool_call_id", "name"}
_ID_FIELDS: Final = (
    "tool_call_id", "toolCallId", "tool_use_id", "call_id", "callId", "tool_call", "tool_id",
)  # fmt: skip


def holds_result(value: dict[str, Any]) -> bool:
    """Return True if a message has a field that only results have."""
    return any(value.get(key) is not None for key in _RESULT_FIELDS)


def read_result(builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
    """Read a message of the role `tool`. If it has the tool's input and no call id, it is read as a
    call and its result."""
    if value.keys() <= _PLAIN_RESULT and isinstance(value.get("content"), str):
        result = builder.result(value.get("tool_call_id"), value["content"], value.get("name"))
        builder.add_message("tool", [result], place)
        return
    key = next((key for key in (*CONTENT, *_RESULT_FIELDS) if value.get(key) is not None), "")
    content = value.get(key)
    inner = content if isinstance(content, list) else []
    if any(isinstance(p, dict) and _is_result(p) for p in inner):
        add_with_results(builder, "tool", read_parts(builder, inner, place.at(key)), place)
        return
    call_id = next((value[name] for name in _ID_FIELDS if isinstance(value.get(name), str)), "")
    own_id = str(value.get("id") or "")
    if not call_id and own_id and builder.knows_call(own_id):  # in tau2's files
        call_id = own_id
    arguments = next((value[key] for key in _INPUT_FIELDS if value.get(key) is not None), None)
    name = value.get("name") or value.get("toolName") or value.get("tool_name") or ""
    has_no_ids = value.get("role") == "function" or "from" in value or builder.makes_ids
    if not call_id and has_no_ids and arguments is None:
        call_id = builder.open_call(str(name))
    if not call_id and arguments is not None:  # a call and its result in one message
        call_id = builder.new_id()
        builder.add_to_answer([builder.call(call_id, name, arguments, place)], place)
    failed = value.get("status") == "error" or bool(value.get("error") or value.get("isError"))
    failed = failed or bool(value.get("is_error"))
    error = value.get("error") if key != "error" else None
    error = error.get("message") if isinstance(error, dict) else error
    if isinstance(error, str) and error and not content:
        content = error
    elif isinstance(error, str) and error not in str(content):
        builder.note_beside("error", place.at("error"))
    result = builder.result(call_id, result_value(content), name, is_error=failed)
    add_with_results(builder, "tool", [result], place)


def _is_result(part: dict[str, Any]) -> bool:
    return (
        "functionResponse" in part
        or "function_response" in part
        or "toolResult" in part
        or (str(part.get("type")) in ("tool_result", "tool-result", "tool_call_response"))
        or ("call_id" in part and "content" in part)  # AutoGen's
    )


def add_with_results(builder: SessionBuilder, role: Role, parts: list[Part], place: Place) -> None:
    """Add a message; results among the parts of another role become messages of the role `tool`."""
    if len(parts) == 1:  # the usual case
        builder.add_message("tool" if type(parts[0]) is ToolResultPart else role, parts, place)
        return
    if role == "tool" or ToolResultPart not in set(map(type, parts)):
        builder.add_message(role, parts, place)
        return
    for is_result, run in groupby(parts, lambda part: isinstance(part, ToolResultPart)):
        builder.add_message("tool" if is_result else role, list(run), place)
