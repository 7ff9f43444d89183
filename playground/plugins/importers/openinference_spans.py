"""Read OpenInference's spans (Arize Phoenix), whose attributes hold messages in flattened form.

https://arize-ai.github.io/openinference/spec/semantic_conventions.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.plugins.importers.shapes.options import attributes_under, options_of
from playground.plugins.importers.shapes.spans import TraceSpan, first_spans, spans_of, unflatten
from playground.plugins.importers.shapes.turns import Turn, read_turns
from playground.sessions.building import SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.inner_json import json_value
from playground.sessions.shapes.fields import listed
from playground.sessions.source import Source


class OpenInferenceSpans(SessionFormat):
    name = "openinference-spans"
    left_aside = {"**.events.*.name": "names of events"}
    title = "OpenInference spans"
    keeps = Keeps("yes", "yes", "yes", "no", "only spans of model calls are read")

    def recognises(self, source: Source) -> bool:
        return any(_is_call(span) for span in first_spans(source))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        turns = [_turn(span) for span in spans_of(source) if _is_call(span)]
        yield from read_turns(turns, source.stem)


def _is_call(span: TraceSpan) -> bool:
    return any(name.startswith("llm.input_messages.") for name in span.attributes)


def _turn(span: TraceSpan) -> Turn:
    attributes = span.attributes
    tools = unflatten(attributes, "llm.tools")
    return Turn(
        before=[_message(m) for m in listed(unflatten(attributes, "llm.input_messages"))],
        after=_with_thought(
            [_message(m) for m in listed(unflatten(attributes, "llm.output_messages"))],
            attributes.get("output.value"),
        ),
        tools=[json_value(tool.get("tool", {}).get("json_schema")) for tool in listed(tools)],
        place=span.place,
        model=str(attributes.get("llm.model_name") or ""),
        at=span.start,
        seconds=span.seconds,
        stop_reason=str(attributes.get("llm.finish_reason") or ""),
        usage=attributes_under(attributes, "llm.token_count."),
        options=options_of(None, attributes.get("llm.invocation_parameters")),
    )


def _with_thought(messages: list[Any], output: Any) -> list[Any]:
    """Return the messages. If there is only one message, add the reasoning from the raw reply."""
    match json_value(output):
        case {"choices": [{"message": {"reasoning_content": str(thought)}}]} if len(messages) == 1:
            return [{"reasoning_content": thought, **messages[0]}]
    return messages


def _message(value: Any) -> Any:
    """Return a message without the extra levels `message`, `tool_call` and the like."""
    message = dict(value.get("message") or {}) if isinstance(value, dict) else {}
    calls = [call.get("tool_call") or {} for call in listed(message.get("tool_calls"))]
    message["tool_calls"] = calls
    contents = [item.get("message_content") or {} for item in listed(message.pop("contents", None))]
    parts = [part for part in contents if part.get("type") != "tool_use"]
    parts = [{**part, "image_url": _image(part)} if "image" in part else part for part in parts]
    if parts:
        text = message.get("content")
        message["content"] = ([{"type": "text", "text": text}] if text else []) + parts
    return message


def _image(part: dict[str, Any]) -> Any:
    image = part["image"]
    return (image.get("image") or image) if isinstance(image, dict) else image
