"""Read Pydantic AI's message history (`all_messages_json`): requests and responses with parts.

https://ai.pydantic.dev/message-history/. A request has parts of several roles (system, user, tool).
Consecutive parts of the same role become a message.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import listed
from playground.sessions.shapes.messages import read_message
from playground.sessions.source import Source

_ROLES: Final = {
    "system-prompt": "system",
    "user-prompt": "user",
    "tool-return": "tool",
    "builtin-tool-return": "tool",
    "retry-prompt": "tool",
    "text": "assistant",
    "thinking": "assistant",
    "tool-call": "assistant",
    "builtin-tool-call": "assistant",
}
_TYPES: Final = {
    "tool-return": "tool_result",
    "builtin-tool-return": "tool_result",
    "retry-prompt": "tool_result",
    "builtin-tool-call": "tool-call",
    "system-prompt": "text",
    "user-prompt": "text",
}


class PydanticAi(SessionFormat):
    name = "pydantic-ai-messages"
    title = "Pydantic AI's message history"
    keeps = Keeps(
        times="yes",
        usage="yes",
        missing="the file has no tools; the provider's details are not read",
    )

    def recognises(self, source: Source) -> bool:
        return any(map(_is_message, _messages(source)))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        builder.set_metadata(name="pydantic-ai")
        for index, value in enumerate(_messages(source)):
            if _is_message(value):
                _read(builder, value, Place(field=str(index)))
            else:
                builder.note_loss("an entry that is not a message", Place(field=str(index)))
        yield builder


def _messages(source: Source) -> list[Any]:
    document = None if source.is_lines else source.document
    return listed(document.get("messages") if isinstance(document, dict) else document)


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("parts"), list):
        return False
    parts = value["parts"]
    return all(isinstance(part, dict) and "part_kind" in part for part in parts) and bool(parts)


def _read(builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
    start = len(builder.messages)
    numbered = list(enumerate(value["parts"]))
    for role, run in groupby(numbered, lambda pair: _role(pair[1])):
        parts = list(run)
        where = place.at("parts", parts[0][0])
        message = {"role": role, "content": [_part(part) for _, part in parts]}
        read_message(builder, message, where)
    answers = range(start, len(builder.messages))
    reply = next((i for i in answers if builder.messages[i].role == "assistant"), None)
    if reply is not None:
        builder.add_request(
            reply=reply,
            model=value.get("model_name"),
            at=value.get("timestamp"),
            usage=value.get("usage"),
            stop_reason=value.get("finish_reason"),
        )


def _role(part: dict[str, Any]) -> str:
    """Return a part's role. A retry prompt that names no tool has the role `user`."""
    kind = str(part["part_kind"])
    if kind == "retry-prompt" and not part.get("tool_name"):
        return "user"
    return _ROLES.get(kind, kind)


def _part(part: dict[str, Any]) -> Any:
    """Return a part with the usual field names. A user's prompt may itself be a list of parts."""
    kind = str(part["part_kind"])
    if kind == "retry-prompt" and not part.get("tool_name"):
        return {"type": "text", "text": str(part.get("content"))}
    if kind == "user-prompt" and isinstance(part.get("content"), list):
        return part["content"]
    return {**part, "type": _TYPES.get(kind, kind), "is_error": kind == "retry-prompt"}
