"""Google's Interactions API: steps (until May 2026: contents) that start, grow and stop.

https://ai.google.dev/gemini-api/docs/interactions/streaming. A call's arguments come in pieces
(`arguments_delta`), or all at once in the step's start or, in the older form, in one delta.
"""

from __future__ import annotations

import json
from typing import Any, Final

from playground.recordings.apis.base import ApiReader, Sink

_KINDS: Final = ("interaction.", "step.", "content.")
_STARTS: Final = {"interaction.created", "interaction.start"}
_ENDS: Final = {"interaction.completed", "interaction.complete", "interaction.stop"}


class GeminiInteractions(ApiReader):
    name = "gemini-interactions"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._started = False
        self._streamed = False
        self._last: Any = None  # the open step, to which an event without an index belongs
        self._complete_arguments: dict[Any, str] = {}  # by step, until the step stops

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        return str(value.get("event_type", "")).startswith(_KINDS)

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        before = len(sink.chunks)
        kind = str(value.get("event_type"))
        interaction = value.get("interaction") or {}
        sink.model = sink.model or interaction.get("model") or ""
        if kind in ("step.delta", "content.delta"):
            self._delta(self._key(value), value.get("delta") or {})
        elif kind in ("step.start", "content.start"):
            self._start_step(self._key(value), value.get("step") or value.get("content") or {})
        elif kind in ("step.stop", "content.stop"):
            self._stop(self._key(value))
            sink.add_usage(value.get("usage"))
        elif kind in _STARTS:
            self._begin_interaction()
        elif kind in _ENDS:
            self._end(interaction)
        elif kind == "error" or value.get("error"):
            sink.fail(value.get("error") or value)
        if len(sink.chunks) == before:
            sink.signal(kind)
        elif kind not in _STARTS:
            self._streamed = True

    def _key(self, value: dict[str, Any]) -> Any:
        index = value.get("index")
        self._last = self._last if index is None else index
        return self._last

    def _begin_interaction(self) -> None:
        if self._started:
            self.sink.second_response()
            self._streamed = False
        self._started = True

    def _start_step(self, key: Any, step: dict[str, Any]) -> None:
        kind = str(step.get("type"))
        if kind.endswith("_call"):
            self._call(key, kind, step)
            return
        if text := step.get("text"):
            self.sink.text(text)
        for part in step.get("content") or ():
            if part.get("text"):
                self.sink.text(part["text"])
        for part in step.get("summary") or ():
            if part.get("text"):
                self.sink.reasoning(part["text"])

    def _call(self, key: Any, kind: str, call: dict[str, Any]) -> None:
        """Begin a call, unless it has begun, and store arguments that come complete."""
        name, call_id = call.get("name") or kind, call.get("id") or call.get("call_id") or ""
        arguments = call.get("arguments")
        if not self.sink.has_call(key) or (call_id and kind == "function_call"):
            self.sink.call(key, name=name, call_id=call_id, new=True)
        if arguments:
            is_text = isinstance(arguments, str)
            self._complete_arguments[key] = (
                arguments if is_text else json.dumps(arguments, ensure_ascii=False)
            )

    def _delta(self, key: Any, delta: Any) -> None:
        sink = self.sink
        if isinstance(delta, str):
            delta = {"text": delta}
        kind, content = str(delta.get("type", "text")), delta.get("content")
        if kind == "arguments_delta":
            self._complete_arguments.pop(key, None)
            sink.call(key, delta.get("arguments") or delta.get("partial_arguments") or "")
        elif kind.endswith("_call"):
            self._call(key, kind, delta)
        elif kind.startswith("thought"):
            text = content.get("text") if isinstance(content, dict) else delta.get("text")
            if text:
                sink.reasoning(text)
        elif kind == "text" and delta.get("text"):
            sink.text(delta["text"])

    def _stop(self, key: Any) -> None:
        if key in self._complete_arguments:
            self.sink.call(key, self._complete_arguments.pop(key))
        self.sink.end_call(key)

    def _end(self, interaction: dict[str, Any]) -> None:
        """Read the complete interaction; its steps are read only if none of them was streamed."""
        sink = self.sink
        steps = interaction.get("steps") or interaction.get("outputs") or ()
        for index, step in enumerate(() if self._streamed else steps):
            self._start_step(index, step)
        for key in list(self._complete_arguments):
            self._stop(key)
        sink.end_calls()
        sink.add_usage(interaction.get("usage"))
        if interaction.get("error") or interaction.get("status") == "failed":
            sink.fail(interaction.get("error") or {"message": "the interaction failed"})
        else:
            sink.stop_reason = interaction.get("status") or "completed"

    def finish(self) -> None:
        """Add complete arguments if the stream broke off before their step's stop."""
        for key, arguments in self._complete_arguments.items():
            self.sink.call(key, arguments)
