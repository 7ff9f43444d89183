"""Alibaba's DashScope, its own API for Qwen and others: server-sent events, each a whole response.

https://www.alibabacloud.com/help/en/model-studio/qwen-api-via-dashscope. Unless a request asks for
`incremental_output`, every event repeats all that was said so far: nothing in the stream says
which, so each text tells by its second piece, which then begins with the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from playground.recordings.apis.base import ApiReader, Sink

_GOING_ON: Final = (None, "", "null")  # what events before the last have for a reason


class DashScope(ApiReader):
    name = "dashscope"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._request = ""
        self._texts: dict[tuple[Sink, str], _Growing] = {}

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        if not isinstance(value.get("request_id"), str):
            return False
        output = value.get("output")
        failed = "code" in value and "message" in value and "choices" not in value
        return failed or (isinstance(output, dict) and ("choices" in output or "text" in output))

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        self._next(value.get("request_id") or "")
        before = len(sink.chunks)
        sink.model = sink.model or value.get("model") or ""
        output = value.get("output") or {}
        for number, choice in enumerate(output.get("choices") or ()):
            self._choice(choice, choice.get("index", number))
        if isinstance(output.get("text"), str):
            self._choice({"message": {"content": output["text"]}, **output}, 0)
        sink.add_usage(value.get("usage"))
        if value.get("code"):
            sink.fail({"code": value["code"], "message": value.get("message")})
        if len(sink.chunks) == before:
            sink.signal("done" if sink.stop_reason else "empty")

    def _next(self, request: str) -> None:
        """Another request's answer in the same stream, or the same one once more."""
        if (self._request and request != self._request) or self.sink.stop_reason:
            self._texts.clear()
            self.sink.second_response()
            self.sink.stop_reason = ""
        self._request = request

    def _choice(self, choice: dict[str, Any], index: Any) -> None:
        sink = self.sink.choice(index)
        message = choice.get("message") or {}
        if thought := self._new(sink, "reasoning", message.get("reasoning_content") or ""):
            sink.reasoning(thought)
        if said := self._new(sink, "text", _text(message.get("content"))):
            sink.text(said)
        for number, call in enumerate(message.get("tool_calls") or ()):
            self._call(sink, call, call.get("index", number))
        if choice.get("finish_reason") not in _GOING_ON:
            sink.stop_reason = choice["finish_reason"]
            sink.end_calls()

    def _call(self, sink: Sink, call: dict[str, Any], key: Any) -> None:
        function = call.get("function") or {}
        piece = self._new(sink, f"call {key}", function.get("arguments") or "")
        if not sink.has_call(key):  # later events repeat name and id
            given, name = call.get("id") or "", function.get("name") or ""
            sink.call(key, piece, name=name, call_id=given, new=True)
        elif piece:
            sink.call(key, piece)

    def _new(self, sink: Sink, kind: str, text: str) -> str:
        """What of a text the events before have not said."""
        return self._texts.setdefault((sink, kind), _Growing()).new(text)


@dataclass
class _Growing:
    """A text in pieces, or one that each event has from its beginning; None: not told yet."""

    said: str = ""
    is_repeated: bool | None = None

    def new(self, text: str) -> str:
        if not text:
            return ""
        begins = text.startswith(self.said)
        if self.is_repeated is None and self.said:
            self.is_repeated = begins
        if self.is_repeated and begins:
            piece, self.said = text[len(self.said) :], text
        else:
            piece, self.said = text, self.said + text
        return piece


def _text(content: Any) -> str:
    """What was said; models that see have it in parts."""
    if not isinstance(content, list):
        return content or ""
    return "".join(part.get("text") or "" for part in content if isinstance(part, dict))
