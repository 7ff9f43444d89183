"""Model calls as tools for tracing export them, one object each: MLflow, Weave and PostHog.

Source: MLflow's docs on the structure of traces (3), Weave's call schema in its trace server, and
PostHog's docs on `$ai_generation` (2026).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.formats.chat_lines import rows
from playground.sessions.inner_json import json_value
from playground.sessions.shapes.framework_chats import chat_messages, chat_tools, further_replies
from playground.sessions.shapes.options import options_of
from playground.sessions.shapes.spans import TraceSpan, first_spans, seconds_between, spans_of
from playground.sessions.shapes.turns import Turn, read_turns
from playground.sessions.source import Source
from playground.sessions.times import utc_time

_KEEPS = Keeps("yes", "yes", "yes", "no", "spans that are not model calls")


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
    given = {key: json_value(value) for key, value in span.attributes.items()}
    turn = turn_of(given.get("mlflow.spanInputs"), given.get("mlflow.spanOutputs"), span.place)
    counted = given.get("mlflow.chat.tokenUsage")
    return replace(
        turn,
        tools=_list(given.get("mlflow.chat.tools")) or turn.tools,
        model=str(given.get("mlflow.llm.model") or turn.model),
        at=span.start,
        seconds=span.seconds,
        usage=counted if isinstance(counted, dict) else turn.usage,
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
    """A call of an operation with a chat in it; others of the same trace are its steps."""
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
    """Return the properties of an event that is a model's call."""
    if not isinstance(value, dict) or value.get("event") != "$ai_generation":
        return None
    found = json_value(value.get("properties"))
    return found if isinstance(found, dict) else None


def _of_posthog(known: dict[str, Any], at: Any, place: Place) -> Turn:
    latency = known.get("$ai_latency")
    prefix = "$ai_"
    return Turn(
        before=_said(known.get("$ai_input"), "user"),
        after=_said(known.get("$ai_output_choices"), "assistant"),
        tools=_in_a_list(json_value(known.get("$ai_tools"))),
        place=place.at("properties"),
        model=str(known.get("$ai_model") or ""),
        at=utc_time(at) or str(at or ""),
        seconds=latency if isinstance(latency, int | float | str) else None,
        stop_reason=str(known.get("$ai_stop_reason") or ""),
        usage={
            key.removeprefix(prefix): count
            for key, count in known.items()
            if key.startswith(prefix) and key.endswith("_tokens") and count is not None
        },
        options=options_of(
            None,
            known.get("$ai_model_parameters"),
            {name: known.get(prefix + name) for name in ("temperature", "max_tokens", "stream")},
        ),
    )


def _said(value: Any, role: str) -> list[Any]:
    """Return the messages; what is none stays as it is, for its finding."""
    return chat_messages(value, role) or _in_a_list(json_value(value))


def _in_a_list(value: Any) -> list[Any]:
    """Return the list; of anything else that is there one that holds it, for its finding."""
    return value if isinstance(value, list) else [value] if value else []


def turn_of(given: Any, made: Any, place: Place) -> Turn:
    """Return a call's input and output, in whatever shape its client has them."""
    reply = json_value(made)
    body = json_value(given)
    usage = reply.get("usage") if isinstance(reply, dict) else None
    models = [held.get("model") for held in (reply, body) if isinstance(held, dict)]
    return Turn(
        before=chat_messages(given, "user"),
        after=chat_messages(made, "assistant"),
        tools=chat_tools(given, None),
        place=place,
        model=next((model for model in models if isinstance(model, str)), ""),
        usage=usage if isinstance(usage, dict) else None,
        further=further_replies(made),
        options=options_of(given),
    )


def _first(source: Source) -> list[Any]:
    """Return some entries of the file, to recognise it by."""
    found = source.head if source.is_lines else source.document
    return found[:20] if isinstance(found, list) else [found]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
