"""Read all versions of Codex CLI's rollouts: JSON lines under `~/.codex/sessions`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from playground.nouns.messages import Part
from playground.plugins.importers.shapes.compactions import (
    MessagesByContent,
    scratch_builder,
    set_history,
)
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import read_lines
from playground.sessions.shapes.fields import listed
from playground.sessions.shapes.messages import read_message
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source

_KINDS: Final = {"session_meta", "turn_context", "response_item", "event_msg", "compacted"}
_SKIPPED: Final = {"ghost_snapshot", "agent_message", "compaction", "compaction_trigger"}
_QUIET: Final = {  # kinds of lines that may add nothing to a session
    "session_meta", "turn_context", "event_msg", "response_item", "world_state", "ghost_snapshot",
    "agent_message", "compaction", "state", "inter_agent_communication", "token_count",
}  # fmt: skip


class CodexRollout(SessionFormat):
    name = "codex-rollout"
    title = "Codex CLI rollout"
    keeps = Keeps(
        times="yes",
        usage="yes",
        missing="the file has no tools; events for the interface are not read, except usage; "
        "encrypted thoughts cannot be read",
    )

    def recognises(self, source: Source) -> bool:
        if not source.is_lines:
            return False
        typed = [line.get("type") for line in source.head if isinstance(line, dict)]
        return any(kind in _KINDS for kind in typed) or (
            any(kind in ("function_call", "function_result", "world_state") for kind in typed)
        )

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        builder.set_metadata(name="codex")
        # call id → the first event that shows the call in the interface
        shown: dict[str, Place] = {}
        line = partial(_line, builder, MessagesByContent(builder), shown)
        read_lines(source, builder, line, _QUIET)
        for call_id, place in shown.items():
            if not builder.knows_call(call_id):
                builder.note_loss(
                    f"a call that only an event for the interface shows: {call_id!r}", place
                )
        yield builder


def _line(
    builder: SessionBuilder,
    known_messages: MessagesByContent,
    shown_calls: dict[str, Place],
    value: dict[str, Any],
    place: Place,
) -> None:
    kind, payload = value.get("type"), value.get("payload")
    if not isinstance(payload, dict):
        _item(builder, value, value, place)  # older rollouts have no payload
    elif kind == "response_item":
        _item(builder, payload, value, place.at("payload"))
    elif kind in ("session_meta", "turn_context"):
        builder.set_metadata(
            model=payload.get("model"),
            version=payload.get("cli_version"),
            session=payload.get("session_id") or payload.get("id"),
            sub_agent=_sub_agent(payload.get("source")),
        )
        text = payload.get("instructions") or payload.get("base_instructions")
        text = text.get("text") if isinstance(text, dict) else text
        if kind == "session_meta" and isinstance(text, str) and text:
            read_message(builder, {"role": "system", "content": text}, place.at("payload"))
    elif kind == "event_msg":
        _usage(builder, payload)
        if isinstance(call_id := payload.get("call_id"), str):
            shown_calls.setdefault(call_id, place)
    elif kind == "compacted":
        _compaction(known_messages, payload, value, place.at("payload"))


def _sub_agent(source: Any) -> str:
    """Return a sub-agent's name, or "", from `source`, the record of how the thread was started."""
    inner = source.get("subagent", source.get("subAgent")) if isinstance(source, dict) else None
    if isinstance(inner, dict):
        spawn = inner.get("thread_spawn")
        named = spawn if isinstance(spawn, dict) else inner
        return str(named.get("agent_nickname") or named.get("agent_role") or "sub-agent")
    return str(inner or "")


def _compaction(
    known_messages: MessagesByContent, payload: dict[str, Any], line: dict[str, Any], place: Place
) -> None:
    """Add a compaction. Later requests begin with the messages that its line lists, which repeat or
    shorten earlier ones. Older rollouts have only the summary."""
    builder, text = known_messages.builder, payload.get("message")
    history = listed(payload.get("replacement_history"))
    builder.add_compaction(_time(line), place=place)
    summary = {"role": "user", "content": text}
    if not history:
        if text:
            read_message(builder, summary, place)
        return
    scratch = scratch_builder(builder)
    for number, item in enumerate(history):
        if isinstance(item, dict):
            _item(scratch, item, line, place.at("replacement_history", number))
    if text and not any(str(text) in each.text for each in scratch.messages):
        read_message(scratch, summary, place)
    set_history(builder, known_messages.add_from(scratch))


def _item(
    builder: SessionBuilder, item: dict[str, Any], line: dict[str, Any], place: Place
) -> None:
    kind = str(item.get("type") or "message")
    if kind in _SKIPPED or kind == "world_state":
        return
    if kind in ("tool_call", "function_call") and isinstance(item.get("function"), dict):
        call_id = item.get("call_id") or builder.new_id()
        name = item["function"].get("name")
        parts = [builder.call(call_id, name, item.get("arguments"), place)]
        _answer(builder, parts, line, place)
    elif kind in ("tool_result", "function_result"):
        call_id = item.get("call_id") or builder.open_call(str(item.get("name") or ""))
        add_with_results(
            builder, "tool", [builder.result(call_id, item.get("result"), item.get("name"))], place
        )
    else:
        content = item.get("content", item.get("message"))
        if isinstance(content, list):  # some of Codex's image parts hold no image
            content = [p for p in content if not (isinstance(p, dict) and _is_empty_image(p))]
        message = {**item, "content": content} if kind == "message" else item
        start = len(builder.messages)
        read_message(builder, message, place)
        if len(builder.messages) > start and builder.messages[-1].role == "assistant":
            content = builder.messages.pop().parts
            builder.places.pop()
            _answer(builder, content, line, place)


def _answer(
    builder: SessionBuilder, parts: Sequence[Part], line: dict[str, Any], place: Place
) -> None:
    """Add parts to the last message if it is the model's; else add a message and its request."""
    if builder.add_to_answer(parts, place):
        builder.add_request(model=line.get("model") or builder.model, at=_time(line))


def _usage(builder: SessionBuilder, payload: dict[str, Any]) -> None:
    info = payload.get("info")
    usage = (info.get("last_token_usage") or info) if isinstance(info, dict) else None
    usage = payload.get("usage") or usage
    if isinstance(usage, dict) and builder.requests:
        builder.set_usage(usage)


def _is_empty_image(part: dict[str, Any]) -> bool:
    return part.get("type") == "input_image" and not part.get("image_url")


def _time(line: dict[str, Any]) -> str:
    return str(line.get("timestamp") or line.get("created_at") or "")
