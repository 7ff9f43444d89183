"""Read Antigravity's transcripts: JSON lines, each a step (a message, or the output of a tool)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from playground.nouns.messages import Part, ReasoningPart
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.first_look import first_lines
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import read_lines
from playground.sessions.shapes.fields import list_or_finding
from playground.sessions.shapes.messages import read_message
from playground.sessions.shapes.parts import read_parts
from playground.sessions.source import Source

_QUIET: Final = {"CONVERSATION_HISTORY", "EPHEMERAL_MESSAGE", "KNOWLEDGE_ARTIFACTS", "CHECKPOINT"}


class Antigravity(SessionFormat):
    name = "antigravity"
    title = "Antigravity transcript"
    keeps = Keeps(
        times="yes", missing="the file has no tools and no system prompt; ids of calls are not read"
    )

    def recognises(self, source: Source) -> bool:
        lines = first_lines(source)
        return any({"step_index", "source", "type"} <= line.keys() for line in lines)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        builder.set_metadata(name="antigravity")
        read_lines(source, builder, _Steps(builder).take, _QUIET)
        yield builder


@dataclass
class _Steps:
    """A reader of steps. `answer` is the index of the model's last message, whose calls get the
    next outputs of tools; None if another message or a checkpoint came after it."""

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
            _read_other(builder, kind, content, at, place)

    def _output(self, value: dict[str, Any], kind: str, place: Place) -> None:
        """Add a tool's output as the result of the first open call. If no call is open, first add a
        call to the previous answer, because the file shows no further request.
        """
        builder = self.builder
        call_id = builder.open_call()
        if not call_id:
            call_id = builder.new_id()
            call = builder.call(call_id, kind.lower(), {}, place)
            if self.answer is not None:
                builder.add_parts([call], self.answer)
            else:
                self.answer = len(builder.messages)
                builder.add_message("assistant", [call], place)
                builder.add_request(at=value.get("created_at"))
        failed, content = value.get("status") == "ERROR", value.get("content") or ""
        builder.add_message("tool", [builder.result(call_id, content, is_error=failed)], place)


def _read_other(builder: SessionBuilder, kind: str, content: Any, at: Any, place: Place) -> None:
    if kind == "CHECKPOINT":
        builder.add_compaction(at, place=place)
        if content:
            read_message(builder, {"role": "user", "content": content}, place)
    elif kind == "USER_INPUT" or content:
        read_message(builder, {"role": "user", "content": content}, place)


def _answer(builder: SessionBuilder, value: dict[str, Any], at: Any, place: Place) -> None:
    thought = value.get("thinking")
    parts: list[Part] = [ReasoningPart(thought)] if isinstance(thought, str) and thought else []
    parts += read_parts(builder, value.get("content"), place.at("content"))
    within = place.at("tool_calls")
    for index, call in enumerate(list_or_finding(builder, value.get("tool_calls"), within)):
        where = within.at(index)
        if isinstance(call, dict):
            call_id = builder.new_id()
            parts.append(builder.call(call_id, call.get("name"), call.get("args"), where))
        else:
            builder.note_loss(f"a call that is a {type(call).__name__}", where)
    builder.add_message("assistant", parts, place)
    builder.add_request(at=at)
