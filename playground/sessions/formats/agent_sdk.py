"""Messages of the Claude Agent SDK as programs keep them: cassettes of its tests, dumps, lines.

The SDK hands on what Claude Code writes as JSON, as objects of Python: `AssistantMessage` with a
`ToolUseBlock` where the log has `assistant` and `tool_use`. They are read as that log.
https://github.com/anthropics/claude-agent-sdk-python (`types.py`)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.formats.claude_code import read_log
from playground.sessions.lines import Entry, entries
from playground.sessions.shapes.fields import listed, mapping
from playground.sessions.source import Source

_KINDS: Final = {
    "SystemMessage": "system", "AssistantMessage": "assistant", "UserMessage": "user",
    "ResultMessage": "result", "StreamEvent": "stream_event",
}  # fmt: skip
_BLOCKS: Final = {
    "TextBlock": "text", "ThinkingBlock": "thinking", "ToolUseBlock": "tool_use",
    "ToolResultBlock": "tool_result", "ServerToolUseBlock": "server_tool_use",
    "ServerToolResultBlock": "tool_result",
}  # fmt: skip
# What tells a block by its fields, where a dump leaves out its type.
_BY_FIELD: Final = {
    "tool_use_id": "tool_result", "input": "tool_use", "thinking": "thinking", "text": "text",
}  # fmt: skip


class ClaudeAgentSdk(SessionFormat):
    name = "claude-agent-sdk"
    title = "Messages of the Claude Agent SDK (YAML, JSON or lines)"
    keeps = Keeps(
        tools="by name",
        usage="of answers, or else of the run, at its last one",
        missing="system prompt is not in it; the run's totals, what a test expects",
    )

    def recognises(self, source: Source) -> bool:
        if source.suffix in (".yaml", ".yml"):
            start = source.start(1 << 16)
            return b"messages:" in start and any(name.encode() in start for name in _KINDS)
        found = source.head if source.is_lines else _messages(source.document)
        return any(map(_is_message, listed(found)))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        document = None if source.is_lines else source.document or source.yaml
        found = listed(_messages(document))
        where = "messages" if isinstance(document, dict) else ""
        given = (
            entries(source)
            if source.is_lines
            else [(i + 1, Place(field=where).at(i), each) for i, each in enumerate(found)]
        )
        about = mapping(document)
        yield from read_log(source, _as_log(given, about.get("prompt")), about.get("description"))


def _messages(document: Any) -> Any:
    return document.get("messages") if isinstance(document, dict) else document


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("type")) in _KINDS


def _as_log(given: Any, prompt: Any) -> Iterator[Entry]:
    """Yield each message as a line of Claude Code's log.

    An answer's blocks come one by one, and belong to one answer until somebody else speaks.
    """
    answer, speaks = 0, ""
    if isinstance(prompt, str) and prompt:
        asked = {"role": "user", "content": prompt}
        yield 0, Place(field="prompt"), {"type": "user", "message": asked}
    for number, place, value in given:
        if not _is_message(value):
            yield number, place, value
            continue
        kind = _KINDS[value["type"]]
        if kind == "system":
            yield number, place, {**mapping(value.get("data")), "type": kind}
            continue
        speaker = f"{kind} {value.get('parent_tool_use_id')}"
        answer, speaks = answer + (speaker != speaks), speaker
        yield number, place, _line(value, kind, f"answer {answer}")


def _line(value: dict[str, Any], kind: str, answer: str) -> dict[str, Any]:
    if kind not in ("user", "assistant"):
        return {**value, "type": kind}
    content = value.get("content")
    blocks = [_block(each) for each in content] if isinstance(content, list) else content
    message = {"role": kind, "content": blocks}
    if kind == "assistant":
        given = value.get("message_id") or answer
        message |= {"id": given, "model": value.get("model"), "usage": value.get("usage")}
    return {**value, "type": kind, "message": message}


def _block(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    kind = str(value.get("type") or next((_BY_FIELD[k] for k in _BY_FIELD if k in value), ""))
    return {**value, "type": _BLOCKS.get(kind, kind)}
