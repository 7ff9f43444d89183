"""A fast path for the usual items of a response: a call, or a result that is text.

`messages.py` reads all other items, and would read these to the same parts.
"""

from __future__ import annotations

from typing import Any, Final

from playground.sessions.building import Place, SessionBuilder

_BESIDE: Final = {"metadata", "internal_chat_message_metadata_passthrough"}  # Codex writes them
_CALL: Final = {"type", "id", "call_id", "name", "namespace", "status", *_BESIDE}
_RESULT: Final = {"type", "id", "call_id", "output", *_BESIDE}
# By a call's type: the field of its arguments, and all fields that it may have.
_ARGUMENTS: Final = {
    "function_call": ("arguments", {*_CALL, "arguments"}),
    "custom_tool_call": ("input", {*_CALL, "input"}),
}
_OUTPUTS: Final = {"function_call_output", "custom_tool_call_output"}


def read_plain_item(builder: SessionBuilder, value: dict[str, Any], place: Place) -> bool:
    """Read a usual item; return False, and read nothing, for any other."""
    kind, call_id = value.get("type"), value.get("call_id")
    if not call_id or type(kind) is not str:
        return False
    if kind in _OUTPUTS:
        output = value.get("output")
        if type(output) is not str or not _RESULT.issuperset(value):
            return False
        builder.add_message("tool", [builder.result(call_id, output)], place)
        return True
    name, (field, known) = value.get("name"), _ARGUMENTS.get(kind, _NO_CALL)
    arguments = value.get(field)
    if not name or arguments is None or not known.issuperset(value):
        return False
    builder.add_to_answer([builder.call(call_id, name, arguments, place)], place)
    return True


_NO_CALL: Final[tuple[str, set[str]]] = ("", set())
