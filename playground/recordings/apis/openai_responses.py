"""OpenAI responses: typed events over a list of output items.

https://platform.openai.com/docs/api-reference/responses-streaming. The arguments of some calls are
free text (custom tools, the code interpreter). The task of a call that the client runs (a shell) is
in the finished item. A patch's task comes when its item is added, except for its diff.
"""

from __future__ import annotations

import json
from typing import Any, Final

from playground.recordings.apis.base import ApiReader, Sink
from playground.recordings.apis.response_items import (
    ASKED,
    CLIENT_CALLS,
    CLIENT_RUN_CALLS,
    OTHER_CALLS,
    Items,
    asked_of_provider,
    provider_result,
)
from playground.recordings.recording import UNREADABLE

_TEXT: Final = {
    "response.output_text.delta",
    "response.refusal.delta",
    "response.text.delta",  # Realtime, in its beta
    "response.output_audio_transcript.delta",  # Realtime
    "response.audio_transcript.delta",
}
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
}
FREE_CALLS: Final = {"custom_tool_call", "code_interpreter_call"}
_COMPLETE_PARTS: Final = {  # event with a complete part -> the part's field, and its item's sort
    "response.output_text.done": ("text", "message"),
    "response.refusal.done": ("refusal", "message"),
    "response.text.done": ("text", "message"),
    "response.output_audio_transcript.done": ("transcript", "message"),
    "response.audio_transcript.done": ("transcript", "message"),
    "response.reasoning_text.done": ("text", "reasoning"),
    "response.reasoning_summary_text.done": ("text", "reasoning"),
    "response.function_call_arguments.done": ("arguments", "call"),
}
_SHOWN: Final = 200  # characters of a text in a finding
_DIFF: Final = "response.apply_patch_call_operation_diff.delta"
_ENDS: Final = {"response.completed", "response.incomplete", "response.failed", "response.done"}


