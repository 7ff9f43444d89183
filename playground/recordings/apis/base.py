"""The base of every API's reader, and the sink that collects chunks and numbers calls."""

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
    """A collector of one stream's chunks; `at` is the time of the frame being read."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self.at = 0.0
        self.timed = False  # True if the arrival times are known; `at` is then one of them
        self.own_times = False  # True if the frames themselves have times
        self.model = ""
        self.stop_reason = ""
        self.usage: dict[str, Any] | None = None
        self.diagnostics: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self._calls: dict[Any, int] = {}
        self._count = 0
        self._empty: set[Any] = set()  # calls without any arguments so far
        self._open: set[Any] = set()  # calls whose end the API has not announced
        self.others: dict[int, Sink] = {}  # choices after the first

    def choice(self, index: Any) -> Sink:
        """Return the sink of a choice; for the first choice, or without a number, this sink."""
        if not index or not isinstance(index, int):
            return self
        sink = self.others.setdefault(index, Sink())
        sink.at = self.at
        return sink

    def text(self, text: str) -> None:
        """Add text of the reply. Raises TypeError if it is not a str."""
        if type(text) is not str:
            raise TypeError("text")
        self.chunks.append(TextChunk(text, self.at))

    def reasoning(self, text: str) -> None:
        """Add reasoning. Raises TypeError if it is not a str."""
        if type(text) is not str:
            raise TypeError("reasoning")
        self.chunks.append(ReasoningChunk(text, self.at))

    def signal(self, name: str) -> None:
        self.chunks.append(SignalChunk(name, self.at))

    def add_provider_part(self, part: dict[str, Any]) -> None:
        """Add something of the provider's own, such as a call or a result of its tool, or a
        compaction; it is no text of the reply."""
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
        """Add to the call with this `key` in the API's deltas. A new key, or `new`, opens a call.

        With `custom` the arguments are free text, not JSON; with `server` the provider runs the
        tool; `done` completes the call. Raises TypeError if arguments, name or id are not a str.
        """
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
        """Complete a call whose end the API announces. A call without arguments gets `{}`, because
        it would otherwise look as if it broke off before them."""
        if key in self._open:
            self.call(key, "{}" if key in self._empty else "", done=True)

    def end_calls(self) -> None:
        """Give `{}` to all calls without arguments, because the reply has ended. The calls stay
        open, because some servers announce the end too early."""
        for key in sorted(self._empty, key=str):
            self.call(key, "{}")

    def has_call(self, key: Any) -> bool:
        return key in self._calls

    def forget_calls(self) -> None:
        """Forget the calls' keys, which a second response may reuse; the numbering continues."""
        self._calls.clear()
        self._empty.clear()
        self._open.clear()

    def add_usage(self, usage: Any) -> None:
        """Add usage figures; later ones replace earlier ones, field by field."""
        if isinstance(usage, dict) and usage:
            counts = {key: value for key, value in usage.items() if value is not None}
            self.usage = {**(self.usage or {}), **counts}

    def set_diagnostics(self, diagnostics: Any) -> None:
        """Store the provider's diagnosis of its cache, as it was sent."""
        if isinstance(diagnostics, dict):
            self.diagnostics = diagnostics

    def fail(self, error: Any) -> None:
        """Store an error that the provider sent in the stream; it replaces the stop reason."""
        self.error = error if isinstance(error, dict) else {"message": str(error)}
        self.stop_reason = ""
        self.signal("error")

    def second_response(self) -> None:
        """Note that another response begins in the same stream."""
        self.forget_calls()
        self.signal(SECOND_RESPONSE)


class ApiReader(ABC):
    """A reader of one API's frames; `name` is what `decode_stream(…, api=…)` calls the API."""

    name: ClassVar[str]

    def __init__(self, sink: Sink) -> None:
        self.sink = sink

    @staticmethod
    @abstractmethod
    def recognises(value: dict[str, Any]) -> bool:
        """Return True if `value` is a frame of this API."""

    @abstractmethod
    def read(self, value: dict[str, Any]) -> None:
        """Add one frame's content to the sink."""

    def finish(self) -> None:
        """End the stream, and add everything that was held back."""
        return
