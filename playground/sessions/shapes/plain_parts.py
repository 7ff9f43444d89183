"""Parts of the forms that most have, of which nothing has to be told: read in few steps.

What `parts.py` reads of them is the same; it is asked for all others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from playground.nouns.messages import Part
from playground.sessions import unvalidated
from playground.sessions.building import SessionBuilder, text_part
from playground.sessions.clean_json import is_sound

# The fields of each; a mark for the cache says nothing.
_THOUGHT: Final = {"type", "thinking", "signature"}
PLAIN_CALL: Final = {"type", "id", "name", "input", "caller", "cache_control"}
_RESULT: Final = {"type", "tool_use_id", "content", "is_error", "cache_control"}


def plain_part(builder: SessionBuilder, value: Any) -> Part | None:
    """Return the part; None for one of another form, of which nothing is read."""
    if type(value) is not dict:
        return None
    kind = value.get("type")
    if kind is None and len(value) == 1:
        kind = "text"  # Gemini's has no type
    read = _BY_TYPE.get(kind) if type(kind) is str else None
    return None if read is None else read(builder, value)


def _text(builder: SessionBuilder, value: dict[str, Any]) -> Part | None:
    text = value.get("text")
    if type(text) is str and text and not value.get("thought"):  # as Gemini marks those
        if len(value) > 2 and (value.get("annotations") or value.get("citations")):
            return None  # which are told of
        return text_part(text)
    return None


def _thought(builder: SessionBuilder, value: dict[str, Any]) -> Part | None:
    text, signature = value.get("thinking"), value.get("signature")
    if type(text) is str and text and _THOUGHT.issuperset(value):
        return unvalidated.reasoning(text, signature if type(signature) is str else None)
    return None


def _call(builder: SessionBuilder, value: dict[str, Any]) -> Part | None:
    given, name, arguments = value.get("id"), value.get("name"), value.get("input")
    if not given or not name or type(arguments) is not dict:
        return None
    if PLAIN_CALL.issuperset(value) and is_sound(arguments):
        return builder.sound_call(str(given), str(name), arguments)
    return None


def _result(builder: SessionBuilder, value: dict[str, Any]) -> Part | None:
    content = value.get("content")
    if type(content) is str and _RESULT.issuperset(value):
        given, failed = value.get("tool_use_id"), bool(value.get("is_error"))
        return builder.result(given, content, is_error=failed)
    return None


_Reader = Callable[[SessionBuilder, dict[str, Any]], Part | None]
_BY_TYPE: Final[dict[str, _Reader]] = {
    **dict.fromkeys(("text", "input_text", "output_text"), _text),
    "thinking": _thought,
    "tool_use": _call,
    "tool_result": _result,
}
