"""OpenAI responses: typed events over a list of output items.

https://platform.openai.com/docs/api-reference/responses-streaming. Calls with free text (custom
tools, the code interpreter, apply_patch) have it for their arguments; what the client is to run
(a shell) stands in the finished item.
"""

from __future__ import annotations

import json
from typing import Any, Final

from playground.recordings.apis.base import ApiReader, Sink

_TEXT: Final = {"response.output_text.delta", "response.refusal.delta"}
_REASONING: Final = {
    "response.reasoning_summary_text.delta",
    "response.reasoning_text.delta",
    "response.reasoning.delta",
    "response.reasoning_summary.delta",
}
_ARGUMENTS: Final = {
    "response.function_call_arguments.delta",
    "response.mcp_call_arguments.delta",
    "response.mcp_call.arguments.delta",
    "response.custom_tool_call_input.delta",
    "response.code_interpreter_call_code.delta",
    "response.apply_patch_call_operation_diff.delta",
}
_FREE_CALLS: Final = {"custom_tool_call", "code_interpreter_call", "apply_patch_call"}
_CLIENT_CALLS: Final = {  # run by the client: what to do stands in this field of the finished item
    "local_shell_call": "action",
    "shell_call": "action",
    "computer_call": "action",
    "apply_patch_call": "operation",
}
_ENDS: Final = {"response.completed", "response.incomplete", "response.failed", "response.done"}


class OpenAIResponses(ApiReader):
    name = "openai-responses"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._written: dict[Any, int] = {}  # characters of an item's arguments so far
        self._said: set[Any] = set()  # items whose text came in deltas
        self._created = False

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        return str(value.get("type", "")).startswith("response.")

    def read(self, value: dict[str, Any]) -> None:
        kind = value.get("type", "")
        key = value.get("output_index", value.get("item_id"))
        delta = value.get("delta")
        if isinstance(delta, str) and kind in _TEXT:
            self._said.add(key)
            self.sink.text(delta)
        elif isinstance(delta, str) and kind in _REASONING:
            self._said.add(key)
            self.sink.reasoning(delta)
        elif isinstance(delta, str) and kind in _ARGUMENTS:
            self._arguments(key, delta)
        else:
            self._other(kind, key, value)

    def _arguments(self, key: Any, text: str) -> None:
        self._written[key] = self._written.get(key, 0) + len(text)
        self.sink.call(key, text)

    def _other(self, kind: str, key: Any, value: dict[str, Any]) -> None:
        sink = self.sink
        before = len(sink.chunks)
        if kind == "response.output_item.added":
            self._added(key, value.get("item") or {})
        elif kind == "response.output_item.done":
            self._done(key, value.get("item") or {})
        elif kind == "response.created":
            if self._created:
                sink.second_response()
                self._written.clear()
                self._said.clear()
            self._created = True
            sink.model = (value.get("response") or {}).get("model") or sink.model
        elif kind in _ENDS:
            self._end(kind, value.get("response") or {})
        elif kind == "error":
            sink.fail(value.get("error") or value)
        if len(sink.chunks) == before:
            sink.signal(kind.removeprefix("response."))

    def _added(self, key: Any, item: dict[str, Any]) -> None:
        kind = str(item.get("type"))
        if not kind.endswith("_call"):
            return
        arguments = _arguments_text(item)
        self._written[key] = len(arguments)
        self.sink.call(
            key,
            arguments,
            name=item.get("name") or kind,
            call_id=item.get("call_id") or item.get("id") or "",
            new=True,
            custom=kind in _FREE_CALLS,
        )

    def _done(self, key: Any, item: dict[str, Any]) -> None:
        """A finished item: what no delta brought is taken from it."""
        kind = str(item.get("type"))
        if kind.endswith("_call"):
            self._call_done(key, kind, item)
        elif key in self._said:
            return
        elif kind == "message":
            for part in item.get("content") or ():
                if text := part.get("text") or part.get("refusal"):
                    self.sink.text(text)
        elif kind == "reasoning":
            for part in [*(item.get("summary") or ()), *(item.get("content") or ())]:
                if text := part.get("text"):
                    self.sink.reasoning(text)

    def _call_done(self, key: Any, kind: str, item: dict[str, Any]) -> None:
        if not self.sink.has_call(key):
            self._added(key, item)
        whole = _arguments_text(item)
        task = item.get(_CLIENT_CALLS.get(kind, ""))
        if task and not whole:
            whole = json.dumps(task, ensure_ascii=False)
        if self._written.get(key, 0) == 0 and whole:
            self._arguments(key, whole)
        self.sink.end_call(key)

    def _end(self, kind: str, response: dict[str, Any]) -> None:
        sink = self.sink
        sink.model = sink.model or response.get("model") or ""
        sink.add_usage(response.get("usage"))
        if response.get("error"):
            sink.fail(response["error"])
        elif kind == "response.failed":
            sink.fail({"message": json.dumps(response.get("status"))})
        else:
            details = response.get("incomplete_details") or {}
            sink.stop_reason = details.get("reason") or response.get("status") or "completed"


def _arguments_text(item: dict[str, Any]) -> str:
    given = item.get("arguments") or item.get("input") or item.get("code") or ""
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
