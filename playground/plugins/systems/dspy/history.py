"""Calls and their results in a history, as text fields or as the API's own messages.

The rules are DSPy's (3.4.1, `Adapter.format_conversation_history`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from playground.base.errors import InputFault
from playground.plugins.systems.dspy.types import ToolCallResult, ToolCalls, kind_of
from playground.plugins.systems.dspy.values import as_json

RESULTS: Final = "tool_call_results"


def messages_of(value: Any, field: str) -> list[Mapping[str, Any]]:
    """Return the turns of a History (ours or dspy's); [] for None. Raises InputFault otherwise."""
    messages = getattr(value, "messages", None)
    if value is None or isinstance(messages, list):
        return messages or []
    raise InputFault(
        f"no history: {value!r:.80}", field=field, expected="History(messages=[{…}, …])"
    )


def calls_of(turn: Mapping[str, Any]) -> tuple[str, ToolCalls | None]:
    """Return the calls of a turn and the name of their field, or "" and None.

    The field's value may be ToolCalls (ours or dspy's), or a dict of its fields.
    """
    for name, value in turn.items():
        if kind_of(type(value)) == "ToolCalls":
            calls = [{key: getattr(call, key) for key in _CALL_FIELDS} for call in value.tool_calls]
            results = _results(value.tool_call_results)
            return name, ToolCalls.model_validate({"tool_calls": calls, RESULTS: results})
        if isinstance(value, Mapping) and "tool_calls" in value:
            results = _results(value.get(RESULTS))
            return name, ToolCalls.model_validate({**value, RESULTS: results})
    return "", None


_CALL_FIELDS: Final = ("id", "name", "args")


def _results(value: Any) -> Any:
    """Return results as a list; `value` is a list, an object that holds one, or one result."""
    value = getattr(value, RESULTS, value)
    if isinstance(value, Mapping):
        value = value.get(RESULTS, [value])
    if not isinstance(value, list):
        return value
    return [item if isinstance(item, Mapping) else dict(item) for item in value]


def as_field(results: list[ToolCallResult]) -> dict[str, Any]:
    """Return results as a field of a prompt, under the field's name."""
    return {RESULTS: [dict(result) for result in results]}


def native_turns(text: str, calls: ToolCalls) -> list[dict[str, Any]]:
    """Return an answer's message with its calls, then a message for each result.

    If the results do not match the calls one by one, by id, the calls are left out, as in DSPy: no
    API accepts a call without a result.
    """
    results = calls.tool_call_results or []
    ids = [call.id for call in calls.tool_calls]
    has_results = bool(calls.tool_call_results is not None and all(ids))
    if not has_results or ids != [result.call_id for result in results]:
        return [{"role": "assistant", "content": text}] if text else []
    answer = {"role": "assistant", "content": text or None, "tool_calls": _openai(calls)}
    return [answer, *map(_result_message, results)]


def _openai(calls: ToolCalls) -> list[dict[str, Any]]:
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": _text(call.args)},
        }
        for call in calls.tool_calls
    ]


def _result_message(result: ToolCallResult) -> dict[str, Any]:
    content = result.value if isinstance(result.value, str) else _text(result.value)
    reference = {"tool_call_id": result.call_id, "name": result.name}
    return {"role": "tool", **reference, "content": content}


def _text(value: Any) -> str:
    return json.dumps(as_json(value), ensure_ascii=False)
