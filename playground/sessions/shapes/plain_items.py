"""Items of a response in the forms that most have: a call, or the text that its tool gave.

What `messages.py` reads of them is the same; it is asked for all others.
"""

from __future__ import annotations

from typing import Any, Final

from playground.sessions.building import Place, SessionBuilder

_BESIDE: Final = {"metadata", "internal_chat_message_metadata_passthrough"}  # Codex writes them
_CALL: Final = {"type", "id", "call_id", "name", "namespace", "status", *_BESIDE}
_RESULT: Final = {"type", "id", "call_id", "output", *_BESIDE}
# Where a call's arguments stand, by its type, and all fields that it may have.
_ARGUMENTS: Final = {
    "function_call": ("arguments", {*_CALL, "arguments"}),
    "custom_tool_call": ("input", {*_CALL, "input"}),
}
_OUTPUTS: Final = {"function_call_output", "custom_tool_call_output"}


def read_plain_item(builder: SessionBuilder, value: dict[str, Any], place: Place) -> bool:
    """Read an item if it is of such a form, and return True then."""
    kind, given = value.get("type"), value.get("call_id")
    if not given or type(kind) is not str:
        return False
    if kind in _OUTPUTS:
        output = value.get("output")
        if type(output) is not str or not _RESULT.issuperset(value):
            return False
        builder.say("tool", [builder.result(given, output)], place)
        return True
    name, (field, known) = value.get("name"), _ARGUMENTS.get(kind, _NO_CALL)
    arguments = value.get(field)
    if not name or arguments is None or not known.issuperset(value):
        return False
    call = builder.call(given, name, arguments, place)
    if builder.messages and builder.messages[-1].role == "assistant":
        builder.add_parts([call])  # items of one response follow one another
    else:
        builder.say("assistant", [call], place)
    return True


_NO_CALL: Final[tuple[str, set[str]]] = ("", set())
