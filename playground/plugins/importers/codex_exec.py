"""Read logs of `codex exec --json`: events of threads, turns and items, or events of older forms.

An item is a text, a thought, or a call with its result. Items up to a result are one answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from playground.nouns.messages import Part, ReasoningPart, TextPart
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.first_look import first_lines
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import read_lines
from playground.sessions.shapes.messages import read_message
from playground.sessions.shapes.parts import result_value
from playground.sessions.source import Source

_EVENTS: Final = re.compile(
    r"(thread|turn|item|session)[./](started|updated|completed|failed|created)"
)
_QUIET: Final = {  # kinds of lines that may add nothing to a session
    "thread.started", "turn.started", "item.started", "item.updated", "turn.completed",
    "thread/started", "turn/started", "item/started", "session.created", "token_count",
}  # fmt: skip
_ITEM_FIELDS: Final = {"id", "type", "item_type", "status"}
_OUTPUTS: Final = ("aggregated_output", "aggregatedOutput", "result", "output", "error", "stdout")


class CodexExec(SessionFormat):
    name = "codex-exec"
    title = "Codex's log (`codex exec --json`)"
    keeps = Keeps(
        usage="for each turn, at its last answer",
        times="if the lines have them",
        missing="the file has no tools, no system prompt and no first prompt",
    )

    def recognises(self, source: Source) -> bool:
        lines = first_lines(source)
        return any(_EVENTS.match(_kind(line)) or _is_event(line) for line in lines)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        builder.set_metadata(name="codex")
        log = _Log(builder)
        read_lines(source, builder, log.line, _QUIET)
        log.finish()
        yield builder


def _kind(line: dict[str, Any]) -> str:
    return str(line.get("type") or line.get("method") or "")


def _is_event(line: dict[str, Any]) -> bool:
    message = line.get("msg")
    return isinstance(message, dict) and "id" in line and isinstance(message.get("type"), str)


class _Log:
    """A log that is being read, with its open items: those that have begun but not ended."""

    def __init__(self, builder: SessionBuilder) -> None:
        self._builder = builder
        self._open: dict[str, tuple[dict[str, Any], Place]] = {}

    def line(self, value: dict[str, Any], place: Place) -> None:
        kind, builder = _kind(value).replace("/", "."), self._builder
        params = value.get("params") if isinstance(value.get("params"), dict) else value
        item = params.get("item") if isinstance(params, dict) else None
        if _is_event(value):
            self._event(value["msg"], place.at("msg"))
        elif isinstance(item, dict):
            self._item(item, kind, value, place.at("item"))
        elif kind in ("turn.completed", "turn.failed"):
            _usage(builder, value.get("usage"))
            if value.get("error"):
                builder.note_loss(f"the turn failed: {str(value['error'])[:80]}", place)
        elif kind in ("thread.started", "session.created"):
            builder.set_metadata(session=value.get("thread_id") or value.get("session_id"))
        elif kind == "error":
            builder.note_loss(f"an error: {str(value.get('message'))[:80]}", place)
        elif isinstance(value.get("prompt"), str):
            read_message(builder, {"role": "user", "content": value["prompt"]}, place)
        elif "model" in value:
            builder.set_metadata(model=value.get("model"))

    def finish(self) -> None:
        """Add the items for which the log has no end, as calls without a result."""
        for item, place in self._open.values():
            _read(self._builder, item, place, is_done=False)

    def _item(self, item: dict[str, Any], kind: str, line: dict[str, Any], place: Place) -> None:
        item_id = str(item.get("id") or place)
        if kind.endswith((".started", ".updated", ".added")):
            self._open[item_id] = item, place
            return
        self._open.pop(item_id, None)
        _read(self._builder, item, place, is_done=True, at=line.get("timestamp"))

    def _event(self, event: dict[str, Any], place: Place) -> None:
        """Read an event of the older form. There a call and its result are two events, whose types
        end in `_begin` and `_end`."""
        kind = str(event.get("type"))
        call_id = str(event.get("call_id") or "")
        if kind in ("agent_message", "agent_reasoning", "user_message"):
            text = event.get("message") or event.get("text")
            item = {"type": kind.replace("agent_reasoning", "reasoning"), "text": text}
            _read(self._builder, item, place, is_done=True)
        elif kind.endswith("_begin"):
            inner = event.get("invocation")
            call = inner if isinstance(inner, dict) else event
            name = str(call.get("tool") or kind.removesuffix("_begin"))
            rest = {k: v for k, v in call.items() if k not in ("type", "call_id", "tool", "server")}
            arguments = call.get("arguments") if inner is not None else rest
            _answer(self._builder, [self._builder.call(call_id, name, arguments, place)], place)
        elif kind.endswith("_end"):
            texts = [event.get(key) for key in ("stdout", "stderr", "result", "output")]
            text = next((text for text in texts if text not in (None, "")), "")
            failed = event.get("exit_code") not in (0, None) or event.get("success") is False
            result = self._builder.result(call_id, result_value(text), is_error=failed)
            self._builder.add_message("tool", [result], place)
        elif kind == "token_count":
            _usage(self._builder, event.get("info") or event)


def _read(
    builder: SessionBuilder, item: dict[str, Any], place: Place, is_done: bool, at: Any = None
) -> None:
    kind = _snake(str(item.get("type") or item.get("item_type") or ""))
    kind = _snake(str(item.get("item_type") or "")) if kind in ("", "item") else kind
    text = item.get("text", item.get("summary", item.get("content")))
    if kind in ("agent_message", "assistant_message"):
        _answer(builder, [TextPart(str(text))] if text else [], place, at)
    elif kind == "reasoning":
        thoughts = "\n".join(map(str, text)) if isinstance(text, list) else str(text or "")
        _answer(builder, [ReasoningPart(thoughts)] if thoughts else [], place, at)
    elif kind == "user_message":
        read_message(builder, {"role": "user", "content": text}, place)
    elif kind == "error":
        builder.note_loss(f"an error: {str(item.get('message'))[:80]}", place)
    elif kind:
        _call(builder, item, kind, place, is_done, at)
    else:
        builder.note_loss("an item without a type", place)


def _call(
    builder: SessionBuilder, item: dict[str, Any], kind: str, place: Place, is_done: bool, at: Any
) -> None:
    """Add an item that is a call (a command, an MCP call, a change of files) and, if the call has
    ended (`is_done`), its result."""
    name = str(item.get("tool") or kind)
    others = {*_ITEM_FIELDS, *_OUTPUTS, "exit_code", "exitCode", "tool", "server"}
    arguments = item.get("arguments")
    if "tool" not in item or arguments is None:
        arguments = {key: field for key, field in item.items() if key not in others}
    call_id = str(item.get("id") or builder.new_id())
    _answer(builder, [builder.call(call_id, name, arguments, place)], place, at)
    output = next((item[key] for key in _OUTPUTS if item.get(key) is not None), None)
    if is_done and (output is not None or kind in ("file_change", "todo_list", "web_search")):
        if isinstance(output, dict) and isinstance(output.get("content"), list):
            output = output["content"]
        failed = item.get("status") == "failed" or item.get("exit_code") not in (0, None)
        content = item.get("status") or "done" if output is None else result_value(output)
        builder.add_message("tool", [builder.result(call_id, content, is_error=failed)], place)


def _answer(builder: SessionBuilder, parts: list[Part], place: Place, at: Any = None) -> None:
    if builder.add_to_answer(parts, place):
        builder.add_request(model=builder.model, at=at)


def _usage(builder: SessionBuilder, usage: Any) -> None:
    if not isinstance(usage, dict):
        return
    if builder.requests and builder.requests[-1].usage is None:
        builder.set_usage(usage)
    elif usage:
        builder.add_request(usage=usage)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda match: f"_{match[1].lower()}", name)
