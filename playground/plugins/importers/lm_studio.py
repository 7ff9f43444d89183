"""Read LM Studio's conversations (`*.conversation.json`), whose messages have versions.

Only the selected version of a message is read. An answer has steps: texts, thoughts or calls.
Source: two converters of such files (2025), and the parts of messages in LM Studio's SDK.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.base.findings import finding
from playground.nouns.messages import Part, ReasoningPart, Role, TextPart
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import list_in, listed, mapping, object_in
from playground.sessions.shapes.messages import ROLES
from playground.sessions.shapes.parts import read_parts, result_value
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source

_SKIPPED_KINDS: Final = {"toolStatus", "debugInfoBlock", "status"}  # kinds of steps without content


class LmStudio(SessionFormat):
    name = "lm-studio"
    title = "LM Studio conversation (`*.conversation.json`)"
    keeps = Keeps(
        usage="yes", missing="the file has no tools; other versions of a message are not read"
    )

    def recognises(self, source: Source) -> bool:
        value = None if source.is_lines else source.document
        messages = listed(mapping(value).get("messages"))
        return any(isinstance(mapping(each).get("versions"), list) for each in messages)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        value = object_in(source)
        builder = SessionBuilder(title=source.stem)
        model = mapping(value.get("lastUsedModel")).get("identifier")
        builder.set_metadata(name="lm-studio", title=value.get("name"), model=model)
        if system := _system(value):
            builder.add_message("system", [TextPart(system)], Place(field="systemPrompt"))
        for index, message in enumerate(list_in(source, "messages")):
            _message(builder, message, Place(field=f"messages.{index}"))
        yield builder


def _system(value: dict[str, Any]) -> str:
    """Return the system prompt, which is a setting of the conversation since version 0.3."""
    for field in listed(mapping(value.get("perChatPredictionConfig")).get("fields")):
        if isinstance(field, dict) and field.get("key") == "llm.prediction.systemPrompt":
            return str(field.get("value") or "")
    return str(value.get("systemPrompt") or "")


def _message(builder: SessionBuilder, message: Any, place: Place) -> None:
    versions = message.get("versions") if isinstance(message, dict) else None
    if not isinstance(versions, list) or not versions:
        builder.note_loss("a message without versions", place)
        return
    chosen = message.get("currentlySelected")
    chosen = chosen if type(chosen) is int and 0 <= chosen < len(versions) else len(versions) - 1
    if len(versions) > 1:
        words = f"the message has {len(versions)} versions"
        builder.findings.append(finding("other-branches", str(place), words))
    version, where = versions[chosen], place.at("versions", chosen)
    role = ROLES.get(str(version.get("role"))) if isinstance(version, dict) else None
    if role is None:
        builder.note_loss("a version without a role", where)
    elif isinstance(version.get("steps"), list):
        _steps(builder, role, version, where.at("steps"))
    elif parts := _parts(builder, version.get("content"), where.at("content")):
        add_with_results(builder, role, parts, where)
    elif "content" not in version:
        builder.note_loss("a version without content", where)


def _steps(builder: SessionBuilder, role: Role, version: dict[str, Any], place: Place) -> None:
    """Read an answer's steps. Consecutive steps up to a result are one reply of the model."""
    parts: list[Part] = []
    infos: list[dict[str, Any]] = []  # data about the model's replies, such as token counts
    for index, step in enumerate(version["steps"]):
        kind = step.get("type") if isinstance(step, dict) else None
        if kind == "contentBlock":
            parts += _parts(builder, step.get("content"), place.at(index, "content"), step)
            infos += [step["genInfo"]] if isinstance(step.get("genInfo"), dict) else []
        elif str(kind) not in _SKIPPED_KINDS:
            builder.note_loss(f"a step of the type {kind!r}", place.at(index))
    start = len(builder.messages)
    if parts:
        add_with_results(builder, role, parts, place)
    answers = range(start, len(builder.messages))
    replies = [i for i in answers if builder.messages[i].role == "assistant"]
    last_replies = replies[-len(infos) :] if infos else ()  # the first ones may have no data
    for reply, info in zip(last_replies, infos[len(infos) - len(last_replies) :], strict=True):
        _request(builder, reply, info, version)


def _request(
    builder: SessionBuilder, reply: int, info: dict[str, Any], version: dict[str, Any]
) -> None:
    stats = mapping(info.get("stats"))
    name = mapping(version.get("senderInfo")).get("senderName")
    builder.add_request(
        reply=reply,
        model=info.get("identifier") or info.get("indexedModelIdentifier") or name,
        usage={key: n for key, n in stats.items() if key.endswith("Count") and n is not None},
        stop_reason=stats.get("stopReason"),
    )


def _parts(
    builder: SessionBuilder, content: Any, place: Place, step: dict[str, Any] | None = None
) -> list[Part]:
    """Return the parts of a block; texts in the style `thinking` are reasoning."""
    is_thought = mapping(mapping(step).get("style")).get("type") == "thinking"
    parts: list[Part] = []
    for index, item in enumerate(content if isinstance(content, list) else [content]):
        where = place.at(index)
        kind = item.get("type") if isinstance(item, dict) else None
        if kind == "text" and item.get("isStructural"):
            continue  # this text is only a tag around reasoning
        if kind == "text" and is_thought:
            parts += [ReasoningPart(str(item["text"]))] if item.get("text") else []
        elif kind == "toolCallRequest":
            parts.append(_call(builder, item, where))
        elif kind == "toolCallResult":
            parts.append(_result(builder, item))
        elif kind == "file":
            builder.note_loss(f"the file {item.get('name') or item.get('fileIdentifier')!r}", where)
        else:
            parts += read_parts(builder, item, where)
    return parts


def _call(builder: SessionBuilder, item: dict[str, Any], place: Place) -> Part:
    inner = item.get("toolCallRequest")
    body = {**item, **inner} if isinstance(inner, dict) else item
    call_id = body.get("toolCallRequestId") or body.get("id") or body.get("callId")
    arguments = body.get("parameters", body.get("arguments"))
    return builder.call(call_id, body.get("name"), arguments, place)


def _result(builder: SessionBuilder, item: dict[str, Any]) -> Part:
    """Return the result of the call with the item's id. If no call has that id, it is the result of
    the first open call."""
    call_id = item.get("toolCallRequestId") or item.get("toolCallId") or item.get("callId")
    if not call_id or not builder.knows_call(str(call_id)):
        call_id = builder.open_call() or call_id
    return builder.result(call_id, result_value(item.get("content")))
