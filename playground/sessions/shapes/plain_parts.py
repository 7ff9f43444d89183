"""A fast path for the usual parts of a message, which need no finding. `parts.py` reads all kinds
of parts, and would read these in the same way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from playground.nouns.messages import Part
from playground.sessions import unvalidated
from playground.sessions.building import SessionBuilder, text_part
from playground.sessions.clean_json import is_clean

# The fields of each form; a cache mark is ignored.
_THOUGHT: Final = {"type", "thinking", "signature"}
PLAIN_CALL: Final = {"type", "id", "name", "input", "caller", "cache_control"}
_RESULT: Final = {"type", "tool_use_id", "content", "is_error", "cache_control"}


def plain_part(builder: SessionBuilder, value: Any) -> Part | None:
    """Return a usual part; return None, and read nothing, for any other part."""
    if type(value) is not dict:
        return None
    kind = value.get("type")
    if kind is None and len(value) == 1:
        kind = "text"  # Gemini's text part has no type
    read = _BY_TYPE.get(kind) if type(kind) is str else None
    return None if read is None else read(builder, value)


def _text(builder: SessionBuilder, value: dict[str, Any]) -> Part | None:
    text = value.get("text")
    if type(text) is str and text and not value.get("thought"):  # Gemini's mark of reasoning
        if len(value) > 2 and (value.get("annotations") or value.get("citations")):
            return None  # its sources need a finding
        return text_part(text)
    return None


def _thought(builder: SessionBuilder, value: dict[str, Any]) -> Part | None:
    text, signature = value.get("thinking"), value.get("signature")
    if type(text) is str and text and _THOUGHT.issuperset(value):
        return unvalidated.reasoning(text, signature if type(signature) is str else None)
    return None


def _call(builder: SessionBuilder, value: dict[str, Any]) -> Part | None:
    call_id, name, arguments = value.get("id"), value.get("name"), value.get("input")
    if not call_id or not name or type(arguments) is not dict:
        return None
    if PLAIN_CALL.issuperset(value) and is_clean(arguments):
        return builder.clean_call(str(call_id), str(name), arguments)
    return None


def _result(builder: SessionBuilder, value: dict[str, Any]) -> Part | None:
    content = value.get("content")
    if type(content) is str and _RESULT.issuperset(value):
        is_error = bool(value.get("is_error"))
        return builder.result(value.get("tool_use_id"), content, is_error=is_error)
    return None


_Reader = Callable[[SessionBuilder, dict[str, Any]], Part | None]
_BY_TYPE: Final[dict[str, _Reader]] = {
    **dict.fromkeys(("text", "input_text", "output_text"), _text),
    "thinking": _thought,
    "tool_use": _call,
    "tool_result": _result,
}
