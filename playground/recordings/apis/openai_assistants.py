"""OpenAI Assistants: each event has one object of a run; messages and steps come as deltas.

https://platform.openai.com/docs/api-reference/assistants-streaming/events. A run that waits for
tools ends the stream; the run that goes on with their results is a second response.
"""

from __future__ import annotations

from typing import Any, Final

from playground.recordings.apis.base import ApiReader, Sink

_ENDS: Final = {"completed", "incomplete", "requires_action", "failed", "cancelled", "expired"}


class OpenAIAssistants(ApiReader):
    name = "openai-assistants"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._seen_messages: set[str] = set()  # messages whose text came in pieces

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        kind = value.get("object")
        return isinstance(kind, str) and (kind == "thread" or kind.startswith("thread."))

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        before = len(sink.chunks)
        match value.get("object"):
            case "thread.message.delta":
                self._seen_messages.add(str(value.get("id")))
                self._text(value["delta"].get("content"))
            case "thread.message" if str(value.get("id")) not in self._seen_messages:
                if value.get("role") != "user":
                    self._text(value.get("content"))
            case "thread.run.step.delta":
                details = value["delta"].get("step_details") or {}
                for call in details.get("tool_calls") or ():
                    self._call(call, call.get("index"))
            case "thread.run":
                self._run(value)
        if value.get("error"):
            sink.fail(value["error"])
        if len(sink.chunks) == before:
            sink.signal(f"{value.get('object')} {value.get('status') or ''}".rstrip())

    def _text(self, content: Any) -> None:
        for part in [content] if isinstance(content, dict) else content or ():
            text = part.get("text") or part.get("refusal")
            value = text.get("value") if isinstance(text, dict) else text
            if value:
                self.sink.text(value)

    def _call(self, call: dict[str, Any], key: Any) -> None:
        """Add to a function's call; of a tool that the provider runs, note only its type."""
        sink, function = self.sink, call.get("function")
        if not isinstance(function, dict):
            sink.signal(str(call.get("type") or "call"))
            return
        name, arguments = function.get("name") or "", function.get("arguments") or ""
        sink.call(key, arguments, name=name, call_id=call.get("id") or "")

    def _run(self, run: dict[str, Any]) -> None:
        sink, status = self.sink, run.get("status")
        if sink.stop_reason and status not in _ENDS:
            sink.second_response()
            sink.stop_reason = ""
        sink.model = sink.model or run.get("model") or ""
        sink.add_usage(run.get("usage"))
        if status not in _ENDS:
            return
        action = (run.get("required_action") or {}).get("submit_tool_outputs") or {}
        for index, call in enumerate(action.get("tool_calls") or ()):
            if not sink.has_call(index):  # no step's delta had it
                self._call(call, index)
        sink.end_calls()
        details = run.get("incomplete_details") or {}
        if run.get("last_error"):
            sink.fail(run["last_error"])
        else:
            sink.stop_reason = details.get("reason") or status or ""
