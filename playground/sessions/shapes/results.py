"""Results of tools into a builder: a message of the role `tool`, or results among other parts."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Final

from playground.nouns.messages import Part, Role, ToolResultPart
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.shapes.parts import read_parts, result_value

CONTENT: Final = ("content", "parts", "value", "text", "message", "body")
# Where a tool's message may hold its result beside the usual names, and what the tool was asked.
_RESULTS: Final = ("output", "result", "tool_output", "toolOutput", "tool_result", "response")
_ASKED: Final = ("tool_input", "toolInput", "arguments", "args")
_PLAIN_RESULT: Final = {"role", "content", "tool_call_id", "name"}


def holds_result(value: dict[str, Any]) -> bool:
    """Return True if a result stands in it under one of the names that only results have."""
    return any(value.get(key) is not None for key in _RESULTS)


def read_result(builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
    """A message of the role `tool`; one that also says what the tool was asked is the call, too."""
    if value.keys() <= _PLAIN_RESULT and isinstance(value.get("content"), str):
        result = builder.result(value.get("tool_call_id"), value["content"], value.get("name"))
        builder.say("tool", [result], place)
        return
    key = next((key for key in (*CONTENT, *_RESULTS) if value.get(key) is not None), "")
    content = value.get(key)
    inner = content if isinstance(content, list) else []
    if any(isinstance(p, dict) and _is_result(p) for p in inner):
        add(builder, "tool", read_parts(builder, inner, place.at(key)), place)
        return
    named = (
        "tool_call_id",
        "toolCallId",
        "tool_use_id",
        "call_id",
        "callId",
        "tool_call",
        "tool_id",
    )
    call_id = next((value[name] for name in named if isinstance(value.get(name), str)), "")
    own = str(value.get("id") or "")
    if not call_id and own and builder.knows_call(own):  # tau2's
        call_id = own
    asked = next((value[key] for key in _ASKED if value.get(key) is not None), None)
    name = value.get("name") or value.get("toolName") or value.get("tool_name") or ""
    nameless = value.get("role") == "function" or "from" in value or builder.makes_ids
    if not call_id and nameless and asked is None:
        call_id = builder.open_call(str(name))
    if not call_id and asked is not None:  # a call and its result in one message
        call_id = builder.new_id()
        _add_call(builder, builder.call(call_id, name, asked, place), place)
    failed = value.get("status") == "error" or bool(value.get("error") or value.get("isError"))
    failed = failed or bool(value.get("is_error"))
    error = value.get("error") if key != "error" else None
    error = error.get("message") if isinstance(error, dict) else error
    if isinstance(error, str) and error and not content:
        content = error
    elif isinstance(error, str) and error not in str(content):
        builder.beside("error", place.at("error"))
    result = builder.result(call_id, result_value(content), name, is_error=failed)
    add(builder, "tool", [result], place)


def _add_call(builder: SessionBuilder, call: Part, place: Place) -> None:
    if builder.messages and builder.messages[-1].role == "assistant":
        builder.add_parts([call])
    else:
        builder.say("assistant", [call], place)


def _is_result(part: dict[str, Any]) -> bool:
    return (
        "functionResponse" in part
        or "function_response" in part
        or "toolResult" in part
        or (str(part.get("type")) in ("tool_result", "tool-result", "tool_call_response"))
        or ("call_id" in part and "content" in part)  # AutoGen's
    )


def add(builder: SessionBuilder, role: Role, parts: list[Part], place: Place) -> None:
    """Add a message; results among another role's parts become messages of the role `tool`."""
    if len(parts) == 1:  # as nearly always
        builder.say("tool" if type(parts[0]) is ToolResultPart else role, parts, place)
        return
    if role == "tool" or ToolResultPart not in set(map(type, parts)):
        builder.say(role, parts, place)
        return
    for is_result, run in groupby(parts, lambda part: isinstance(part, ToolResultPart)):
        builder.say("tool" if is_result else role, list(run), place)
