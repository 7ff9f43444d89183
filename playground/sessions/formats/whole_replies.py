"""Read complete (not streamed) replies without their requests: one, or the results of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.sessions.building import Place, SessionBuilder, json_or_text
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.formats.chat_lines import rows
from playground.sessions.shapes.fields import listed, mapping
from playground.sessions.shapes.requests import read_reply
from playground.sessions.shapes.whole_replies import recording_of_parts
from playground.sessions.source import Source

# Paths of the reply in a batch's result (OpenAI and Groq; Anthropic), and in an HTTP answer.
_PATHS: Final = (("response", "body"), ("result", "message"), ("message",), ("body",))


class WholeReply(SessionFormat):
    name = "reply"
    title = "Whole (not streamed) reply of a chat API, or the results of a batch"
    keeps = Keeps(
        usage="yes", chunks="one for each part of a reply", missing="the file has no request"
    )

    def recognises(self, source: Source) -> bool:
        document = None if source.is_lines else source.document
        if isinstance(document, dict):
            results = [document, *listed(document.get("results"))]
            return _is_reply(document) or any(map(_inner_reply, results))
        entries = source.head if source.is_lines else document
        return any(_inner_reply(value) is not None for value in listed(entries))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        document = None if source.is_lines else source.value
        if isinstance(document, dict) and _is_reply(document):
            yield _session(source.stem, document, Place())
            return
        results = listed(mapping(document).get("results"))
        inner = [(Place(field=f"results.{i}"), value) for i, value in enumerate(results)]
        if _inner_reply(document) is not None:
            inner = [(Place(), document)]
        for number, (place, value) in enumerate(inner or rows(source), 1):
            name = mapping(value).get("custom_id") or number
            yield _session(f"{source.stem} {name}", _inner_reply(value) or {}, place)


def _session(title: str, reply: dict[str, Any], place: Place) -> SessionBuilder:
    builder = SessionBuilder(title=title)
    if read_reply(builder, reply, place):
        builder.recordings.append(recording_of_parts(builder, reply))
    else:
        builder.note_loss("no reply in it", place)
    return builder


def _inner_reply(value: Any) -> dict[str, Any] | None:
    """Return the reply in a batch's result; None if it has none (a failed request)."""
    for path in _PATHS:
        found = value
        for step in path:
            found = json_or_text(found.get(step)) if isinstance(found, dict) else None
        if isinstance(found, dict) and (_is_reply(found) or _is_chat(found)):
            return found
    return None


def _is_reply(value: dict[str, Any]) -> bool:
    """Return True for a reply of Anthropic, OpenAI (chat, Responses), Bedrock or Cohere."""
    if "messages" in value:
        return False
    is_message = value.get("type") == "message" and value.get("role") == "assistant"
    is_chat = any("message" in mapping(choice) for choice in listed(value.get("choices")))
    if is_message or is_chat or (value.get("object") == "response" and "output" in value):
        return True
    inner, end = (
        (value, "finish_reason") if "message" in value else (value.get("output"), "stopReason")
    )
    message = inner.get("message") if isinstance(inner, dict) else None
    return end in value and isinstance(message, dict) and message.get("role") == "assistant"


def _is_chat(value: dict[str, Any]) -> bool:
    return "choices" in value or ("candidates" in value and "usageMetadata" in value)
