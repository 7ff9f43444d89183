"""Read Kimi Code's `wire.jsonl`: a line for each addition to the model's context."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.nouns.messages import Part, ReasoningPart
from playground.plugins.importers.shapes.compactions import active_messages, set_history
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.first_look import first_lines
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import read_lines
from playground.sessions.shapes.messages import read_message
from playground.sessions.shapes.parts import read_parts, result_value
from playground.sessions.source import Source

_QUIET: Final = {  # kinds of lines that may add nothing to a session
    "metadata", "tools.*", "turn.*", "llm.request", "permission.*", "plan_mode.*", "runtime.*",
    "full_compaction.*", "token_counting.*", "plugin.*", "context.append_loop_event", "profile.*",
    "config.update", "usage.record", "llm.*",
}  # fmt: skip


class KimiWire(SessionFormat):
    name = "kimi-wire"
    title = "Kimi Code session (wire.jsonl)"
    keeps = Keeps(
        tools="yes",
        times="yes",
        usage="yes",
        missing="settings, permissions and what the interface showed are not read",
    )

    def recognises(self, source: Source) -> bool:
        lines = first_lines(source)
        return any(
            str(line.get("type")).startswith("context.append_") or "protocol_version" in line
            for line in lines
        )

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        wire = _Wire(source.stem)
        read_lines(source, wire.main, wire.line, _QUIET)
        yield from wire.sessions()


class _Wire:
    """The agent and its sub-agents, each with its own context."""

    def __init__(self, title: str) -> None:
        self.main = SessionBuilder(title=title)
        self.main.set_metadata(name="kimi-code")
        self._agents = {"main": self.main}

    def sessions(self) -> Iterator[SessionBuilder]:
        yield from [b for b in self._agents.values() if b.messages] or [self.main]

    def line(self, value: dict[str, Any], place: Place) -> None:
        builder = self._agent(str(value.get("agentId") or "main"))
        kind, at = str(value.get("type")), value.get("time")
        if kind == "context.append_message" and isinstance(value.get("message"), dict):
            read_message(builder, value["message"], place.at("message"))
        elif kind == "context.append_loop_event" and isinstance(value.get("event"), dict):
            _event(builder, value["event"], at, place.at("event"))
        elif kind == "context.apply_compaction":
            _compaction(builder, value, at, place)
        elif kind == "llm.tools_snapshot":
            builder.add_tools(value.get("tools"), place.at("tools"))
        elif kind == "usage.record":
            _usage(builder, value)
        system = value.get("systemPrompt")
        if isinstance(system, str) and not builder.messages:
            read_message(builder, {"role": "system", "content": system}, place.at("systemPrompt"))
        if kind in ("config.update", "profile.bind"):
            builder.set_metadata(model=value.get("modelAlias"))

    def _agent(self, key: str) -> SessionBuilder:
        if key not in self._agents:
            builder = SessionBuilder(title=f"{self.main.title} {key}", counter=self.main.counter)
            builder.set_metadata(name="kimi-code", sub_agent=key)
            self._agents[key] = builder
        return self._agents[key]


def _compaction(builder: SessionBuilder, value: dict[str, Any], at: Any, place: Place) -> None:
    """Add a compaction: its summary replaces the first `compactedCount` messages.

    Later versions also keep some of the user's messages. The file does not say which, so no history
    is set: later requests are assumed to hold the system prompt, the summary and what follows.
    """
    count, user_count = value.get("compactedCount"), value.get("keptUserMessageCount")
    active = [i for i in active_messages(builder) if builder.messages[i].role != "system"]
    builder.add_compaction(at, value.get("tokensBefore"), place)
    first = len(builder.messages)
    summary = value.get("contextSummary") or value.get("summary")  # Kimi sends `contextSummary`
    if isinstance(value.get("summary"), str) and value["summary"] not in str(summary):
        builder.note_loss("a summary that is not the one sent to the model", place.at("summary"))
    if isinstance(summary, str):
        read_message(builder, {"role": "user", "content": summary}, place)
    if type(count) is int and not user_count:
        set_history(builder, [*range(first, len(builder.messages)), *active[count:]])


def _event(builder: SessionBuilder, event: dict[str, Any], at: Any, place: Place) -> None:
    kind, part = event.get("type"), event.get("part")
    if kind == "content.part" and isinstance(part, dict):
        thought = part.get("think")
        parts: list[Part] = [ReasoningPart(thought)] if isinstance(thought, str) else []
        _answer(builder, parts or read_parts(builder, part, place), at, place)
    elif kind == "tool.call":
        call = builder.call(event.get("toolCallId"), event.get("name"), event.get("args"), place)
        _answer(builder, [call], at, place)
    elif kind == "tool.result":
        result = event.get("result")
        body = result if isinstance(result, dict) else {"output": result}
        content = result_value(body.get("output", body.get("message")))
        is_error = bool(body.get("isError"))
        part = builder.result(event.get("toolCallId"), content, is_error=is_error)
        builder.add_message("tool", [part], place)


def _answer(builder: SessionBuilder, parts: list[Part], at: Any, place: Place) -> None:
    if builder.add_to_answer(parts, place):
        builder.add_request(model=builder.model, at=at)


def _usage(builder: SessionBuilder, value: dict[str, Any]) -> None:
    if builder.requests and builder.requests[-1].usage is None:
        last = builder.requests.pop()
        model = value.get("model") or last.model
        builder.add_request(reply=last.reply, at=last.at, model=model, usage=value.get("usage"))
    elif builder.messages:  # no answer: the request was cut off, or made a compaction
        builder.add_request(
            reply=-1, model=value.get("model"), usage=value.get("usage"), at=value.get("time")
        )
