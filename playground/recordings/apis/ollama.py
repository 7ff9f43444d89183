"""Ollama's own APIs, `/api/chat` and `/api/generate`: JSON lines, each with its time of creation.

A call comes in one piece, with its arguments as an object
(https://github.com/ollama/ollama/blob/main/docs/api.md).
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final

from playground.recordings.apis.base import ApiReader, Sink

_USAGE: Final = (
    "prompt_eval_count",
    "eval_count",
    "total_duration",
    "load_duration",
    "prompt_eval_duration",
    "eval_duration",
)


class _Ollama(ApiReader):
    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._first: float | None = None
        self._count = 0

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        self._time(value.get("created_at"))
        if sink.stop_reason:  # a line after the one with `done`
            sink.second_response()
            sink.stop_reason = ""
        before = len(sink.chunks)
        sink.model = sink.model or value.get("model") or ""
        self._content(value)
        if value.get("error"):
            sink.fail(value["error"])
        elif value.get("done"):
            sink.stop_reason = value.get("done_reason") or "stop"
            sink.add_usage({key: value[key] for key in _USAGE if key in value})
        if len(sink.chunks) == before:
            sink.signal("done" if value.get("done") else "empty")

    def _content(self, value: dict[str, Any]) -> None:
        raise NotImplementedError

    def _time(self, created: Any) -> None:
        if self.sink.timed or not isinstance(created, str):
            return
        try:  # Ollama writes nanoseconds, a datetime holds microseconds
            moment = datetime.fromisoformat(_microseconds(created)).timestamp()
        except (ValueError, OverflowError):
            return
        if self._first is None:
            self._first = moment
        self.sink.at = max(self.sink.at, round(moment - self._first, 6))
        self.sink.own_times = True


class OllamaChat(_Ollama):
    name = "ollama-chat"

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        return isinstance(value.get("message"), dict) and "done" in value

    def _content(self, value: dict[str, Any]) -> None:
        message, sink = value.get("message") or {}, self.sink
        if message.get("thinking"):
            sink.reasoning(message["thinking"])
        if message.get("content"):
            sink.text(message["content"])
        for call in message.get("tool_calls") or ():
            function = call.get("function") or {}
            arguments = function.get("arguments")
            text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
            self._count += 1
            name = function.get("name") or ""
            call_id = call.get("id") or ""
            sink.call(self._count, text, name=name, call_id=call_id, new=True, done=True)


class OllamaGenerate(_Ollama):
    name = "ollama-generate"

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        return isinstance(value.get("response"), str) and "done" in value

    def _content(self, value: dict[str, Any]) -> None:
        if value.get("thinking"):
            self.sink.reasoning(value["thinking"])
        if value.get("response"):
            self.sink.text(value["response"])


def _microseconds(text: str) -> str:
    head, dot, tail = text.partition(".")
    digits = tail[: len(tail) - len(tail.lstrip("0123456789"))]
    return f"{head}{dot}{digits[:6]}{tail[len(digits) :]}" if dot else text
