"""Read tasks of the Agent2Agent protocol (A2A): an agent's history and artifacts.

Source: the A2A specification, versions 0.2 to 1.0 (2025). A tool call is a data part that Google's
ADK or kagent marks in its metadata.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.nouns.messages import Part, ReasoningPart
from playground.sessions.building import Place, SessionBuilder, text_part
from playground.sessions.first_look import has_field
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.formats.chat_lines import rows
from playground.sessions.shapes.fields import list_or_finding, mapping, objects_or_findings, text_of
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source

_PREFIXES: Final = ("adk_", "kagent_")  # prefixes of the metadata keys of ADK and kagent
_METADATA_FIELDS: Final = {"kind", "type", "metadata", "mediaType"}
_MARKS: Final = ("result", "task", "history", "artifacts")  # a file of this format has one of them


class A2aTask(SessionFormat):
    name = "a2a-task"
    title = "Task of the Agent2Agent protocol (A2A), alone or as a server's answer"
    keeps = Keeps(
        times="only of the last state",
        usage="if ADK or kagent reports it",
        missing="the file has no tools; parts that are files are not read",
    )

    def recognises(self, source: Source) -> bool:
        if not has_field(source, _MARKS):
            return False
        value = source.head if source.is_lines else source.document
        return any(_task(each) for each in (value if isinstance(value, list) else [value]))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        for place, value in rows(source):
            task = _task(value)
            builder = SessionBuilder(title=text_of(task.get("id")) or source.stem)
            if not task:
                builder.note_loss("an entry that is not a task", place)
            else:
                _read(builder, task, place)
            yield builder


def _task(value: Any) -> dict[str, Any]:
    """Return a task, given the task itself or a server's answer with it; {} for other values."""
    value = mapping(value)
    inner = mapping(value.get("result")) or value
    task = mapping(inner.get("task")) or inner
    has_list = isinstance(task.get("history"), list) or isinstance(task.get("artifacts"), list)
    is_task = has_list and isinstance(mapping(task.get("status")).get("state"), str)
    return task if is_task else {}


def _read(builder: SessionBuilder, task: dict[str, Any], place: Place) -> None:
    builder.set_metadata(session=task.get("contextId") or task.get("sessionId"))
    read_ids: set[str] = set()
    for where, message in objects_or_findings(builder, task.get("history"), place.at("history")):
        _message(builder, message, where, read_ids)
    artifacts = objects_or_findings(builder, task.get("artifacts"), place.at("artifacts"))
    for where, artifact in artifacts:
        _message(builder, {**artifact, "role": "agent"}, where, read_ids)
    status = mapping(task.get("status"))
    if status.get("message"):
        _message(builder, mapping(status["message"]), place.at("status", "message"), read_ids)
    answers = [i for i, message in enumerate(builder.messages) if message.role == "assistant"]
    if answers:
        at, reason = status.get("timestamp"), text_of(status.get("state"))
        usage = _metadata(task.get("metadata"), "usage_metadata")
        builder.add_request(reply=answers[-1], at=at, stop_reason=reason, usage=usage)


def _message(
    builder: SessionBuilder, message: dict[str, Any], place: Place, read_ids: set[str]
) -> None:
    """Read a message or an artifact. Skip a message whose id was read before, and a message of the
    agent that repeats the parts of the message directly before it."""
    message_id = text_of(message.get("messageId"))
    role = text_of(message.get("role")).lower().removeprefix("role_")
    if message_id and message_id in read_ids:
        return
    read_ids.add(message_id)
    parts: list[Part] = []
    for index, part in enumerate(list_or_finding(builder, message.get("parts"), place.at("parts"))):
        parts += _part(builder, mapping(part), place.at("parts", index))
    if "parts" not in message:
        builder.note_loss("a message without parts", place)
    elif role not in ("user", "agent"):
        builder.note_loss(f"a message with the role {role!r}", place)
    elif not _is_repeated(builder, parts, role):
        add_with_results(builder, "user" if role == "user" else "assistant", parts, place)


def _is_repeated(builder: SessionBuilder, parts: list[Part], role: str) -> bool:
    last = builder.messages[-1] if builder.messages and role == "agent" else None
    return last is not None and last.role == "assistant" and last.parts == tuple(parts)


def _part(builder: SessionBuilder, part: dict[str, Any], place: Place) -> list[Part]:
    part = mapping(part.get("root")) or part  # dumps of the SDK's models wrap a part in `root`
    data, text = part.get("data"), part.get("text")
    if isinstance(text, str):
        thought = _metadata(part.get("metadata"), "thought")
        return [ReasoningPart(text) if thought else text_part(text)] if text else []
    if not isinstance(data, dict):
        named = ", ".join(sorted(map(str, part.keys() - _METADATA_FIELDS)))
        builder.note_loss(f"a part that is not a text ({named or 'empty'})", place)
        return []
    match _metadata(part.get("metadata"), "type"):
        case "function_call":
            return [builder.call(data.get("id"), data.get("name"), data.get("args"), place)]
        case "function_response":
            return [builder.result(data.get("id"), data.get("response"), data.get("name"))]
        case kind:
            builder.note_loss(f"a data part of an unknown kind ({kind or 'no kind'})", place)
            return []


def _metadata(metadata: Any, name: str) -> Any:
    """Return the value that ADK or kagent wrote into metadata under a name; None without one."""
    found = (mapping(metadata).get(prefix + name) for prefix in _PREFIXES)
    return next((value for value in found if value is not None), None)