class OpenAIResponses(ApiReader):
    name = "openai-responses"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._items = Items()
        self._written: dict[Any, int] = {}  # characters of an item's arguments so far
        # patches without any piece of their diff so far
        self._operations: dict[Any, dict[str, Any]] = {}
        self._patched: set[Any] = set()  # items whose diff came in deltas
        self._streamed: set[Any] = set()  # items whose text came in deltas
        self._part_sizes: dict[Any, int] = {}  # characters of each text part that came in deltas
        self._created = False

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        return str(value.get("type", "")).startswith("response.")

    def read(self, value: dict[str, Any]) -> None:
        kind = value.get("type", "")
        delta = value.get("delta")
        if isinstance(delta, str) and kind in _TEXT:
            self._delta(self._items.of_delta(value, "message"), value, len(delta))
            self.sink.text(delta)
        elif isinstance(delta, str) and kind in _REASONING:
            self._delta(self._items.of_delta(value, "reasoning"), value, len(delta))
            self.sink.reasoning(delta)
        elif isinstance(delta, str) and kind in _ARGUMENTS:
            self._arguments(self._items.of_delta(value, "call"), delta)
        elif isinstance(delta, str) and kind == _DIFF:
            self._diff(self._items.of_delta(value, "call"), delta)
        else:
            self._read_other(kind, value)

    def _delta(self, key: Any, value: dict[str, Any], size: int) -> None:
        self._streamed.add(key)
        part = key, value.get("content_index"), value.get("summary_index")
        self._part_sizes[part] = self._part_sizes.get(part, 0) + size

    def _arguments(self, key: Any, text: str) -> None:
        self._written[key] = self._written.get(key, 0) + len(text)
        self.sink.call(key, text)

    def _diff(self, key: Any, text: str) -> None:
        """Add a piece of a patch's diff, which is the last member of the call's operation. The
        other members, such as the path, came when the item was added. The call's arguments are the
        whole operation as JSON."""
        opened = self._operations.pop(key, None)
        if opened is not None:
            head = json.dumps(opened, ensure_ascii=False)[:-1]
            self._arguments(key, head + (', "diff": "' if opened else '"diff": "'))
            self._patched.add(key)
        self._arguments(key, json.dumps(text, ensure_ascii=False)[1:-1])

    def _read_other(self, kind: str, value: dict[str, Any]) -> None:
        sink = self.sink
        before = len(sink.chunks)
        item = value.get("item") or {}
        if kind == "response.output_item.added":
            self._added(self._items.added(value, item, _sort(item)), item)
        elif kind == "response.output_item.done":
            self._done(self._items.done(value, item, _sort(item)), item)
        elif kind in _COMPLETE_PARTS:
            self._end_part(kind, value)
        elif kind == "response.created":
            self._create(value.get("response") or {})
        elif kind in _ENDS:
            self._end(kind, value.get("response") or {})
        elif kind == "error":
            sink.fail(value.get("error") or value)
        if len(sink.chunks) == before:
            sink.signal(kind.removeprefix("response."))

    def _create(self, response: dict[str, Any]) -> None:
        if self._created:
            self.sink.second_response()
            self._items = Items()
            self._written.clear()
            self._streamed.clear()
            self._part_sizes.clear()
        self._created = True
        self.sink.model = response.get("model") or self.sink.model

    def _end_part(self, kind: str, value: dict[str, Any]) -> None:
        """End a part: add its text if no delta did; signal a text not as long as its deltas."""
        field, sort = _COMPLETE_PARTS[kind]
        text = value.get(field)
        key = self._items.of_delta(value, sort)
        length = self._part_sizes.get((key, value.get("content_index"), value.get("summary_index")))
        if isinstance(text, str) and length is not None and length != len(text):
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
            self.sink.signal(f"{UNREADABLE}a complete text that its deltas do not give: {shown}")
        if not isinstance(text, str) or not text or key in self._streamed or self._written.get(key):
            return
        if sort == "call":
            if not self.sink.has_call(key):
                self._added(key, {**value, "type": "function_call", "arguments": ""})
            self._arguments(key, text)
            return
        self._streamed.add(key)
        (self.sink.text if sort == "message" else self.sink.reasoning)(text)

    def _added(self, key: Any, item: dict[str, Any]) -> None:
        kind = str(item.get("type"))
        if not kind.endswith("_call"):
            return
        arguments = _arguments_text(item)
        self._written[key] = len(arguments)
        operation = item.get("operation")
        if isinstance(operation, dict):
            self._operations[key] = {k: v for k, v in operation.items() if k != "diff"}
        self.sink.call(
            key,
            arguments,
            name=item.get("name") or kind,
            call_id=item.get("call_id") or item.get("id") or "",
            new=True,
            custom=kind in FREE_CALLS,
            server=kind not in CLIENT_RUN_CALLS,
        )

    def _done(self, key: Any, item: dict[str, Any]) -> None:
        """End an item, and add its contents that no delta brought."""
        kind = str(item.get("type"))
        if kind.endswith("_call"):
            self._call_done(key, kind, item)
        elif kind in OTHER_CALLS or kind.endswith("_output"):
            self.sink.add_provider_part(item)
        elif key in self._streamed:
            return
        elif kind == "message":
            for part in item.get("content") or ():
                if text := part.get("text") or part.get("refusal") or part.get("transcript"):
                    self.sink.text(text)
        elif kind == "reasoning":
            for part in [*(item.get("summary") or ()), *(item.get("content") or ())]:
                if text := part.get("text"):
                    self.sink.reasoning(text)

    def _call_done(self, key: Any, kind: str, item: dict[str, Any]) -> None:
        if not self.sink.has_call(key):
            self._added(key, item)
        whole = _arguments_text(item)
        task = item.get(CLIENT_CALLS.get(kind, ""))
        if task and not whole:
            whole = json.dumps(task, ensure_ascii=False)
        if self._written.get(key, 0) == 0 and whole:
            self._arguments(key, whole)
        elif key in self._patched:
            self._arguments(key, '"}')
        self.sink.end_call(key)
        asked = asked_of_provider(item)
        if asked and not whole and not self._written.get(key):
            self.sink.add_provider_part({"type": ASKED, "id": item.get("id"), "input": asked})
        if result := provider_result(item):
            self.sink.add_provider_part(result)

    def _end(self, kind: str, response: dict[str, Any]) -> None:
        sink = self.sink
        sink.model = sink.model or response.get("model") or ""
        sink.add_usage(response.get("usage"))
        sink.set_diagnostics(response.get("prompt_cache_diagnostics"))
        self._add_missing(response.get("output") or ())
        details = response.get("incomplete_details") or response.get("status_details") or {}
        if error := response.get("error") or details.get("error"):
            sink.fail(error)
        elif kind == "response.failed":
            sink.fail({"message": json.dumps(response.get("status"))})
        else:
            sink.stop_reason = details.get("reason") or response.get("status") or "completed"

    def _add_missing(self, output: Any) -> None:
        """Add the items of the complete output whose sort had no event in the stream."""
        sorts = self._items.sorts
        for item in [item for item in output if _sort(item) not in sorts]:
            self._done(self._items.done({}, item, _sort(item)), item)


def _sort(item: dict[str, Any]) -> str:
    """Return an item's sort: a call, a message, reasoning …"""
    kind = str(item.get("type"))
    return "call" if kind.endswith("_call") else kind


def _arguments_text(item: dict[str, Any]) -> str:
    arguments = item.get("arguments") or item.get("input") or item.get("code") or ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
