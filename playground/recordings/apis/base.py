"""The common part of every API's reader: it collects chunks and numbers calls."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from playground.recordings.recording import (
    OF_PROVIDER,
    SECOND_RESPONSE,
    Chunk,
    ReasoningChunk,
    SignalChunk,
    TextChunk,
    ToolCallChunk,
)


class Sink:
    """Collects the chunks of one stream; `at` is the time of the frame being read."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self.at = 0.0
        self.timed = False  # arrival times are given: the wire's own do not count
        self.own_times = False
        self.model = ""
        self.stop_reason = ""
        self.usage: dict[str, Any] | None = None
        self.diagnostics: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self._calls: dict[Any, int] = {}
        self._count = 0
        self._empty: set[Any] = set()  # calls without any arguments so far
        self._open: set[Any] = set()  # calls whose end no sign of the API has told
        self.others: dict[int, Sink] = {}  # choices after the first

    def choice(self, index: Any) -> Sink:
        """Return the sink of a choice's chunks; without a number it is the first: this sink."""
        if not index or not isinstance(index, int):
            return self
        other = self.others.setdefault(index, Sink())
        other.at = self.at
        return other

    def text(self, text: str) -> None:
        """More of the reply. Raises TypeError where the wire has something else than text."""
        if type(text) is not str:
            raise TypeError("text")
        self.chunks.append(TextChunk(text, self.at))

    def reasoning(self, text: str) -> None:
        """More reasoning. Raises TypeError where the wire has something else than text."""
        if type(text) is not str:
            raise TypeError("reasoning")
        self.chunks.append(ReasoningChunk(text, self.at))

    def signal(self, name: str) -> None:
        self.chunks.append(SignalChunk(name, self.at))

    def of_provider(self, part: dict[str, Any]) -> None:
        """Add the result of a tool that the provider ran itself: part of the reply, not of its
        text.
        """
        self.signal(OF_PROVIDER + json.dumps(part, ensure_ascii=False))

    def call(
        self,
        key: Any,
        arguments: str = "",
        *,
        name: str = "",
        call_id: str = "",
        new: bool = False,
        custom: bool = False,
        done: bool = False,
        server: bool = False,
    ) -> None:
        """More of the call that the API's deltas name `key`; `new`, or a new key, opens one, and
        with `done` it is whole. With `server` the provider runs its tool itself."""
        if not (type(arguments) is type(name) is type(call_id) is str):
            raise TypeError("call")
        delta: dict[str, Any] = {}
        if new or key not in self._calls:
            self._empty.add(key)
            self._open.add(key)
            self._calls[key] = self._count
            self._count += 1
        delta["index"] = self._calls[key]
        if call_id:
            delta["id"] = call_id
        if custom:
            delta["type"] = "custom"
        if server:
            delta["server"] = True
        if done:
            delta["done"] = True
            self._open.discard(key)
        delta["function"] = (
            {"name": name, "arguments": arguments} if name else {"arguments": arguments}
        )
        if arguments or custom:
            self._empty.discard(key)
        self.chunks.append(ToolCallChunk(delta, self.at))

    def end_call(self, key: Any) -> None:
        """Note that the API says here that this call is complete.

        A call without arguments gets `{}`, since a call that broke off before its arguments looks
        the same.
        """
        if key in self._open:
            self.call(key, "{}" if key in self._empty else "", done=True)

    def end_calls(self) -> None:
        """Note the reply's end by a sign that some servers send early.

        Calls keep the arguments they have, but stay open for what may follow.
        """
        for key in sorted(self._empty, key=str):
            self.call(key, "{}")

    def has_call(self, key: Any) -> bool:
        return key in self._calls

    def forget_calls(self) -> None:
        """Begin a second response: its calls are numbered on, its keys are its own."""
        self._calls.clear()
        self._empty.clear()
        self._open.clear()

    def add_usage(self, usage: Any) -> None:
        """Later figures replace earlier ones, field by field."""
        if isinstance(usage, dict) and usage:
            given = {key: value for key, value in usage.items() if value is not None}
            self.usage = {**(self.usage or {}), **given}

    def diagnose(self, diagnostics: Any) -> None:
        """Keep what the provider says of its cache, as it sent it."""
        if isinstance(diagnostics, dict):
            self.diagnostics = diagnostics

    def fail(self, error: Any) -> None:
        """Note an error in mid-stream, as the provider sent it: there is no stop reason."""
        self.error = error if isinstance(error, dict) else {"message": str(error)}
        self.stop_reason = ""
        self.signal("error")

    def second_response(self) -> None:
        self.forget_calls()
        self.signal(SECOND_RESPONSE)


class ApiReader(ABC):
    """Reads the frames of one API. `names` are what `recognises` may say."""

    name: ClassVar[str]

    def __init__(self, sink: Sink) -> None:
        self.sink = sink

    @staticmethod
    @abstractmethod
    def recognises(value: dict[str, Any]) -> bool:
        """Return True if a frame's value is one of this API."""

    @abstractmethod
    def read(self, value: dict[str, Any]) -> None:
        """Take one frame."""

    def finish(self) -> None:
        """End the stream: give out what was held back."""
        return
