"""Read Copilot CLI's sessions: JSON lines, each an event with its data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.base.findings import finding
from playground.base.json_numbers import NotANumber
from playground.nouns.messages import ReasoningPart
from playground.plugins.importers.shapes.compactions import active_messages, set_history
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.first_look import first_lines
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import read_lines
from playground.sessions.shapes.messages import read_message
from playground.sessions.shapes.parts import result_value
from playground.sessions.source import Source

_PREFIXES: Final = ("session.", "user.", "assistant.", "tool.", "system.", "hook.", "subagent.")


class CopilotCli(SessionFormat):
    name = "copilot-cli"
    title = "Copilot CLI session (events.jsonl)"
    keeps = Keeps(
        times="yes",
        usage="if events have it",
        missing="the file has no tools; hooks, partial results and states are not read",
    )

    def recognises(self, source: Source) -> bool:
        lines = first_lines(source)
        known = [
            isinstance(line.get("data"), dict) and str(line.get("type")).startswith(_PREFIXES)
            for line in lines
        ]
        return sum(known) > len(known) / 2

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        builder.set_metadata(name="copilot-cli")
        read_lines(source, builder, lambda value, place: _event(builder, value, place), _QUIET)
        yield builder


_QUIET: Final = {  # kinds of events that may add nothing to a session
    "session.*", "hook.*", "assistant.turn_start", "assistant.turn_end", "assistant.usage", "abort",
    "tool.execution_start", "tool.execution_progress", "tool.execution_partial_result",
    "tool.user_requested", "assistant.message_start", "assistant.message_delta", "subagent.*",
    "assistant.reasoning_delta", "system.notification", "assistant.intent", "skill.*",
}  # fmt: skip


def _event(builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
    data = value.get("data")
    if not isinstance(data, dict):
        return
    kind, where = value.get("type"), place.at("data")
    if kind in ("session.start", "session.model_change", "session.resume"):
        builder.set_metadata(session=data.get("sessionId"), version=data.get("copilotVersion"))
        builder.set_metadata(model=data.get("selectedModel") or data.get("newModel"))
    elif kind in ("system.message", "user.message"):
        role = str(kind).partition(".")[0]
        content = data.get("transformedContent") or data.get("content")
        read_message(builder, {"role": role, "content": content}, where)
    elif kind == "assistant.message":
        _answer(builder, data, value, where)
    elif kind == "assistant.reasoning" and isinstance(data.get("content"), str):
        builder.add_message("assistant", [ReasoningPart(data["content"])], where)
    elif kind == "assistant.usage":
        _usage(builder, data)
    elif kind == "session.compaction_complete":
        builder.add_compaction(value.get("timestamp"), data.get("preCompactionTokens"), place)
    elif kind == "session.truncation":
        _truncation(builder, data, value.get("timestamp"), place)
    elif kind == "tool.execution_complete":
        _result(builder, data, where)


def _truncation(builder: SessionBuilder, data: dict[str, Any], at: Any, place: Place) -> None:
    """Drop as many of the oldest messages as the event says from all later requests, but none of
    the system's. If the event has no number, all messages stay, with a finding."""
    removed = data.get("messagesRemovedDuringTruncation")
    if type(removed) is not int:
        words = "the client dropped old messages here; all stay, as their number is unknown"
        builder.findings.append(finding("compaction-unsaid", str(place), words))
    elif removed > 0:
        active = active_messages(builder)
        others = [index for index in active if builder.messages[index].role != "system"]
        gone = set(others[:removed])
        builder.add_compaction(at, data.get("preTruncationTokensInMessages"), place)
        set_history(builder, (index for index in active if index not in gone))


def _result(builder: SessionBuilder, data: dict[str, Any], place: Place) -> None:
    result = data.get("result") if data.get("result") is not None else data.get("error")
    if isinstance(result, dict):
        result = result.get("content", result.get("message", result))
    failed = data.get("success") is False
    part = builder.result(data.get("toolCallId"), result_value(result), is_error=failed)
    builder.add_message("tool", [part], place)


def _answer(
    builder: SessionBuilder, data: dict[str, Any], value: dict[str, Any], place: Place
) -> None:
    start = len(builder.messages)
    message = {**data, "role": "assistant", "reasoning": data.get("reasoningText")}
    read_message(builder, message, place)
    if len(builder.messages) > start:
        model = data.get("model") or builder.model
        usage = data.get("usage") or {key: data[key] for key in _COUNTS if data.get(key)}
        builder.add_request(model=model, at=value.get("timestamp"), usage=usage)


_COUNTS: Final = {"outputTokens"}  # an answer's own count; others may come in a later event
_NUMBERS: Final = (int, float, NotANumber)


def _usage(builder: SessionBuilder, data: dict[str, Any]) -> None:
    if builder.requests and _COUNTS.issuperset(builder.requests[-1].usage or ()):
        last = builder.requests.pop()
        usage = {key: count for key, count in data.items() if type(count) in _NUMBERS}
        model = data.get("model") or last.model
        builder.add_request(reply=last.reply, at=last.at, model=model, usage=usage)
