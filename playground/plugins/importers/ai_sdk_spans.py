"""Read spans of Vercel's AI SDK; https://ai-sdk.dev/docs/ai-sdk-core/telemetry.

Each request to a model is a span (`…doGenerate`, `…doStream`) inside the span of the program's call
of the SDK. The outer span is read only if the file lacks the spans of its requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.plugins.importers.shapes.options import attributes_under, options_of
from playground.plugins.importers.shapes.spans import TraceSpan, first_spans, spans_of
from playground.plugins.importers.shapes.turns import Turn, read_turns
from playground.sessions.building import SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.inner_json import json_value
from playground.sessions.shapes.fields import as_list
from playground.sessions.shapes.framework_chats import chat_messages
from playground.sessions.source import Source

_PROMPTS = ("ai.prompt.messages", "ai.prompt")


class AiSdkSpans(SessionFormat):
    name = "ai-sdk-spans"
    title = "Vercel AI SDK spans"
    keeps = Keeps(
        "yes", "yes", "yes", missing="only spans of model calls are read; embeddings are not"
    )

    def recognises(self, source: Source) -> bool:
        return any(_is_call(span) for span in first_spans(source))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        spans = list(spans_of(source))
        calls = [span for span in spans if _is_call(span)]
        inner = [span for span in calls if "ai.prompt.messages" in span.attributes]
        if all(span.parent for span in inner):  # else the spans that enclose them are unknown
            enclosing = _enclosing(inner, {span.id: span.parent for span in spans})
            inner = [span for span in calls if span in inner or span.id not in enclosing]
        yield from read_turns([_turn(span) for span in inner], source.stem)


def _enclosing(inner: list[TraceSpan], parents: dict[str, str]) -> set[str]:
    """Return the ids of all spans that contain a span of `inner`, directly or not. `parents` has
    each span's parent by the span's id."""
    found: set[str] = set()
    for span in inner:
        parent = span.parent
        while parent and parent not in found:
            found.add(parent)
            parent = parents.get(parent, "")
    return found


def _is_call(span: TraceSpan) -> bool:
    return any(name in span.attributes for name in _PROMPTS)


def _turn(span: TraceSpan) -> Turn:
    attributes = span.attributes
    prompt = next(attributes[name] for name in _PROMPTS if name in attributes)
    tools = json_value(attributes.get("ai.prompt.tools"))
    return Turn(
        before=chat_messages(prompt, "user") or ([prompt] if prompt else []),
        after=_answer(attributes),
        tools=[json_value(tool) for tool in as_list(tools)],
        place=span.place,
        model=str(attributes.get("ai.response.model") or attributes.get("ai.model.id") or ""),
        at=span.start,
        seconds=span.seconds,
        stop_reason=str(attributes.get("ai.response.finishReason") or ""),
        usage=attributes_under(attributes, "ai.usage."),
        options=options_of(
            None,
            attributes_under(attributes, "ai.settings."),
            {"toolChoice": attributes.get("ai.prompt.toolChoice")},
            attributes_under(attributes, "gen_ai.request."),
        ),
    )


def _answer(attributes: dict[str, Any]) -> list[Any]:
    """Return one message with the model's reasoning, its text or object, and its calls."""
    content: list[Any] = []
    if thought := attributes.get("ai.response.reasoning"):
        content.append({"type": "reasoning", "text": thought})
    if text := attributes.get("ai.response.text") or attributes.get("ai.response.object"):
        content.append({"type": "text", "text": text})
    message = {"role": "assistant", "content": content}
    calls = json_value(attributes.get("ai.response.toolCalls"))
    if isinstance(calls, list):
        content += [
            {**call, "type": "tool-call"} if isinstance(call, dict) else call for call in calls
        ]
    elif calls:
        message["tool_calls"] = calls  # if `calls` is not a list, `read_message` adds a finding
    return [message] if content or calls else []
