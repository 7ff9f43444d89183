"""Read ShareGPT conversations (messages with `from` and `value`) and their variants in training
data.

LLaMA-Factory's roles `function_call` and `observation`, Hermes' tags and ToolACE's lists of Python
calls become calls and results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from playground.plugins.importers.shapes.text_calls import embedded_tools, text_parts, text_results
from playground.sessions.building import Place, SessionBuilder, json_or_text, text_part
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.formats.chat_lines import rows
from playground.sessions.shapes.messages import read_message, role_of
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source

_CONVERSATION_FIELDS: Final = ("conversations", "conversation", "dialog", "dialogue")
_COMMON_FIELDS: Final = {"from", "value"}
_TAGS: Final = re.compile(r"<tools>\s*(.*?)\s*</tools>", re.DOTALL)


class ShareGpt(SessionFormat):
    name = "sharegpt"
    title = "ShareGPT conversations (LLaMA-Factory, Hermes function calling, ToolACE)"
    keeps = Keeps(
        tools="next to the conversation or in the system prompt",
        missing="other fields next to the conversation are not read, nor is an answer that was not "
        "chosen",
    )

    def recognises(self, source: Source) -> bool:
        first = source.head[0] if source.is_lines and source.head else source.document
        first = first[0] if isinstance(first, list) and first else first
        return _conversation(first) is not None

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        for number, (place, value) in enumerate(rows(source), 1):
            builder = SessionBuilder(title=f"{source.stem} {number}")
            _row(builder, value, place)
            yield builder


def _conversation(value: Any) -> list[Any] | None:
    if not isinstance(value, dict):
        return None
    for key in _CONVERSATION_FIELDS:
        found = json_or_text(value.get(key))
        if isinstance(found, list) and (key == "conversations" or _is_conversation(found)):
            return found
    return None


def _is_conversation(entries: list[Any]) -> bool:
    return bool(entries) and isinstance(entries[0], dict) and role_of(entries[0]) is not None


def _row(builder: SessionBuilder, value: Any, place: Place) -> None:
    conversation = _conversation(value)
    if conversation is None:
        builder.note_loss("an entry without a conversation", place)
        return
    system = value.get("system")
    if system:
        _message(builder, {"from": "system", "value": system}, place.at("system"))
    if value.get("tools"):
        builder.add_tools(value["tools"], place.at("tools"))
    for index, message in enumerate(conversation):
        _message(builder, message, place.at("conversations", index))
    chosen = value.get("chosen")
    if isinstance(chosen, dict):
        _message(builder, chosen, place.at("chosen"))
    if value.get("rejected"):
        builder.note_loss("the answer that was not chosen", place.at("rejected"))


def _message(builder: SessionBuilder, message: Any, place: Place) -> None:
    text = _text(message)
    role = role_of(message) if isinstance(message, dict) else None
    # about half of all messages are like this, and need no further look
    if role == "user" and text and message.keys() == _COMMON_FIELDS:
        builder.add_message(role, [text_part(text)], place)
    elif role is None or text is None:
        read_message(builder, message, place)
    elif role == "tool":
        add_with_results(builder, "tool", text_results(builder, text), place)
    elif role == "assistant" and str(message.get("from", "")).replace("-", "_") != "function_call":
        add_with_results(builder, "assistant", text_parts(builder, text, place.at("value")), place)
    else:
        read_message(builder, message, place)
        if role == "system":
            tagged = _TAGS.findall(text)
            builder.add_tools(embedded_tools(" ".join(tagged) or text), place.at("value"))


def _text(message: Any) -> str | None:
    """Return a message's text; None if it has no text, or also has calls or images."""
    if not isinstance(message, dict) or any(message.get(key) for key in ("tool_calls", "images")):
        return None
    found = message.get("value", message.get("content"))
    return found if isinstance(found, str) else None
