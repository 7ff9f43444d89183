"""inspect_ai's logs: JSON, or `.eval`, a zip of samples; https://inspect.aisi.org.uk/eval-logs.html."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.base.errors import InputFault
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import (
    list_in,
    listed,
    mapping,
    object_in,
    told_list,
    told_mapping,
    told_objects,
)
from playground.sessions.shapes.messages import read_message
from playground.sessions.shapes.requests import only_one
from playground.sessions.source import Source

_ATTACHMENT: Final = "attachment://"


class InspectLog(SessionFormat):
    name = "inspect-log"
    title = "inspect_ai log (.eval or .json)"
    keeps = Keeps("of the first model event", "yes", "yes", "no", "scores, spans, sandbox events")

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
    texts = told_mapping(builder, sample.get("attachments"), place.at("attachments"))
    answers = _answers(builder, sample.get("events"), place.at("events"))
    within = place.at("messages")
    for index, given in enumerate(told_list(builder, sample.get("messages"), within)):
        message = _attached(given, texts)
        if isinstance(message, dict) and message.get("role") == "tool":
            message = {**message, "name": message.get("function")}
        before = len(builder.messages)
        read_message(builder, message, within.at(index))
        if len(builder.messages) > before and builder.messages[-1].role == "assistant":
            event = answers.get(str(message.get("id")), {})
            output = mapping(event.get("output"))
            choices = listed(output.get("choices")) or [{}]
            only_one(builder, choices, within.at(index))
            builder.request(
                model=message.get("model") or event.get("model"),
                at=event.get("timestamp"),
                seconds=output.get("time"),
                usage=output.get("usage"),
                stop_reason=mapping(choices[0]).get("stop_reason"),
            )
    for event in answers.values():
        builder.tools(_attached(event.get("tools"), texts), place.at("events"))
        break
    return builder


def _answers(builder: SessionBuilder, events: Any, place: Place) -> dict[str, dict[str, Any]]:
    """Model events by the id of the message that they gave."""
    found: dict[str, dict[str, Any]] = {}
    for where, event in told_objects(builder, events, place):
        if event.get("event") == "model":
            output = told_mapping(builder, event.get("output"), where.at("output"))
            within = where.at("output", "choices")
            choices = told_list(builder, output.get("choices"), within) or [{}]
            found[str(mapping(mapping(choices[0]).get("message")).get("id"))] = event
    return found


def _attached(value: Any, texts: dict[str, Any]) -> Any:
    """Return the value with long texts put back, which the log keeps once and apart."""
    match value:
        case str() if value.startswith(_ATTACHMENT):
            return texts.get(value.removeprefix(_ATTACHMENT), value)
        case list():
            return [_attached(item, texts) for item in value]
        case dict():
            return {key: _attached(item, texts) for key, item in value.items()}
        case _:
            return value
