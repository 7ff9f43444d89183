"""Cohere v1 (chat, generate), and Command on Bedrock: JSON lines, each with `is_finished`.

https://docs.cohere.com/v1/docs/streaming. The last line repeats the whole answer. Its text and
calls are read only if earlier lines did not bring them.
"""

from __future__ import annotations

import json
from typing import Any, Final

from playground.recordings.apis.base import ApiReader, Sink

_EVENTS: Final = {
    "stream-start",
    "text-generation",
    "tool-calls-chunk",
    "tool-calls-generation",
    "citation-generation",
    "search-queries-generation",
    "search-results",
    "stream-end",
}


class CohereV1(ApiReader):
    name = "cohere-v1"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._streamed: set[Sink] = set()  # choices whose text came in pieces
        self._begun = False

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        is_event = str(value.get("event_type")) in _EVENTS
        return is_event or isinstance(value.get("is_finished"), bool)

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        before = len(sink.chunks)
        kind = str(value.get("event_type") or "text-generation")
        self._begin(kind)
        response = value.get("response") or {}
        into = sink.choice(value.get("index"))
        if value.get("is_finished") or kind == "stream-end":
            self._end(value, response, into)
        elif kind == "text-generation" and value.get("text"):
            into.text(value["text"])
            self._streamed.add(into)
        elif kind == "tool-calls-chunk":
            self._piece(value.get("tool_call_delta") or {}, value.get("text"))
        elif kind == "tool-calls-generation":
            self._calls(value.get("tool_calls"))
        if value.get("error"):
            sink.fail(value["error"])
        if len(sink.chunks) == before:
            sink.signal(kind)

    def _begin(self, kind: str) -> None:
        """Begin a second response after an end, or at a second start."""
        sink = self.sink
        if sink.stop_reason or (self._begun and kind == "stream-start"):
            sink.second_response()
            sink.stop_reason = ""
            self._streamed.clear()
        self._begun = True

    def _end(self, value: dict[str, Any], response: dict[str, Any], into: Sink) -> None:
        whole = value.get("text") or response.get("text")
        if whole and into not in self._streamed:
            into.text(whole)
        self._calls(response.get("tool_calls"))
        self.sink.end_calls()
        reason = value.get("finish_reason") or response.get("finish_reason")
        into.stop_reason = reason or "COMPLETE"
        meta = response.get("meta") or {}
        self.sink.add_usage(meta.get("tokens") or meta.get("billed_units"))
        self.sink.add_usage(response.get("token_count"))

    def _piece(self, delta: dict[str, Any], plan: Any) -> None:
        sink = self.sink
        if plan:
            sink.reasoning(plan)
        if delta:
            sink.call(delta.get("index") or 0, delta.get("parameters") or "", name=_name(delta))

    def _calls(self, calls: Any) -> None:
        """Add complete calls that were not streamed before."""
        for index, call in enumerate(calls or ()):
            if not self.sink.has_call(index):
                arguments = json.dumps(call.get("parameters") or {}, ensure_ascii=False)
                self.sink.call(index, arguments, name=_name(call), new=True)


def _name(call: dict[str, Any]) -> str:
    return call.get("name") or ""
