"""Read tasks of Cline and Roo Code: a folder with `api_conversation_history.json`, or that file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from playground.base.errors import InputFault
from playground.sessions.building import Place, SessionBuilder, json_or_text
from playground.sessions.first_look import has_field
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import listed, mapping
from playground.sessions.shapes.messages import read_message
from playground.sessions.source import Source

_HISTORY: Final = "api_conversation_history.json"
_UI: Final = "ui_messages.json"


class ClineTask(SessionFormat):
    name = "cline-task"
    title = "Cline or Roo Code task folder"
    keeps = Keeps(
        times="yes",
        usage="yes",
        missing="the file has no tools and no system prompt; messages of the interface are not "
        "read",
    )

    def recognises(self, source: Source) -> bool:
        if source.is_folder or source.is_zip:
            return any(name.rpartition("/")[2] == _HISTORY for name in source.members)
        named = source.name.replace("\\", "/").rpartition("/")[2] == _HISTORY
        return named or _is_history(source)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        if not (source.is_folder or source.is_zip):
            yield _task(source, None)
            return
        members = source.members
        for name, member in members.items():
            folder, _, file = name.rpartition("/")
            if file == _HISTORY:
                yield _task(member, members.get(f"{folder}/{_UI}".lstrip("/")))


def _is_history(source: Source) -> bool:
    """Return True if an answer has one of the fields that Cline adds: the model or the tokens."""
    if source.is_lines or not has_field(source, {"modelInfo", "metrics"}):
        return False
    answers = [m for m in listed(source.document) if mapping(m).get("role") == "assistant"]
    return any(
        "modelId" in mapping(answer.get("modelInfo")) or "tokens" in mapping(answer.get("metrics"))
        for answer in answers
    )


def _counts(metrics: Any) -> dict[str, Any]:
    """Return an answer's metrics as one object, with the counts in `tokens` moved up one level."""
    metrics = mapping(metrics)
    tokens = mapping(metrics.get("tokens"))
    rest = {key: value for key, value in metrics.items() if key != "tokens"}
    return {**tokens, **rest} if tokens else metrics


def _task(history: Source, interface: Source | None) -> SessionBuilder:
    folder, _, file = history.name.replace("\\", "/").rpartition("/")
    title = folder.rpartition("/")[2] if folder and file == _HISTORY else history.stem
    builder = SessionBuilder(title=title)
    messages = history.value
    if not isinstance(messages, list):
        raise InputFault(
            "not a list of messages", where=history.name, expected="a list of messages"
        )
    for index, message in enumerate(messages):
        start = len(builder.messages)
        read_message(builder, message, Place(field=str(index)))
        if len(builder.messages) > start and builder.messages[-1].role == "assistant":
            builder.add_request(
                at=message.get("ts"),
                usage=_counts(message.get("metrics")),
                model=mapping(message.get("modelInfo")).get("modelId"),
            )
    if interface is not None:
        _add_usage(builder, interface)
    return builder


def _add_usage(builder: SessionBuilder, interface: Source) -> None:
    """Add times and token counts from the messages of the interface, which has one about the start
    of each request, in the order of the requests."""
    entries = [m for m in listed(interface.document) if isinstance(m, dict)]
    starts = [m for m in entries if m.get("say") == "api_req_started"]
    for number, (record, message) in enumerate(zip(builder.requests, starts, strict=False)):
        info = mapping(json_or_text(message.get("text")))
        keys = ("tokensIn", "tokensOut", "cacheReads", "cacheWrites", "cost", "apiProtocol")
        usage = {key: info[key] for key in keys if key in info}
        at = record.at or builder.read_time(message.get("ts"), Place(field=interface.name))
        builder.requests[number] = replace(record, at=at, usage=usage or record.usage)
