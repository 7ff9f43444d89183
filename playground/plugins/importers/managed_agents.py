"""Read events of Anthropic's managed agents: lines or a list, also inside a dump of the client."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from playground.nouns.messages import Part
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import Entry, entries, is_quiet, kind_of, read_lines
from playground.sessions.shapes.fields import listed
from playground.sessions.shapes.parts import read_parts
from playground.sessions.source import Source

_PREFIXES: Final = ("agent.", "user.", "span.", "session.", "system.")
_CALL_ID_FIELDS: Final = ("tool_use_id", "mcp_tool_use_id", "custom_tool_use_id")  # of results


class ManagedAgents(SessionFormat):
    name = "managed-agent-events"
    title = "Anthropic managed agent events"
    keeps = Keeps(
        tools="in the line about the agent",
        times="yes",
        usage="yes",
        missing="states are not read; without the line about the agent, the file has no system "
        "prompt; thoughts may lack their text",
    )

    def recognises(self, source: Source) -> bool:
        return any(_event(value) is not None for value in _values(source)[:12])

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        log = _Log(source.stem)
        if source.is_lines:
            read_lines(source, log.main, log.line, _QUIET, map(_unwrap, entries(source)))
        else:
            for index, value in enumerate(_values(source)):
                before = replace(log.main.counter)
                if isinstance(value, dict):
                    log.line(value, Place(field=str(index)))
                if log.main.counter == before and not is_quiet(kind_of(value), _QUIET):
                    log.main.note_loss("an event of an unknown kind", Place(field=str(index)))
        yield from log.sessions()


_QUIET: Final = {  # kinds of events that may add nothing to a session
    "session.*", "span.*", "agent.thinking", "system", "agent", "user.interrupt",
    "user.tool_confirmation", "thread_status_*", "status_*", "model_request_*", "usage", "error",
    "outcome_evaluation_*", "user.sent", "thinking", "interrupt", "tool_confirmation",
}  # fmt: skip


def _values(source: Source) -> list[Any]:
    """Return the events of a document, or the first lines of a file of lines."""
    if source.is_lines:
        return source.head
    document = source.document
    if isinstance(document, dict):
        document = next((document[k] for k in ("data", "events") if k in document), None)
    return listed(document)


def _unwrap(entry: Entry) -> Entry:
    """Return the event in a line that is a list of two: a method and its result, as in a client's
    log.

    A method that sends the client's events is skipped, because the server sends each of them back.
    Any other line is returned unchanged.
    """
    match entry:
        case line, place, [str(), dict(event)]:
            return line, place.at(1), event
        case line, place, [str(), [str(), {"events": list()}]]:
            return line, place, {"type": "user.sent"}
    return entry


def _event(value: Any) -> dict[str, Any] | None:
    """Return the event in a line, even inside an entry of a client's log or of a dump; None if
    there is no event."""
    match value:
        case [str(), dict(event)]:
            value = event
    if not isinstance(value, dict):
        return None
    for found in (value, value.get("raw"), value.get("event"), value.get("data")):
        kind = found.get("type") if isinstance(found, dict) else None
        if isinstance(kind, str) and kind.startswith(_PREFIXES) and kind.partition(".")[2]:
            return found
    return None


class _Log:
    """A session's threads: the main agent's thread, and a thread for each agent that it called."""

    def __init__(self, title: str) -> None:
        self.main = SessionBuilder(title=title)
        self.main.set_metadata(name="anthropic-managed-agents")
        self._threads = {"": self.main}
        self._new_answer = True  # True if the model's next event begins an answer
        # usage and time of a request whose answer has not been read
        self._usage: tuple[Any, Any] | None = None

    def sessions(self) -> Iterator[SessionBuilder]:
        if self._usage is not None and self.main.messages:
            self.main.add_request(usage=self._usage[0], at=self._usage[1])
        yield from [b for b in self._threads.values() if b.messages] or [self.main]

    def line(self, value: dict[str, Any], place: Place) -> None:
        event = _event(value)
        if event is None:
            self._read_head(value, place)
            return
        speaker, _, kind = str(event["type"]).partition(".")
        at = event.get("processed_at") or value.get("time")
        if speaker in ("agent", "user"):
            self._message(self._thread(event), event, speaker, kind, at, place)
        elif kind == "model_request_start":
            self._new_answer = True
        elif kind == "model_request_end":
            self._request(event, at)
        elif kind == "error":
            self.main.note_loss(f"an error: {str(event.get('error'))[:80]}", place)

    def _read_head(self, value: dict[str, Any], place: Place) -> None:
        """Read the line about the agent: its prompt, tools and model."""
        agent = value.get("agent")
        if not isinstance(agent, dict):
            self.main.note_loss("a line without an event", place)
            return
        model = agent.get("model")
        model = model.get("id") if isinstance(model, dict) else model
        self.main.set_metadata(title=agent.get("name"), model=model, session=value.get("id"))
        if parts := read_parts(self.main, agent.get("system"), place.at("agent", "system")):
            self.main.add_message("system", parts, place.at("agent", "system"))
        own = [tool for tool in agent.get("tools") or () if "input_schema" in tool]
        self.main.add_tools(own, place.at("agent", "tools"))

    def _message(
        self,
        builder: SessionBuilder,
        event: dict[str, Any],
        speaker: str,
        kind: str,
        at: Any,
        place: Place,
    ) -> None:
        if kind.endswith("tool_result"):
            self._result(builder, event, place)
        elif kind.endswith("tool_use"):
            call = builder.call(event.get("id"), event.get("name"), event.get("input"), place)
            self._answer(builder, [call], at, place)
        elif kind == "thinking":
            parts = read_parts(builder, event.get("content") or event.get("thinking"), place)
            if parts:
                self._answer(builder, parts, at, place)
        elif speaker == "agent" and kind == "message":
            self._answer(builder, read_parts(builder, event.get("content"), place), at, place)
        elif kind.endswith("context_compacted"):
            builder.add_compaction(at, place=place)
        elif speaker == "user":
            self._user(builder, event, kind, place)

    def _thread(self, event: dict[str, Any]) -> SessionBuilder:
        key = str(event.get("session_thread_id") or "")
        if key not in self._threads:
            builder = SessionBuilder(title=f"{self.main.title} {key}", counter=self.main.counter)
            builder.set_metadata(
                name=self.main.agent.name, sub_agent=event.get("agent_name") or key
            )
            self._threads[key] = builder
        return self._threads[key]

    def _answer(self, builder: SessionBuilder, parts: list[Part], at: Any, place: Place) -> None:
        if self._new_answer:
            builder.add_message("assistant", parts, place)
        elif not builder.add_to_answer(parts, place):
            return
        self._new_answer = False
        usage, self._usage = self._usage, None
        builder.add_request(at=at, usage=usage[0] if usage else None)

    def _request(self, event: dict[str, Any], at: Any) -> None:
        """Set the usage of the last answer if it has none yet, or else keep it for the next answer.
        Usage that was kept before gets a record of its own, because its answer never came."""
        usage = event.get("model_usage") or event.get("usage")
        if not isinstance(usage, dict):
            return
        if self._usage is not None and self.main.messages:
            self.main.add_request(usage=self._usage[0], at=self._usage[1])
            self._usage = None
        last = self.main.requests[-1] if self.main.requests else None
        if self._new_answer or last is None or last.usage is not None:
            self._usage = usage, at
            return
        self.main.requests.pop()
        self.main.add_request(usage=usage, at=last.at, reply=last.reply, model=event.get("model"))

    def _result(self, builder: SessionBuilder, event: dict[str, Any], place: Place) -> None:
        call_id = next((event[key] for key in _CALL_ID_FIELDS if event.get(key)), "")
        result = {**event, "type": "tool_result", "tool_use_id": call_id}
        builder.add_message("tool", read_parts(builder, result, place), place)

    def _user(
        self, builder: SessionBuilder, event: dict[str, Any], kind: str, place: Place
    ) -> None:
        content = event.get("content") or event.get("description")
        if content:
            builder.add_message("user", read_parts(builder, content, place), place)
        elif kind not in ("interrupt", "tool_confirmation", "sent"):
            builder.note_loss(f"an event user.{kind} without content", place)
