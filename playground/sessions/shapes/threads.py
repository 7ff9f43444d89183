"""Threads of OpenAI's Assistants API: what many small requests said to one thread, as one session.

A thread is filled by a request for each message, run, and poll, so the same message may come in
several answers: it is read once, by its id. https://platform.openai.com/docs/api-reference/threads
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from playground.recordings.decoding import decode_stream
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.shapes.fields import listed, mapping, text_of
from playground.sessions.shapes.messages import read_message
from playground.sessions.shapes.parts import read_parts, result_value
from playground.sessions.shapes.requests import read_recording

_ADDRESS: Final = re.compile(r"/(?:v1|openai)/threads(?=[/?]|$)(?:/(?!runs\b)([^/?]+))?")
_IDS: Final = re.compile(rb'"((?:msg|run)_\w+)"')


class Sent(Protocol):
    """An exchange, of which a thread needs this much."""

    request: dict[str, Any] | None
    response: bytes
    place: Place
    url: str

    @property
    def reply(self) -> dict[str, Any] | None: ...


def is_of_thread(url: str) -> bool:
    """Return True if an address is that of a thread or of something in one."""
    return _ADDRESS.search(url) is not None


def read_threads(exchanges: Iterable[Sent], title: str) -> Iterator[SessionBuilder]:
    """Yield a session for each thread, in the order in which they were begun."""
    threads: dict[str, list[Sent]] = {}
    for exchange in exchanges:
        threads.setdefault(_thread_of(exchange), []).append(exchange)
    for number, found in enumerate(threads.values(), 1):
        name = title if len(threads) == 1 else f"{title} {number}"
        yield _Thread(SessionBuilder(title=name)).read(found)


def _thread_of(exchange: Sent) -> str:
    """Return a thread's id: in the address, or, where it is made, in the answer."""
    named, reply = _ADDRESS.search(exchange.url), exchange.reply or {}
    if named is not None and named[1]:
        return named[1]
    told = re.search(rb'"(thread_\w+)"', exchange.response)
    return str(reply.get("thread_id") or reply.get("id") or (told and told[1].decode()) or "")


@dataclass
class _Thread:
    builder: SessionBuilder
    known: set[str] = field(default_factory=set)  # ids of messages, calls and runs that were read
    answers: dict[str, int] = field(default_factory=dict)  # id of a run → its last message
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)  # as they were told of last

    def read(self, exchanges: list[Sent]) -> SessionBuilder:
        self._instructions(exchanges)
        for exchange in exchanges:
            before = len(self.builder.messages), self.builder.kept.lost
            self._asked(exchange)
            self._answered(exchange)
            if not exchange.response.strip() and before == (len(self.builder.messages), before[1]):
                self.builder.lost("a request without an answer", exchange.place)
        for key, run in self.runs.items():
            self._request(key, run)
        return self.builder

    def _instructions(self, exchanges: list[Sent]) -> None:
        """The first run's, before all messages: runs repeat them."""
        for exchange in exchanges:
            run = exchange.reply or {}
            if run.get("object") != "thread.run" and exchange.request is not None:
                run = exchange.request
            if text_of(run.get("instructions")):
                where = exchange.place.at("instructions")
                self.builder.say(
                    "system", read_parts(self.builder, run["instructions"], where), where
                )
                return

    def _asked(self, exchange: Sent) -> None:
        """Read the request's own content, unless its answer repeats it."""
        body, where = exchange.request or {}, exchange.place.at("request")
        thread = mapping(body.get("thread"))
        for index, value in enumerate(listed(body.get("messages") or thread.get("messages"))):
            read_message(self.builder, value, where.at("messages", index))
        for index, value in enumerate(listed(body.get("additional_messages"))):
            read_message(self.builder, value, where.at("additional_messages", index))
        if "role" in body and (exchange.reply or {}).get("object") != "thread.message":
            read_message(self.builder, body, where)
        results = [
            self.builder.result(value.get("tool_call_id"), value.get("output"))
            for value in map(mapping, listed(body.get("tool_outputs")))
        ]
        if results:
            self.builder.say("tool", results, where.at("tool_outputs"))

    def _answered(self, exchange: Sent) -> None:
        where, value = exchange.place.at("response"), exchange.reply
        if value is None:
            self._streamed(exchange, where)
        elif value.get("object") == "list":
            entries = list(enumerate(listed(value.get("data"))))
            for index, each in reversed(entries) if _newest_first(entries) else entries:
                self._object(mapping(each), where.at("data", index))
        else:
            self._object(value, where)

    def _streamed(self, exchange: Sent, where: Place) -> None:
        recording = decode_stream([exchange.response], name=self.builder.title)
        if recording.api:
            read_recording(self.builder, recording, where)
            self.known.update(each.decode() for each in _IDS.findall(exchange.response))

    def _object(self, value: dict[str, Any], where: Place) -> None:
        """Read one object of the API, unless it was read before."""
        kind, key = value.get("object"), str(value.get("id") or "")
        if kind == "thread.message" and key not in self.known:
            self.known.add(key)
            read_message(self.builder, value, where)
            if value.get("run_id") and value.get("role") == "assistant":
                self.answers[str(value["run_id"])] = len(self.builder.messages) - 1
        elif kind == "thread.run" and key not in self.known:
            if key not in self.runs:  # it is asked again and again how a run goes
                self.builder.tools(value.get("tools"), where.at("tools"))
            self.runs[key] = value
            action = mapping(mapping(value.get("required_action")).get("submit_tool_outputs"))
            self._calls(listed(action.get("tool_calls")), where.at("required_action"))
        elif kind == "thread.run.step":
            details = mapping(value.get("step_details"))
            self._calls(listed(details.get("tool_calls")), where.at("step_details"))

    def _calls(self, calls: list[Any], where: Place) -> None:
        """Calls that were not read yet, with their results where a step tells them."""
        fresh = [each for each in map(mapping, calls) if str(each.get("id")) not in self.known]
        self.known.update(str(each.get("id")) for each in fresh)
        parts = [self._call(each, where) for each in fresh]
        if parts:
            self.builder.say("assistant", parts, where)
        results = [
            self.builder.result(each.get("id"), result_value(output))
            for each in fresh
            if (output := _of_tool(each).get("output", _of_tool(each).get("outputs"))) is not None
        ]
        if results:
            self.builder.say("tool", results, where)

    def _call(self, value: dict[str, Any], where: Place) -> Any:
        inner = _of_tool(value)
        arguments = inner.get("arguments", inner.get("input", ""))
        if "name" not in inner and isinstance(arguments, str):
            arguments = {"input": arguments}
        return self.builder.call(
            value.get("id"), inner.get("name", value.get("type")), arguments, where
        )

    def _request(self, key: str, run: dict[str, Any]) -> None:
        self.builder.request(
            reply=self.answers.get(key, len(self.builder.messages) - 1),
            model=run.get("model"),
            usage=run.get("usage"),
            at=run.get("created_at"),
            stop_reason=run.get("status"),
        )


def _of_tool(value: dict[str, Any]) -> dict[str, Any]:
    """Return a call's content under its type's name: `function`, `code_interpreter` …"""
    return mapping(value.get(str(value.get("type"))))


def _newest_first(entries: list[tuple[int, Any]]) -> bool:
    times = [mapping(value).get("created_at") for _, value in entries]
    numbers = [at for at in times if isinstance(at, int)]
    return len(numbers) > 1 and numbers[0] > numbers[-1]
