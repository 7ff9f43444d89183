"""Cohere v2 chat: the tool plan is the model's reasoning.

https://docs.cohere.com/v2/docs/streaming
"""

from __future__ import annotations

from typing import Any, Final

from playground.recordings.apis.base import ApiReader

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

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        return value.get("type") in _EVENTS

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        before = len(sink.chunks)
        kind, delta = value.get("type"), value.get("delta") or {}
        message = delta.get("message") or {}
        if kind in ("content-start", "content-delta"):
            content = message.get("content") or {}
            if content.get("thinking"):
                sink.reasoning(content["thinking"])
            if content.get("text"):
                sink.text(content["text"])
        elif kind == "tool-plan-delta" and message.get("tool_plan"):
            sink.reasoning(message["tool_plan"])
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
        elif kind == "message-end":
            sink.stop_reason = delta.get("finish_reason") or ""
            sink.add_usage(delta.get("usage"))
            if delta.get("error"):
                sink.fail(delta["error"])
        if len(sink.chunks) == before:
            sink.signal(str(kind))
