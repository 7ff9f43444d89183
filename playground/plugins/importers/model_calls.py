"""Read model calls that MLflow, Weave and PostHog export as one object for each call.

Source: MLflow's docs on the structure of traces (3), Weave's call schema in its trace server, and
PostHog's docs on `$ai_generation` (2026).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from playground.plugins.importers.shapes.options import options_of
from playground.plugins.importers.shapes.spans import (
    TraceSpan,
    first_spans,
    seconds_between,
    spans_of,
)
from playground.plugins.importers.shapes.turns import Turn, read_turns
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.formats.chat_lines import rows
from playground.sessions.inner_json import json_value
from playground.sessions.shapes.fields import as_list, listed, mapping
from playground.sessions.shapes.framework_chats import chat_messages, chat_tools, further_replies
from playground.sessions.source import Source
from playground.sessions.times import utc_time

_KEEPS = Keeps("yes", "yes", "yes", "no", "only spans of model calls are read")


class MlflowTrace(SessionFormat):
    name = "mlflow-trace"
    title = "MLflow trace (JSON)"
    keeps = _KEEPS

    def recognises(self, source: Source) -> bool:
        return any(_is_mlflow_call(span) for span in first_spans(source))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        turns = [_of_mlflow(span) for span in spans_of(source) if _is_mlflow_call(span)]
        yield from read_turns(turns, source.stem)


def _is_mlflow_call(span: TraceSpan) -> bool:
    kind = json_value(span.attributes.get("mlflow.spanType"))
    return kind in ("CHAT_MODEL", "LLM")


def _of_mlflow(span: TraceSpan) -> Turn:
    attributes = {key: json_value(value) for key, value in span.attributes.items()}
    turn = turn_of(
        attributes.get("mlflow.spanInputs"), attributes.get("mlflow.spanOutputs"), span.place
    )
    usage = attributes.get("mlflow.chat.tokenUsage")
    return replace(
        turn,
        tools=listed(attributes.get("mlflow.chat.tools")) or turn.tools,
        model=str(attributes.get("mlflow.llm.model") or turn.model),
        at=span.start,
        seconds=span.seconds,
        usage=usage if isinstance(usage, dict) else turn.usage,
    )


class WeaveCalls(SessionFormat):
    name = "weave-calls"
    title = "Calls of W&B Weave (JSON, or lines)"
    keeps = _KEEPS

    def recognises(self, source: Source) -> bool:
        return any(_is_weave_call(value) for value in _first(source))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        placed = [(place, value) for place, value in rows(source) if _is_weave_call(value)]
        placed.sort(key=lambda pair: str(pair[1].get("started_at") or ""))
        turns = [_of_weave(value, place) for place, value in placed]
        yield from read_turns(turns, source.stem)


def _is_weave_call(value: Any) -> bool:
    """Return True for a call whose input is a chat. Other calls of a trace are functions of the
    program."""
    if not isinstance(value, dict) or not {"op_name", "inputs"} <= value.keys():
        return False
    return bool(chat_messages(value["inputs"], "user")) and isinstance(value["inputs"], dict)


def _of_weave(value: dict[str, Any], place: Place) -> Turn:
    turn = turn_of(value["inputs"], value.get("output"), place)
    start, stop = value.get("started_at"), value.get("ended_at")
    return replace(turn, at=str(start or ""), seconds=seconds_between(start, stop))


class PostHogEvents(SessionFormat):
    name = "posthog-events"
    title = "PostHog's events of model calls (`$ai_generation`)"
    keeps = _KEEPS

    def recognises(self, source: Source) -> bool:
        return any(_generation(value) is not None for value in _first(source))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        turns = [
            _of_posthog(found, value.get("timestamp"), place)
            for place, value in rows(source)
            if (found := _generation(value)) is not None
        ]
        turns.sort(key=lambda turn: turn.at)
        yield from read_turns(turns, source.stem)


def _generation(value: Any) -> dict[str, Any] | None:
    """Return the properties of an event that is a model call; None for others."""
    if not isinstance(value, dict) or value.get("event") != "$ai_generation":
        return None
    found = json_value(value.get("properties"))
    return found if isinstance(found, dict) else None


def _of_posthog(properties: dict[str, Any], at: Any, place: Place) -> Turn:
    latency = properties.get("$ai_latency")
    prefix = "$ai_"
    return Turn(
        before=_messages(properties.get("$ai_input"), "user"),
        after=_messages(properties.get("$ai_output_choices"), "assistant"),
        tools=as_list(json_value(properties.get("$ai_tools"))),
        place=place.at("properties"),
        model=str(properties.get("$ai_model") or ""),
        at=utc_time(at) or str(at or ""),
        seconds=latency if isinstance(latency, int | float | str) else None,
        stop_reason=str(properties.get("$ai_stop_reason") or ""),
        usage={
            key.removeprefix(prefix): count
            for key, count in {**properties, "$ai_max_tokens": None}.items()
            if key.startswith(prefix) and key.endswith("_tokens") and count is not None
        },
        options=options_of(
            None,
            properties.get("$ai_model_parameters"),
            {
                name: properties.get(prefix + name)
                for name in ("temperature", "max_tokens", "stream")
            },
        ),
    )


def _messages(value: Any, role: str) -> list[Any]:
    """Return the messages in a value; `role` is that of a message without one. A value without
    messages is returned in a list, and gets a finding later."""
    return chat_messages(value, role) or as_list(json_value(value))


def turn_of(request: Any, response: Any, place: Place) -> Turn:
    """Return a turn made of a call's input and output, which may be in any known client's form."""
    reply, body = mapping(json_value(response)), mapping(json_value(request))
    usage = reply.get("usage")
    models = (reply.get("model"), body.get("model"))
    return Turn(
        before=chat_messages(request, "user"),
        after=chat_messages(response, "assistant"),
        tools=chat_tools(request, None),
        place=place,
        model=next((model for model in models if isinstance(model, str)), ""),
        usage=usage if isinstance(usage, dict) else None,
        further=further_replies(response),
        options=options_of(request),
    )


def _first(source: Source) -> list[Any]:
    """Return the file's first entries, which show its format."""
    entries = source.head if source.is_lines else source.document
    return entries[:20] if isinstance(entries, list) else [entries]
