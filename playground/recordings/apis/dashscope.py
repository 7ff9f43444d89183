"""Alibaba's DashScope, its own API for Qwen and others: server-sent events, each a whole response.

https://www.alibabacloud.com/help/en/model-studio/qwen-api-via-dashscope. Unless the request asked
for `incremental_output`, every event repeats the whole text so far. No field says if events repeat
the text, but the texts show it. If a text grows twice (`1`, `10`, `101`), events repeat it. If a
text does not begin with the previous one, events do not repeat it. Until this is known, text that
may be a repetition (`ha`, `ha`) is held back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from playground.recordings.apis.base import ApiReader, Sink

_GOING_ON: Final = (None, "", "null")  # the stop reason of events before the last
_Place = tuple[Sink, str, Any]  # a choice, the kind of its text, the call's key if it is arguments


class DashScope(ApiReader):
    name = "dashscope"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._request = ""
        self._texts: dict[_Place, _GrowingText] = {}
        self._repeats: bool | None = None  # None: not known yet

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        if not isinstance(value.get("request_id"), str):
            return False
        output = value.get("output")
        failed = "code" in value and "message" in value and "choices" not in value
        return failed or (isinstance(output, dict) and ("choices" in output or "text" in output))

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        self._begin_event(value.get("request_id") or "")
        before = len(sink.chunks)
        sink.model = sink.model or value.get("model") or ""
        output = value.get("output") or {}
        for number, choice in enumerate(output.get("choices") or ()):
            self._choice(choice, choice.get("index", number))
        if isinstance(output.get("text"), str):
            self._choice({"message": {"content": output["text"]}, **output}, 0)
        sink.add_usage(value.get("usage"))
        if value.get("code"):
            self._emit_held(self._texts)
            sink.fail({"code": value["code"], "message": value.get("message")})
        if len(sink.chunks) == before:
            sink.signal("done" if sink.stop_reason else "empty")

    def _begin_event(self, request: str) -> None:
        """Begin a second response at another request's id, or after an end."""
        if (self._request and request != self._request) or self.sink.stop_reason:
            self.finish()
            self._texts.clear()
            self._repeats = None
            self.sink.second_response()
            self.sink.stop_reason = ""
        self._request = request

    def finish(self) -> None:
        self._emit_held(self._texts)

    def _choice(self, choice: dict[str, Any], index: Any) -> None:
        sink = self.sink.choice(index)
        message = choice.get("message") or {}
        reasoning, text = (sink, "reasoning", None), (sink, "text", None)
        _emit(reasoning, self._new_part(reasoning, message.get("reasoning_content") or ""))
        _emit(text, self._new_part(text, _text(message.get("content"))))
        for number, call in enumerate(message.get("tool_calls") or ()):
            self._call(sink, call, call.get("index", number))
        if choice.get("finish_reason") not in _GOING_ON:
            self._emit_held([place for place in self._texts if place[0] is sink])
            sink.stop_reason = choice["finish_reason"]
            sink.end_calls()

    def _call(self, sink: Sink, call: dict[str, Any], key: Any) -> None:
        function, place = call.get("function") or {}, (sink, "call", key)
        piece = self._new_part(place, function.get("arguments") or "")
        if sink.has_call(key):  # later events repeat name and id
            _emit(place, piece)
        else:
            call_id, name = call.get("id") or "", function.get("name") or ""
            sink.call(key, piece, name=name, call_id=call_id, new=True)

    def _new_part(self, place: _Place, text: str) -> str:
        """Return the part of an event's text that is new."""
        grown = self._texts.setdefault(place, _GrowingText())
        if self._repeats is None:
            self._repeats = grown.is_repetition(text)
        return grown.add(text, self._repeats)

    def _emit_held(self, places: Iterable[_Place]) -> None:
        """Emit the texts that were held back; undecided texts are taken for repetitions."""
        for place in places:
            _emit(place, self._texts[place].add("", self._repeats is not False))


def _emit(place: _Place, piece: str) -> None:
    sink, kind, key = place
    if kind == "call" and piece:
        sink.call(key, piece)
    elif piece:
        (sink.reasoning if kind == "reasoning" else sink.text)(piece)


@dataclass
class _GrowingText:
    """A text whose events hold either its next piece, or all of the text so far."""

    text: str = ""  # the text so far that events may repeat
    undecided: list[str] = field(default_factory=list)  # texts that may be repetitions of `text`

    def is_repetition(self, text: str) -> bool | None:
        """Return True if an event's text repeats the earlier ones, None if that is undecided."""
        if not self.text:
            return None
        if not text.startswith(self.undecided[-1] if self.undecided else self.text):
            return False
        return True if len({self.text, *self.undecided, text}) > 2 else None

    def add(self, text: str, repeats: bool | None) -> str:
        """Return what an event's text adds; "" while it is held back, as `repeats` is not known."""
        if repeats is None and self.text:
            self.undecided.append(text)
            return ""
        held_texts, self.undecided = self.undecided, []
        if repeats is False:
            return "".join((*held_texts, text))
        text = text or (held_texts[-1] if held_texts else "")
        begins = text.startswith(self.text)
        piece = text[len(self.text) :] if begins else text
        self.text = text if begins else self.text + text
        return piece


def _text(content: Any) -> str:
    """Return the text of a content; vision models send it in parts."""
    if not isinstance(content, list):
        return content or ""
    return "".join(part.get("text") or "" for part in content if isinstance(part, dict))
