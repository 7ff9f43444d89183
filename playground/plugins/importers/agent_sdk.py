"""Read messages of the Claude Agent SDK that programs or their tests stored as YAML, JSON or lines.

The SDK turns Claude Code's JSON into Python objects, such as `AssistantMessage` and `ToolUseBlock`
for `assistant` and `tool_use`. This module turns the stored objects back into Claude Code's JSON,
which `claude_code.py` reads. https://github.com/anthropics/claude-agent-sdk-python (`types.py`)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from playground.plugins.importers.claude_code import read_log
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
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
# Field → type of the blocks that have it, for dumps that leave out the type.
_BY_FIELD: Final = {
    "tool_use_id": "tool_result", "input": "tool_use", "thinking": "thinking", "text": "text",
}  # fmt: skip


class ClaudeAgentSdk(SessionFormat):
    name = "claude-agent-sdk"
    title = "Messages of the Claude Agent SDK (YAML, JSON or lines)"
    keeps = Keeps(
        tools="by name",
        usage="of each answer, or else the run's total, at its last answer",
        missing="the file has no system prompt; the run's totals and a test's expectations are "
        "not read",
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
        messages = (
            entries(source)
            if source.is_lines
            else [(i + 1, Place(field=where).at(i), each) for i, each in enumerate(found)]
        )
        about = mapping(document)
        log = _as_log(messages, about.get("prompt"))
        yield from read_log(source, log, about.get("description"))


def _messages(document: Any) -> Any:
    return document.get("messages") if isinstance(document, dict) else document


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("type")) in _KINDS


def _as_log(messages: Iterable[Entry], prompt: Any) -> Iterator[Entry]:
    """Yield each message as a line of Claude Code's log.

    The SDK sends each block of an answer as a message, so consecutive messages of the assistant are
    one answer.
    """
    answer, last_speaker = 0, ""
    if isinstance(prompt, str) and prompt:
        message = {"role": "user", "content": prompt}
        yield 0, Place(field="prompt"), {"type": "user", "message": message}
    for number, place, value in messages:
        if not _is_message(value):
            yield number, place, value
            continue
        kind = _KINDS[value["type"]]
        if kind == "system":
            yield number, place, {**mapping(value.get("data")), "type": kind}
            continue
        speaker = f"{kind} {value.get('parent_tool_use_id')}"
        answer, last_speaker = answer + (speaker != last_speaker), speaker
        yield number, place, _line(value, kind, f"answer {answer}")


def _line(value: dict[str, Any], kind: str, answer: str) -> dict[str, Any]:
    if kind not in ("user", "assistant"):
        return {**value, "type": kind}
    content = value.get("content")
    blocks = [_block(each) for each in content] if isinstance(content, list) else content
    message = {"role": kind, "content": blocks}
    if kind == "assistant":
        message_id = value.get("message_id") or answer
        message |= {"id": message_id, "model": value.get("model"), "usage": value.get("usage")}
    return {**value, "type": kind, "message": message}


def _block(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    kind = str(value.get("type") or next((_BY_FIELD[k] for k in _BY_FIELD if k in value), ""))
    return {**value, "type": _BLOCKS.get(kind, kind)}
