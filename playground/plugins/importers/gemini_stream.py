"""Read Gemini CLI's `--output-format stream-json`: JSON lines of messages, calls and results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.nouns.messages import TextPart
from playground.sessions import unvalidated
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.first_look import first_lines
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import read_lines
from playground.sessions.shapes.messages import read_message, role_of
from playground.sessions.shapes.parts import read_parts
from playground.sessions.source import Source

_QUIET: Final = {"result", "init"}  # kinds of lines that may add nothing to a session


class GeminiStream(SessionFormat):
    name = "gemini-stream-json"
    title = "Gemini CLI's log (`--output-format stream-json`)"
    keeps = Keeps(
        times="yes",
        usage="only of the whole run, at its last answer",
        missing="the file has no tools and no system prompt",
    )

    def recognises(self, source: Source) -> bool:
        lines = first_lines(source)
        return any(
            (line.get("type") == "init" and "session_id" in line)
            or (line.get("type") in ("tool_use", "tool_result") and "tool_id" in line)
            for line in lines
        )

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        builder.set_metadata(name="gemini-cli")
        read_lines(source, builder, lambda value, place: _line(builder, value, place), _QUIET)
        yield builder


def _line(builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
    kind = value.get("type")
    if kind == "init":
        builder.set_metadata(model=value.get("model"), session=value.get("session_id"))
    elif kind == "message":
        _message(builder, value, place)
    elif kind == "tool_use":
        call = {
            "type": "tool_use",
            "id": value.get("tool_id") or builder.new_id(),
            "name": value.get("tool_name"),
            "input": value.get("parameters"),
        }
        _answer(builder, value, read_parts(builder, call, place), place)
    elif kind == "tool_result":
        call_id = value.get("tool_id") or builder.open_call(str(value.get("tool_name") or ""))
        content = value.get("output", value.get("error"))
        failed = value.get("status") == "error"
        builder.add_message("tool", [builder.result(call_id, content, is_error=failed)], place)
    elif kind == "error":
        builder.note_loss(f"an error: {str(value.get('message'))[:80]}", place)
    elif kind == "result":
        stats = value.get("stats")
        if isinstance(stats, dict) and any(m.role == "assistant" for m in builder.messages):
            _add_total(builder, stats)


def _message(builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
    if role_of({"role": value.get("role")}) == "assistant":
        _answer(builder, value, read_parts(builder, value.get("content"), place), place)
    else:
        read_message(builder, {"role": value.get("role"), "content": value.get("content")}, place)


def _answer(builder: SessionBuilder, value: dict[str, Any], parts: list[Any], place: Place) -> None:
    """Add a line's parts to the current answer, which ends at the next result. If the line `value`
    has `delta`, its text continues the answer's last text."""
    last = builder.messages[-1] if builder.messages else None
    parts_before = last.parts if last is not None and last.role == "assistant" else ()
    text = parts_before[-1] if parts_before and parts and value.get("delta") else None
    if isinstance(text, TextPart):
        builder.messages[-1] = unvalidated.message("assistant", parts_before[:-1])
        builder.add_parts([TextPart(text.text + parts[0].text)])
    elif builder.add_to_answer(parts, place):
        builder.add_request(model=builder.model, at=value.get("timestamp"))


def _add_total(builder: SessionBuilder, stats: dict[str, Any]) -> None:
    last = builder.requests.pop() if builder.requests else None
    builder.add_request(
        model=last.model if last else builder.model,
        at=last.at if last else None,
        usage=stats,
        reply=last.reply if last else len(builder.messages) - 1,
    )
