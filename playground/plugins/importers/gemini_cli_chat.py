"""Read Gemini CLI's saved chats: one JSON document, or JSON lines with `$set` and `$rewindTo`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.base.findings import finding
from playground.nouns.messages import Part, ReasoningPart
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import (
    dict_or_finding,
    list_or_finding,
    mapping,
    object_in,
    objects_or_findings,
)
from playground.sessions.shapes.messages import ROLES
from playground.sessions.shapes.parts import read_parts, result_value
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source

_MESSAGE_FIELDS: Final = {"type", "role", "content"}


class GeminiCliChat(SessionFormat):
    name = "gemini-cli-chat"
    title = "Gemini CLI chat"
    keeps = Keeps(
        times="yes",
        usage="yes",
        missing="the file has no tools and no system prompt; displayed variants are not read",
    )

    def recognises(self, source: Source) -> bool:
        first = source.head[0] if source.is_lines else source.document
        if not isinstance(first, dict):
            return False
        messages = first.get("messages", first.get("history"))
        return "projectHash" in first or (
            isinstance(messages, list) and ("startTime" in first or "start_time" in first)
        )

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        builder.set_metadata(name="gemini-cli")
        if source.is_lines:
            for place, message in _current(source, builder):
                _message(builder, message, place)
        else:
            value = object_in(source)
            place = Place(field="messages" if "messages" in value else "history")
            builder.title = str(value.get("summary") or builder.title)
            for index, message in enumerate(
                list_or_finding(builder, value.get(place.field), place)
            ):
                _message(builder, message, place.at(index))
        yield builder


def _current(source: Source, builder: SessionBuilder) -> list[tuple[Place, Any]]:
    """Return the messages that remain after all lines with `$set` (new or changed messages) and
    `$rewindTo` (the first message to remove)."""
    messages: dict[str, tuple[Place, Any]] = {}  # by id; a changed message moves to the end
    for line, value in source.lines():
        if not isinstance(value, dict):
            builder.note_loss(f"a line that is a {type(value).__name__}", Place(line))
        elif target := str(value.get("$rewindTo") or ""):
            if target in messages:
                ids = list(messages)
                for each in ids[ids.index(target) :]:
                    message = "a message that a later `$rewindTo` removed is left out"
                    where = str(messages[each][0])
                    builder.findings.append(finding("other-branches", where, message))
                messages = {each: messages[each] for each in ids[: ids.index(target)]}
            else:
                builder.note_loss(f"a rewind to {target[:60]!r}, which is missing", Place(line))
        elif "$set" in value:
            change = dict_or_finding(builder, value["$set"], Place(line, "$set"))
            within = Place(line, "$set.messages")
            new = list_or_finding(builder, change.get("messages"), within)
            for index, message in enumerate(new):
                message_id = str(mapping(message).get("id") or within.at(index))
                messages.pop(message_id, None)
                messages[message_id] = within.at(index), message
        elif not _MESSAGE_FIELDS.isdisjoint(value):
            message_id = str(value.get("id") or Place(line))
            messages.pop(message_id, None)
            messages[message_id] = Place(line), value
    return list(messages.values())


def _message(builder: SessionBuilder, message: Any, place: Place) -> None:
    kind = str(mapping(message).get("type") or mapping(message).get("role") or "")
    role = ROLES.get(kind)
    if role is None:
        builder.note_loss(f"a message of type {kind!r}", place)
        return
    parts: list[Part] = []
    within = place.at("thoughts")
    for index, thought in enumerate(list_or_finding(builder, message.get("thoughts"), within)):
        parts += _thought(builder, thought, within.at(index))
    content = message.get("content", message.get("parts"))
    parts += read_parts(builder, content, place.at("content"))
    results: list[Part] = []
    for where, call in objects_or_findings(
        builder, message.get("toolCalls"), place.at("toolCalls")
    ):
        call_id = call.get("id") or builder.new_id()
        parts.append(builder.call(call_id, call.get("name"), call.get("args"), where))
        if call.get("result") is not None:
            failed = call.get("status") == "error"
            result = _result(call["result"])
            results.append(builder.result(call_id, result, call.get("name"), is_error=failed))
    add_with_results(builder, role, parts, place)
    if role == "assistant":
        usage, at = message.get("tokens"), message.get("timestamp")
        builder.add_request(model=message.get("model"), at=at, usage=usage)
    if results:
        add_with_results(builder, "tool", results, place)


def _thought(builder: SessionBuilder, value: Any, place: Place) -> list[Part]:
    """Return a thought's subject and description as one part."""
    if isinstance(value, str):
        return [ReasoningPart(value)] if value else []
    thought = dict_or_finding(builder, value, place)
    texts = (thought.get("subject"), thought.get("description"))
    text = ": ".join(str(each) for each in texts if each)
    return [ReasoningPart(text)] if text else []


def _result(result: Any) -> Any:
    """Return a call's result: the function response if `result` is a list with one such response,
    otherwise `result_value(result)`."""
    if isinstance(result, list) and len(result) == 1 and isinstance(result[0], dict):
        response = mapping(result[0].get("functionResponse")).get("response")
        if isinstance(response, dict):
            return response["output"] if set(response) == {"output"} else response
    return result_value(result)
