"""Read events of OpenHands' agent SDK (V1): a list, lines, or one file each in a folder or zip.

https://github.com/OpenHands/software-agent-sdk, `openhands/sdk/event`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from playground.nouns.messages import Part
from playground.plugins.importers.shapes.compactions import set_history
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import Entry, read_lines
from playground.sessions.shapes.fields import listed, mapping, text_of
from playground.sessions.shapes.messages import read_message
from playground.sessions.shapes.parts import read_parts, result_value
from playground.sessions.source import Source

_KINDS: Final = {"SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent"}
_QUIET: Final = {  # kinds of events that may add nothing to a session
    "CondensationRequest", "ConversationErrorEvent", "ConversationStateUpdateEvent",
    "LLMCompletionLogEvent", "PauseEvent", "TokenEvent",
}  # fmt: skip
_RESULTS: Final = {"AgentErrorEvent": "error", "UserRejectObservation": "rejection_reason"}
_MOST_EVENTS: Final = 12  # the number of events that are checked to recognise a file


class OpenHandsSdk(SessionFormat):
    name = "openhands-sdk"
    title = "Events of OpenHands' agent SDK (V1)"
    keeps = Keeps(
        tools="by name", times="yes", missing="the file has no usage; state changes are not read"
    )

    def recognises(self, source: Source) -> bool:
        if source.is_folder or source.is_zip:
            return any(_is_event(each.document) for _, each in _members(source)[:_MOST_EVENTS])
        values = source.head if source.is_lines else source.document
        return isinstance(values, list) and any(map(_is_event, values[:_MOST_EVENTS]))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        reader = _Reader(SessionBuilder(title=source.stem))
        reader.builder.set_metadata(name="openhands")
        events: list[Entry] | None = None
        if source.is_folder or source.is_zip:
            members = enumerate(_members(source), 1)
            events = [(at, Place(field=name), each.value) for at, (name, each) in members]
        read_lines(source, reader.builder, reader.event, _QUIET, events)
        yield reader.builder


def _is_event(value: Any) -> bool:
    return isinstance(value, dict) and text_of(value.get("kind")) in _KINDS and "source" in value


def _members(source: Source) -> list[tuple[str, Source]]:
    """Return the files of events in a folder or zip, in the order of their names."""
    names = (name for name in sorted(source.members) if name.endswith(".json"))
    return [(n, source.members[n]) for n in names if n.rpartition("/")[2].startswith("event")]


@dataclass
class _Reader:
    """A session whose events are being read. `view` has the events that the next request holds."""

    builder: SessionBuilder
    answers: dict[str, int] = field(default_factory=dict)  # id of a model's answer → its message
    # the id of each event, and the indexes of its messages
    view: list[tuple[Any, Sequence[int]]] = field(default_factory=list)

    def event(self, value: dict[str, Any], place: Place) -> None:
        """Read one event, and add its id with its messages to `view`, because a condensation names
        events by id."""
        builder, start = self.builder, len(self.builder.messages)
        if value.get("kind") == "Condensation":
            self._condensation(value, place)
            return
        self._event(value, place)
        messages: Sequence[int] = range(start, len(builder.messages))
        answer = self.answers.get(text_of(value.get("llm_response_id")))
        if value.get("kind") == "ActionEvent" and not messages and answer is not None:
            messages = [answer]  # one of the calls in an answer that was read before
        if messages:
            self.view.append((value.get("id"), messages))

    def _condensation(self, value: dict[str, Any], place: Place) -> None:
        """Remove the events that a condensation forgets from the view, and insert its summary."""
        start = len(self.builder.messages)
        self.builder.add_compaction(value.get("timestamp"), place=place)
        if value.get("summary"):
            summary = {"role": "user", "content": value["summary"]}
            read_message(self.builder, summary, place.at("summary"))
        if isinstance(forgotten := value.get("forgotten_event_ids"), list):
            forgotten_ids = {each for each in forgotten if isinstance(each, str)}
            self.view = [each for each in self.view if text_of(each[0]) not in forgotten_ids]
            messages, offset = range(start, len(self.builder.messages)), value.get("summary_offset")
            self.view.insert(offset if type(offset) is int else 0, (None, messages))
            set_history(self.builder, dict.fromkeys(i for _, each in self.view for i in each))

    def _event(self, value: dict[str, Any], place: Place) -> None:
        kind = text_of(value.get("kind"))
        if kind == "SystemPromptEvent":
            self._system(value, place)
        elif kind == "MessageEvent":
            self._message(value, place)
        elif kind == "ActionEvent":
            self._action(value, place)
        elif kind == "ObservationEvent":
            output = mapping(value.get("observation"))
            content = output.get("content", output.get("output"))
            self._result(value, content, bool(output.get("is_error")), place.at("observation"))
        elif kind in _RESULTS:
            self._result(value, value.get(_RESULTS[kind]), kind == "AgentErrorEvent", place)

    def _system(self, value: dict[str, Any], place: Place) -> None:
        for key in ("system_prompt", "dynamic_context"):
            if value.get(key):
                where = place.at(key)
                self.builder.add_message(
                    "system", read_parts(self.builder, value[key], where), where
                )
        tools = [
            tool if not isinstance(tool, dict) or _SCHEMAS & tool.keys() else tool.get("title")
            for tool in listed(value.get("tools"))
        ]
        self.builder.add_tools(tools, place.at("tools"))

    def _message(self, value: dict[str, Any], place: Place) -> None:
        start = len(self.builder.messages)
        read_message(self.builder, value.get("llm_message"), place.at("llm_message"))
        if len(self.builder.messages) == start:
            return
        where = place.at("extended_content")
        if parts := read_parts(self.builder, value.get("extended_content"), where):
            self.builder.add_parts(parts)
        if self.builder.messages[-1].role == "assistant":
            self.builder.add_request(at=value.get("timestamp"))

    def _action(self, value: dict[str, Any], place: Place) -> None:
        """Read a call with the thought before it. Each of an answer's parallel calls is a separate
        event."""
        thought = {
            "role": "assistant",
            "content": value.get("thought"),
            "reasoning_content": value.get("reasoning_content"),
            "thinking_blocks": value.get("thinking_blocks"),
        }
        call, builder = mapping(value.get("tool_call")), self.builder
        arguments = call.get("arguments", value.get("action"))
        inner = mapping(call.get("function"))
        name = call.get("name") or inner.get("name") or value.get("tool_name")
        parts: list[Part] = [
            builder.call(
                value.get("tool_call_id") or call.get("id"),
                name,
                inner.get("arguments", arguments),
                place.at("tool_call"),
            )
        ]
        answer = str(value.get("llm_response_id") or "")
        index = self.answers.get(answer) if answer else None
        if index is None:
            read_message(builder, thought, place)
            index = len(builder.messages) - 1
            builder.add_request(at=value.get("timestamp"), reply=index)
            if answer:
                self.answers[answer] = index
        builder.add_parts(parts, index)

    def _result(self, value: dict[str, Any], content: Any, is_error: bool, place: Place) -> None:
        call_id, name = value.get("tool_call_id"), value.get("tool_name")
        result = self.builder.result(call_id, result_value(content), name, is_error=is_error)
        self.builder.add_message("tool", [result], place)


_SCHEMAS: Final = {"function", "parameters", "input_schema", "inputSchema"}
