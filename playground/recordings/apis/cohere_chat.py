"""Cohere v2 chat: the tool plan is the model's reasoning.

https://docs.cohere.com/v2/docs/streaming
"""

from __future__ import annotations

from typing import Any, Final

from playground.recordings.apis.base import ApiReader, Sink

_EVENTS: Final = {
    "message-start",
    "content-start",
    "content-delta",
    "content-end",
    "tool-plan-delta",
    "tool-call-start",
    "tool-call-delta",
    "tool-call-end",
    "citation-start",
    "citation-end",
    "message-end",
}


class CohereChat(ApiReader):
    name = "cohere-v2"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._started = False

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        return str(value.get("type")) in _EVENTS

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        before = len(sink.chunks)
        kind, delta = value.get("type"), value.get("delta") or {}
        message = delta.get("message") or {}
        if kind in ("content-start", "content-delta", "tool-plan-delta"):
            self._content(message)
        elif kind in ("tool-call-start", "tool-call-delta"):
            call = message.get("tool_calls") or {}
            function = call.get("function") or {}
            sink.call(
                value.get("index"),
                function.get("arguments") or "",
                name=function.get("name") or "",
                call_id=call.get("id") or "",
                new=kind == "tool-call-start",
            )
        elif kind == "tool-call-end":
            sink.end_call(value.get("index"))
        elif kind == "message-start":
            if self._started:
                sink.second_response()
            self._started = True
        elif kind == "message-end":
            sink.stop_reason = delta.get("finish_reason") or ""
            sink.add_usage(delta.get("usage"))
            if delta.get("error"):
                sink.fail(delta["error"])
        if len(sink.chunks) == before:
            sink.signal(str(kind))

    def _content(self, message: dict[str, Any]) -> None:
        content = message.get("content") or {}
        if thinking := message.get("tool_plan") or content.get("thinking"):
            self.sink.reasoning(thinking)
        if content.get("text"):
            self.sink.text(content["text"])
