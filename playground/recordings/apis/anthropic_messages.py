"""Read Anthropic's stream: content blocks that start, grow and stop.

https://docs.anthropic.com/en/docs/build-with-claude/streaming. A stream is complete when
`message_delta` has brought its stop reason, because LiteLLM hangs up before `message_stop`.
"""

from __future__ import annotations

import json
from typing import Any, Final

from playground.recordings.apis.base import ApiReader, Sink

_EVENTS: Final = {
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
}
_SERVER_CALLS: Final = {"server_tool_use", "mcp_tool_use"}
_CALLS: Final = {"tool_use", *_SERVER_CALLS}


class AnthropicMessages(ApiReader):
    name = "anthropic-messages"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._started = False
        self._input: dict[int, str] = {}  # complete arguments in a block's start

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        return str(value.get("type")) in _EVENTS

    def read(self, value: dict[str, Any]) -> None:
        kind = value.get("type")
        if kind == "content_block_delta":
            self._delta(value.get("index"), value.get("delta") or {})
            return
        sink = self.sink
        before = len(sink.chunks)
        match kind:
            case "content_block_start":
                self._start(value.get("index"), value.get("content_block") or {})
            case "content_block_stop":
                if value.get("index") in self._input:
                    sink.call(value["index"], self._input.pop(value["index"]))
                sink.end_call(value.get("index"))
            case "message_start":
                message = value.get("message") or {}
                if self._started:
                    sink.second_response()
                self._started = True
                sink.model = message.get("model") or sink.model
                sink.add_usage(message.get("usage"))
                sink.set_diagnostics(message.get("diagnostics"))
            case "message_delta":
                sink.add_usage(value.get("usage"))
                sink.set_diagnostics(value.get("diagnostics"))
                sink.stop_reason = (value.get("delta") or {}).get("stop_reason") or sink.stop_reason
            case "error":
                sink.fail(value.get("error") or value)
        if len(sink.chunks) == before:
            sink.signal(str(kind))

    def _delta(self, index: Any, delta: dict[str, Any]) -> None:
        sink = self.sink
        if text := delta.get("text"):
            sink.text(text)
        elif (arguments := delta.get("partial_json")) is not None:
            if arguments:
                self._input.pop(index, None)
                sink.call(index, arguments)
            else:
                sink.signal("input_json_delta")
        elif thinking := delta.get("thinking"):
            sink.reasoning(thinking)
        elif delta.get("type") == "compaction_delta" and delta.get("content"):
            sink.add_provider_part({"type": "compaction", "content": delta["content"]})
        else:
            sink.signal(str(delta.get("type", "content_block_delta")))

    def _start(self, index: Any, block: dict[str, Any]) -> None:
        sink = self.sink
        kind = block.get("type")
        if kind in _CALLS:
            name, call_id = block.get("name") or "", block.get("id") or ""
            sink.call(index, name=name, call_id=call_id, new=True, server=kind in _SERVER_CALLS)
            if block.get("input"):  # complete, unless deltas follow
                self._input[index] = json.dumps(block["input"], ensure_ascii=False)
        elif str(kind).endswith("_tool_result"):
            sink.add_provider_part(block)
        elif kind == "text" and block.get("text"):
            sink.text(block["text"])
        elif kind == "thinking" and block.get("thinking"):
            sink.reasoning(block["thinking"])

    def finish(self) -> None:
        for index, arguments in self._input.items():
            self.sink.call(index, arguments)
