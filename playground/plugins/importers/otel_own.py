"""Restore sessions from the traces that `otel_export.py` wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.findings import finding
from playground.base.wording import counted
from playground.plugins.importers.shapes.options import attributes_under
from playground.plugins.importers.shapes.spans import TraceSpan
from playground.sessions.building import SessionBuilder
from playground.sessions.inner_json import json_value
from playground.sessions.native_format import parse_session
from playground.sessions.session import Session

_FACTS: Final = "playground.session"
# Errors in reading a trace that another program has changed.
_FAULTS: Final = (InputFault, AttributeError, KeyError, TypeError, ValueError)


def is_own(span: TraceSpan) -> bool:
    """Return True if `otel_export.py` wrote this span for a run, not for one of its requests."""
    return _FACTS in span.attributes


def own_sessions(spans: Sequence[TraceSpan]) -> dict[str, SessionBuilder]:
    """Return the sessions that `otel_export.py` wrote, by the ids of their traces.

    A trace is left out if it lacks something because another program has changed it.
    """
    found: dict[str, SessionBuilder] = {}
    runs = {span.trace: span for span in spans if is_own(span)}
    requests: dict[str, list[TraceSpan]] = {trace: [] for trace in runs}
    for span in spans:
        if span.trace in runs and not is_own(span):
            requests[span.trace].append(span)
    for trace, run in runs.items():
        with suppress(*_FAULTS):
            found[trace] = _session(run, requests[trace])
    return found


def _session(run: TraceSpan, requests: Sequence[TraceSpan]) -> SessionBuilder:
    messages: dict[int, Any] = {}
    for span in requests:
        attributes = span.attributes
        sent = _list(attributes, "gen_ai.input.messages")
        history = _list(attributes, "playground.history") or range(len(sent))
        messages |= zip(history, sent, strict=True)
        if "playground.reply" in attributes:
            (answer,) = _list(attributes, "gen_ai.output.messages")
            messages[attributes["playground.reply"]] = answer
    unsent = json_value(run.attributes.get("playground.unsent", "{}"))
    messages |= {int(index): message for index, message in unsent.items()}
    value = {
        **json_value(run.attributes[_FACTS]),
        "messages": [_message(messages[index]) for index in range(len(messages))],
        "tools": [_tool(tool) for tool in _list(run.attributes, "gen_ai.tool.definitions")],
    }
    where = str(run.place)
    builder = SessionBuilder()
    session = parse_session(builder.finite(value, run.place), "", where)
    builder.complete_session = session
    if converted := _converted_counts(session, requests):
        message = f"OpenTelemetry's counts of {counted(converted, 'request')}"
        builder.findings.append(finding("counts-converted", where, message))
    return builder


def _list(attributes: dict[str, Any], name: str) -> list[Any]:
    value = json_value(attributes.get(name, "[]"))
    if not isinstance(value, list):
        raise TypeError(name)
    return value


def _converted_counts(session: Session, requests: Sequence[TraceSpan]) -> int:
    """Return the number of requests whose `gen_ai.usage` differs from the provider's counts."""
    bills: dict[int, list[set[int]]] = {}
    for record in session.requests:
        bills.setdefault(record.reply, []).append({*_numbers(record.usage)})
    found = 0
    for span in requests:
        counts = set(attributes_under(span.attributes, "gen_ai.usage.").values())
        of_reply = bills.get(span.attributes.get("playground.reply", -1), [])
        found += bool(counts) and counts not in of_reply
    return found


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _numbers(inner)
    elif type(value) is int:
        yield value


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    more = {"input_schema": tool["parameters"], "examples": tool.get("examples", [])}
    return {"name": tool["name"], "description": tool["description"], **more}


def _message(message: dict[str, Any]) -> dict[str, Any]:
    return {"role": message["role"], "parts": [_part(part) for part in message["parts"]]}


def _part(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part in the form of a session file. Raises KeyError for an unknown type."""
    kind = part["type"]
    if kind in ("text", "reasoning"):
        return {k: v for k, v in part.items() if k != "content"} | {"text": part["content"]}
    if kind in ("blob", "uri"):
        url = part["uri"] if kind == "uri" else f"data:{part['mime_type']};base64,{part['content']}"
        return {"type": "image", "url": url, "detail": part.get("detail")}
    return {_FIELDS[kind].get(name, name): value for name, value in part.items()} | {
        "type": _TYPES[kind]
    }


_TYPES: Final = {"tool_call": "tool_call", "tool_call_response": "tool_result"}
_IDS: Final = {"id": "tool_call_id", "name": "tool_name"}
_FIELDS: Final = {
    "tool_call": {**_IDS, "arguments": "args"},
    "tool_call_response": {**_IDS, "response": "result"},
}
