"""Antigravity's transcripts: JSON lines of steps; a tool's output is a step of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from playground.nouns.messages import Part, ReasoningPart
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.first_look import first_lines
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import read_lines
from playground.sessions.shapes.fields import told_list
from playground.sessions.shapes.messages import read_message
from playground.sessions.shapes.parts import read_parts
from playground.sessions.source import Source

_QUIET: Final = {"CONVERSATION_HISTORY", "EPHEMERAL_MESSAGE", "KNOWLEDGE_ARTIFACTS", "CHECKPOINT"}


class Antigravity(SessionFormat):
    name = "antigravity"
    title = "Antigravity transcript"
    keeps = Keeps(times="yes", missing="tools and system prompt are not in it; ids of calls")

    def recognises(self, source: Source) -> bool:
        lines = first_lines(source)
        return any({"step_index", "source", "type"} <= line.keys() for line in lines)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        builder.known(name="antigravity")
        read_lines(source, builder, _Steps(builder).take, _QUIET)
        yield builder


@dataclass
class _Steps:
    """The steps read so far.

    The index of the answer whose tools run is None if the next step belongs to no answer.
    """

    builder: SessionBuilder
    answer: int | None = None

    def take(self, value: dict[str, Any], place: Place) -> None:
        builder, content, at = self.builder, value.get("content"), value.get("created_at")
        kind = str(value.get("type"))
        if kind == "PLANNER_RESPONSE":
            self.answer = len(builder.messages)
            _answer(builder, value, at, place)
        elif kind not in ("CHECKPOINT", "USER_INPUT") and value.get("source") == "MODEL":
            self._output(value, kind, place)
        else:
            self.answer = None if content or kind == "CHECKPOINT" else self.answer
            _said(builder, kind, content, at, place)

    def _output(self, value: dict[str, Any], kind: str, place: Place) -> None:
        """A tool's output goes to the first call that waits; one that none asked for is a call of
        the answer before it, too: no further request is known."""
        builder = self.builder
        given = builder.open_call()
        if not given:
            given = builder.new_id()
            call = builder.call(given, kind.lower(), {}, place)
            if self.answer is not None:
                builder.add_parts([call], self.answer)
            else:
                self.answer = len(builder.messages)
                builder.say("assistant", [call], place)
                builder.request(at=value.get("created_at"))
        failed, content = value.get("status") == "ERROR", value.get("content") or ""
        builder.say("tool", [builder.result(given, content, is_error=failed)], place)


def _said(builder: SessionBuilder, kind: str, content: Any, at: Any, place: Place) -> None:
    if kind == "CHECKPOINT":
        builder.compacted(at, place=place)
        if content:
            read_message(builder, {"role": "user", "content": content}, place)
    elif kind == "USER_INPUT" or content:
        read_message(builder, {"role": "user", "content": content}, place)


def _answer(builder: SessionBuilder, value: dict[str, Any], at: Any, place: Place) -> None:
    thought = value.get("thinking")
    parts: list[Part] = [ReasoningPart(thought)] if isinstance(thought, str) and thought else []
    parts += read_parts(builder, value.get("content"), place.at("content"))
    within = place.at("tool_calls")
    for index, call in enumerate(told_list(builder, value.get("tool_calls"), within)):
        where = within.at(index)
        if isinstance(call, dict):
            given = builder.new_id()
            parts.append(builder.call(given, call.get("name"), call.get("args"), where))
        else:
            builder.lost(f"a call that is a {type(call).__name__}", where)
    builder.say("assistant", parts, place)
    builder.request(at=at)
