"""inspect_ai's logs: JSON, or `.eval`, a zip of samples; https://inspect.aisi.org.uk/eval-logs.html."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.wording import counted
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
from playground.sessions.shapes.parts import plain_text
from playground.sessions.shapes.requests import only_one
from playground.sessions.source import Source

_ATTACHMENT: Final = "attachment://"


class InspectLog(SessionFormat):
    name = "inspect-log"
    title = "inspect_ai log (.eval or .json)"
    keeps = Keeps("of the first model event", "yes", "yes", "no", "scores, spans, sandbox events")
    left_aside = {
        **{
            path: "scores: what a grader was asked and said"
            for path in ("**.scores", "**.score", "reductions", "results", "**.target")
        },
        "**.model_usage": "sums of the model calls",
        "**.changes": "changes of the sample's state, which repeat what events tell",
        "**.error": "errors of the run",
        "eval": "settings of the evaluation",
        "plan": "settings of the evaluation",
        "**.view": "how a call is shown",
        "**.sample": "the sample as it was set",
        r"^(?:attachment|tc)://[\w-]+$": "the address of a text that stands elsewhere",
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
    texts = told_mapping(builder, sample.get("attachments"), place.at("attachments"))
    within = place.at("events")
    calls = _ModelCalls(builder, _attached(sample.get("events"), texts), within)
    where = place.at("messages")
    for index, given in enumerate(told_list(builder, sample.get("messages"), where)):
        message = _attached(given, texts)
        if isinstance(message, dict) and message.get("role") == "tool":
            message = {**message, "name": message.get("function")}
        before = len(builder.messages)
        read_message(builder, message, where.at(index))
        if len(builder.messages) > before and builder.messages[-1].role == "assistant":
            event = calls.that_gave(message)
            output = mapping(event.get("output"))
            choices = listed(output.get("choices")) or [{}]
            only_one(builder, choices, where.at(index))
            builder.request(
                model=message.get("model") or event.get("model"),
                at=event.get("timestamp"),
                seconds=output.get("time"),
                usage=output.get("usage"),
                stop_reason=mapping(choices[0]).get("stop_reason"),
            )
    builder.tools(calls.tools, within)
    if calls.tell_of_others(builder, within) and texts:
        builder.lost("long texts that those calls alone refer to", place.at("attachments"))
    return builder


class _ModelCalls:
    """The model events of a sample, each found by the message that it gave: by its id, or else,
    as ids may be absent, by what it says."""

    def __init__(self, builder: SessionBuilder, events: Any, place: Place) -> None:
        self._by_id: dict[str, dict[str, Any]] = {}
        self._others: list[dict[str, Any]] = []
        self.tools: Any = None
        for where, event in told_objects(builder, events, place):
            if event.get("event") == "model":
                self._take(builder, event, where.at("output"))

    def _take(self, builder: SessionBuilder, event: dict[str, Any], where: Place) -> None:
        output = told_mapping(builder, event.get("output"), where)
        told_list(builder, output.get("choices"), where.at("choices"))
        self.tools = self.tools or event.get("tools")
        call_id = _message_of(event).get("id")
        if call_id and call_id not in self._by_id:
            self._by_id[str(call_id)] = event
        else:
            self._others.append(event)

    def that_gave(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the event that gave a message, once; {} where there is none."""
        by_id = self._by_id.pop(str(message.get("id")), None)
        if by_id is not None:
            return by_id
        said = _said(message)
        for index, event in enumerate(self._others):
            if _said(_message_of(event)) == said:
                return self._others.pop(index)
        return {}

    def tell_of_others(self, builder: SessionBuilder, place: Place) -> bool:
        """Tell of the calls whose answers are no messages: a grader's, say, or one of a branch.
        Return True if there are."""
        others = [*self._by_id.values(), *self._others]
        if others:
            used = [mapping(mapping(event.get("output")).get("usage")) for event in others]
            tokens = sum(n for each in used if type(n := each.get("total_tokens")) is int)
            calls = f"{counted(len(others), 'model call')} (a grader's, say), {tokens:,} tokens"
            builder.lost(f"{calls}: the answers are no messages of this sample", place)
        return bool(others)


def _message_of(event: dict[str, Any]) -> dict[str, Any]:
    choices = listed(mapping(event.get("output")).get("choices")) or [{}]
    return mapping(mapping(choices[0]).get("message"))


def _said(message: dict[str, Any]) -> tuple[str, str]:
    """Return what a message says and calls, to be compared."""
    content = message.get("content")
    calls = [(each.get("function"), each.get("arguments")) for each in _calls(message)]
    return plain_text(content) or str(content), repr(calls)


def _calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in listed(message.get("tool_calls")) if isinstance(each, dict)]


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
