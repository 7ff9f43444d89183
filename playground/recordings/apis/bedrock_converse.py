"""Bedrock `ConverseStream`: one key per event, binary on the wire, JSON lines in most dumps.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from __future__ import annotations

from typing import Any, Final

from playground.recordings.apis.base import ApiReader, Sink

_EVENTS: Final = {
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
    "amazon-bedrock-invocationMetrics",
}


class BedrockConverse(ApiReader):
    name = "bedrock-converse"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._started = False

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        events = _EVENTS & value.keys()
        if not events and len(value) == 1:  # an error before anything else
            ((key, inner),) = value.items()
            return key.endswith("Exception") and isinstance(inner, dict)
        inner = value.get("metadata")
        if events == {"metadata"}:  # a name that other APIs use too
            return isinstance(inner, dict) and bool({"usage", "metrics", "trace"} & inner.keys())
        return bool(events)

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        before = len(sink.chunks)
        for key, inner in value.items():
            if isinstance(inner, dict):
                self._event(key, inner)
        if len(sink.chunks) == before:
            sink.signal(next(iter(value), "empty"))

    def _event(self, key: str, inner: dict[str, Any]) -> None:
        sink = self.sink
        index = inner.get("contentBlockIndex")
        match key:
            case "contentBlockDelta":
                self._delta(index, inner.get("delta") or {})
            case "contentBlockStart":
                if use := (inner.get("start") or {}).get("toolUse"):
                    name, call_id = use.get("name") or "", use.get("toolUseId") or ""
                    sink.call(index, name=name, call_id=call_id, new=True)
            case "contentBlockStop":
                sink.end_call(index)
            case "messageStart":
                if self._started:
                    sink.second_response()
                self._started = True
            case "messageStop":
                sink.stop_reason = inner.get("stopReason") or ""
            case "metadata":
                sink.add_usage(inner.get("usage"))
            case _ if key.endswith("Exception"):
                sink.fail({"type": key, **inner})

    def _delta(self, index: Any, delta: dict[str, Any]) -> None:
        sink = self.sink
        if delta.get("text"):
            sink.text(delta["text"])
        elif use := delta.get("toolUse"):
            sink.call(index, use.get("input") or "")
        elif (reasoning := delta.get("reasoningContent")) and reasoning.get("text"):
            sink.reasoning(reasoning["text"])
