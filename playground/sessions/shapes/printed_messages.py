"""Read messages as Python prints a pydantic model: `role='user' content='…' tool_calls=None …`.

Agno's traces hold them in this form (2025). A value that is no literal ends the message.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Final

_NAME: Final = re.compile(r"\s*([a-z_]+)=")
_STRING: Final = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_PIECE: Final = re.compile(rf"(?s)({_STRING})|([\[({{])|([\])}}])|[^\s'\"\[\](){{}}]+|(\s)")
_FIELDS: Final = frozenset({
    "role", "content", "name", "tool_call_id", "tool_calls", "reasoning_content", "tool_name",
    "tool_call_error",
})  # fmt: skip


def printed_message(text: str) -> dict[str, Any] | None:
    """Return the fields of a printed message; None for another text."""
    if not text.startswith("role="):
        return None
    found: dict[str, Any] = {}
    at = 0
    while name := _NAME.match(text, at):
        stop = _end(text, name.end())
        if name[1] in _FIELDS:
            try:
                found[name[1]] = ast.literal_eval(text[name.end() : stop])
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                break
        at = stop
    return found if isinstance(found.get("role"), str) and "content" in found else None


def _end(text: str, at: int) -> int:
    """Return a value's end: at white space outside of strings and brackets."""
    depth = 0
    while piece := _PIECE.match(text, at):
        if piece[4] and depth == 0:
            break
        depth += bool(piece[2]) - bool(piece[3])
        at = piece.end()
    return at
