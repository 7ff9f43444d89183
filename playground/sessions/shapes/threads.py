"""Read threads of OpenAI's Assistants API: many small requests about one thread, as one session.

Each message, run and poll is a request, so several answers may hold the same message. By its id, it
is read only once. https://platform.openai.com/docs/api-reference/threads
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


class ThreadExchange(Protocol):
    """The fields of an exchange that are needed to read a thread."""

    request: dict[str, Any] | None
    response: bytes
    place: Place
    url: str

    @property
    def reply(self) -> dict[str, Any] | None: ...


def is_of_thread(url: str) -> bool:
    """Return True for the address of a thread or of something in a thread."""
    return _ADDRESS.search(url) is not None


def read_threads(exchanges: Iterable[ThreadExchange], title: str) -> Iterator[SessionBuilder]:
    """Yield a session for each thread, in the order of their first exchanges."""
    threads: dict[str, list[ThreadExchange]] = {}
    for exchange in exchanges:
        threads.setdefault(_thread_of(exchange), []).append(exchange)
    for number, found in enumerate(threads.values(), 1):
        name = title if len(threads) == 1 else f"{title} {number}"
        yield _Thread(SessionBuilder(title=name)).read(found)


def _thread_of(exchange: ThreadExchange) -> str:
    """Return a thread's id from the address, or from the answer to the request that creates it."""
    address, reply = _ADDRESS.search(exchange.url), exchange.reply or {}
    if address is not None and address[1]:
        return address[1]
    match = re.search(rb'"(thread_\w+)"', exchange.response)
    return str(reply.get("thread_id") or reply.get("id") or (match and match[1].decode()) or "")


@dataclass
class _Thread:
    """A thread that is being read from its exchanges."""

    builder: SessionBuilder
    read_ids: set[str] = field(default_factory=set)  # ids of messages, calls and runs
    answers: dict[str, int] = field(default_factory=dict)  # id of a run → its last message
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)  # id → its last state

    def read(self, exchanges: list[ThreadExchange]) -> SessionBuilder:
        self._read_instructions(exchanges)
        for exchange in exchanges:
            count = len(self.builder.messages)
            self._read_request(exchange)
            self._read_response(exchange)
            if not exchange.response.strip() and count == len(self.builder.messages):
                self.builder.note_loss("a request without an answer", exchange.place)
        for run_id, run in self.runs.items():
            self._add_request(run_id, run)
        return self.builder

    def _read_instructions(self, exchanges: list[ThreadExchange]) -> None:
        """Read the first run's instructions as the system prompt; later runs repeat them."""
        for exchange in exchanges:
            run = exchange.reply or {}
            if run.get("object") != "thread.run" and exchange.request is not None:
                run = exchange.request
            if text_of(run.get("instructions")):
                where = exchange.place.at("instructions")
                self.builder.add_message(
                    "system", read_parts(self.builder, run["instructions"], where), where
                )
                return

    def _read_request(self, exchange: ThreadExchange) -> None:
        """Read the messages and results in a request, except a message that its answer repeats."""
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
            self.builder.add_message("tool", results, where.at("tool_outputs"))

    def _read_response(self, exchange: ThreadExchange) -> None:
        where, value = exchange.place.at("response"), exchange.reply
        if value is None:
            self._read_stream(exchange, where)
        elif value.get("object") == "list":
            entries = list(enumerate(listed(value.get("data"))))
            for index, each in reversed(entries) if _newest_first(entries) else entries:
                self._read_object(mapping(each), where.at("data", index))
        else:
            self._read_object(value, where)

    def _read_stream(self, exchange: ThreadExchange, where: Place) -> None:
        recording = decode_stream([exchange.response], name=self.builder.title)
        if recording.api:
            read_recording(self.builder, recording, where)
            self.read_ids.update(each.decode() for each in _IDS.findall(exchange.response))

    def _read_object(self, value: dict[str, Any], where: Place) -> None:
        """Read one object of the API, unless it was read before."""
        kind, key = value.get("object"), str(value.get("id") or "")
        if kind == "thread.message" and key not in self.read_ids:
            self.read_ids.add(key)
            read_message(self.builder, value, where)
            if value.get("run_id") and value.get("role") == "assistant":
                self.answers[str(value["run_id"])] = len(self.builder.messages) - 1
        elif kind == "thread.run" and key not in self.read_ids:
            if key not in self.runs:  # clients poll a run many times
                self.builder.add_tools(value.get("tools"), where.at("tools"))
            self.runs[key] = value
            action = mapping(mapping(value.get("required_action")).get("submit_tool_outputs"))
            self._read_calls(listed(action.get("tool_calls")), where.at("required_action"))
        elif kind == "thread.run.step":
            details = mapping(value.get("step_details"))
            self._read_calls(listed(details.get("tool_calls")), where.at("step_details"))

    def _read_calls(self, calls: list[Any], where: Place) -> None:
        """Read the new calls, with their results in the step."""
        new = [each for each in map(mapping, calls) if str(each.get("id")) not in self.read_ids]
        self.read_ids.update(str(each.get("id")) for each in new)
        parts = [self._call(each, where) for each in new]
        if parts:
            self.builder.add_message("assistant", parts, where)
        results = [
            self.builder.result(each.get("id"), result_value(output))
            for each in new
            if (output := _of_tool(each).get("output", _of_tool(each).get("outputs"))) is not None
        ]
        if results:
            self.builder.add_message("tool", results, where)

    def _call(self, value: dict[str, Any], where: Place) -> Any:
        inner = _of_tool(value)
        arguments = inner.get("arguments", inner.get("input", ""))
        if "name" not in inner and isinstance(arguments, str):
            arguments = {"input": arguments}
        return self.builder.call(
            value.get("id"), inner.get("name", value.get("type")), arguments, where
        )

    def _add_request(self, run_id: str, run: dict[str, Any]) -> None:
        self.builder.add_request(
            reply=self.answers.get(run_id, len(self.builder.messages) - 1),
            model=run.get("model"),
            usage=run.get("usage"),
            at=run.get("created_at"),
            stop_reason=run.get("status"),
        )


def _of_tool(value: dict[str, Any]) -> dict[str, Any]:
    """Return a call's content, whose field is named by its type: `function`, `code_interpreter`
    …"""
    return mapping(value.get(str(value.get("type"))))


def _newest_first(entries: list[tuple[int, Any]]) -> bool:
    times = [mapping(value).get("created_at") for _, value in entries]
    numbers = [at for at in times if isinstance(at, int)]
    return len(numbers) > 1 and numbers[0] > numbers[-1]
