"""Read inspect_ai's logs: JSON, or `.eval`, a zip; https://inspect.aisi.org.uk/eval-logs.html."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.wording import counted
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import (
    dict_or_finding,
    list_in,
    list_or_finding,
    listed,
    mapping,
    object_in,
    objects_or_findings,
)
from playground.sessions.shapes.messages import read_message
from playground.sessions.shapes.parts import plain_text
from playground.sessions.shapes.requests import note_further_replies
from playground.sessions.source import Source

_ATTACHMENT: Final = "attachment://"


class InspectLog(SessionFormat):
    name = "inspect-log"
    title = "inspect_ai log (.eval or .json)"
    keeps = Keeps(
        tools="of the first model event",
        times="yes",
        usage="yes",
        missing="scores, spans and sandbox events are not read",
    )
    left_aside = {
        **{
            path: "scores: a grader's prompts and answers"
            for path in ("**.scores", "**.score", "reductions", "results", "**.target")
        },
        "**.model_usage": "sums of the model calls",
        "**.changes": "changes of the sample's state, which repeat its events",
        "**.error": "errors of the run",
        "eval": "settings of the evaluation",
        "plan": "settings of the evaluation",
        "**.view": "the form in which a call is shown",
        r"^(?:attachment|tc)://[\w-]+$": "the address of a text that stands elsewhere",
        "**.sample": "the sample of the data set",
    }

    def recognises(self, source: Source) -> bool:
        if source.is_zip:
            names = source.members
            return "header.json" in names or any(n.startswith("_journal/") for n in names)
        document = source.document
        return isinstance(document, dict) and "eval" in document and "version" in document

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        count = 0
        for place, sample in _samples(source):
            if not isinstance(sample, dict):
                raise InputFault("a sample that is not an object", where=str(place))
            count += 1
            yield _session(sample, place, source.stem)
        if not count:
            yield SessionBuilder(title=source.stem)


def _samples(source: Source) -> Iterator[tuple[Place, Any]]:
    if not source.is_zip:
        is_head = object_in(source).get("samples") is None
        for index, sample in enumerate(() if is_head else list_in(source, "samples")):
            yield Place(field=f"samples.{index}"), sample
        return
    for name, member in sorted(source.members.items()):
        if name.startswith("samples/"):
            yield Place(field=name), member.value


def _session(sample: dict[str, Any], place: Place, title: str) -> SessionBuilder:
    builder = SessionBuilder(title=f"{title} sample {sample.get('id')} epoch {sample.get('epoch')}")
    texts = dict_or_finding(builder, sample.get("attachments"), place.at("attachments"))
    within = place.at("events")
    calls = _ModelCalls(builder, _with_texts(sample.get("events"), texts), within)
    where = place.at("messages")
    for index, value in enumerate(list_or_finding(builder, sample.get("messages"), where)):
        message = _with_texts(value, texts)
        if isinstance(message, dict) and message.get("role") == "tool":
            message = {**message, "name": message.get("function")}
        start = len(builder.messages)
        read_message(builder, message, where.at(index))
        if len(builder.messages) > start and builder.messages[-1].role == "assistant":
            event = calls.take_event_of(message)
            output = mapping(event.get("output"))
            choices = listed(output.get("choices")) or [{}]
            note_further_replies(builder, choices, where.at(index))
            builder.add_request(
                model=message.get("model") or event.get("model"),
                at=event.get("timestamp"),
                seconds=output.get("time"),
                usage=output.get("usage"),
                stop_reason=mapping(choices[0]).get("stop_reason"),
            )
    builder.add_tools(calls.tools, within)
    if calls.note_others(builder, within) and texts:
        builder.note_loss("texts that only the other model calls use", place.at("attachments"))
    return builder


class _ModelCalls:
    """The model events of a sample whose answers no message has matched yet: by the answer's id, or
    in a list if that id is missing or repeated."""

    def __init__(self, builder: SessionBuilder, events: Any, place: Place) -> None:
        self._by_id: dict[str, dict[str, Any]] = {}
        self._others: list[dict[str, Any]] = []
        self.tools: Any = None
        for where, event in objects_or_findings(builder, events, place):
            if event.get("event") == "model":
                self._add(builder, event, where.at("output"))

    def _add(self, builder: SessionBuilder, event: dict[str, Any], where: Place) -> None:
        output = dict_or_finding(builder, event.get("output"), where)
        list_or_finding(builder, output.get("choices"), where.at("choices"))
        self.tools = self.tools or event.get("tools")
        message_id = _message_of(event).get("id")
        if message_id and message_id not in self._by_id:
            self._by_id[str(message_id)] = event
        else:
            self._others.append(event)

    def take_event_of(self, message: dict[str, Any]) -> dict[str, Any]:
        """Remove and return the event whose answer is this message, or {}."""
        by_id = self._by_id.pop(str(message.get("id")), None)
        if by_id is not None:
            return by_id
        content = _text_and_calls(message)
        for index, event in enumerate(self._others):
            if _text_and_calls(_message_of(event)) == content:
                return self._others.pop(index)
        return {}

    def note_others(self, builder: SessionBuilder, place: Place) -> bool:
        """Add a finding for the remaining calls, such as a grader's. Return True if any remain."""
        others = [*self._by_id.values(), *self._others]
        if others:
            usages = [mapping(mapping(event.get("output")).get("usage")) for event in others]
            tokens = sum(n for each in usages if type(n := each.get("total_tokens")) is int)
            calls = f"{counted(len(others), 'model call')} (a grader's, say), {tokens:,} tokens"
            builder.note_loss(f"{calls}: the answers are not messages of this sample", place)
        return bool(others)


def _message_of(event: dict[str, Any]) -> dict[str, Any]:
    choices = listed(mapping(event.get("output")).get("choices")) or [{}]
    return mapping(mapping(choices[0]).get("message"))


def _text_and_calls(message: dict[str, Any]) -> tuple[str, str]:
    """Return a message's content and its calls as texts, for comparison with other messages."""
    content = message.get("content")
    calls = [each for each in listed(message.get("tool_calls")) if isinstance(each, dict)]
    pairs = [(each.get("function"), each.get("arguments")) for each in calls]
    return plain_text(content) or str(content), repr(pairs)


def _with_texts(value: Any, texts: dict[str, Any]) -> Any:
    """Return a value with texts in place of references to attachments; `texts` has them by id."""
    match value:
        case str() if value.startswith(_ATTACHMENT):
            return texts.get(value.removeprefix(_ATTACHMENT), value)
        case list():
            return [_with_texts(item, texts) for item in value]
        case dict():
            return {key: _with_texts(item, texts) for key, item in value.items()}
        case _:
            return value
