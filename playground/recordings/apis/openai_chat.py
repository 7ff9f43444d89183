"""OpenAI chat completions, which many servers imitate; LiteLLM's chunks have this form too.

https://platform.openai.com/docs/api-reference/chat-streaming. Variants that are read: reasoning as
`reasoning_content` or `reasoning`, content as a list of parts (Mistral), calls without `index` or
with one index for all, the old `function_call`, custom tools, `message` in place of `delta`.
"""

from __future__ import annotations

import json
from typing import Any

from playground.recordings.apis.base import ApiReader, Sink


class OpenAIChat(ApiReader):
    name = "openai-chat"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._first = _Choice(sink)
        self._others: dict[Sink, _Choice] = {}
        self._id = ""
        self._cited = False

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        return "choices" in value or value.get("object") == "chat.completion.chunk"

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        before = len(sink.chunks)
        if not sink.model:
            sink.model = value.get("model") or ""
        usage = value.get("usage") or (value.get("x_groq") or {}).get("usage")
        if usage:
            sink.add_usage(usage)
        self._response(str(value.get("id") or ""), value.get("choices"))
        for choice in value.get("choices") or ():
            self._choice(choice)
        if not self._cited and (value.get("citations") or value.get("search_results")):
            self._cited = True  # Perplexity repeats the citations in each frame
            sink.signal("citations")
        if value.get("error"):
            sink.fail(value["error"])
        if len(sink.chunks) == before:
            sink.signal("usage" if usage else "empty delta")

    def _choice(self, value: dict[str, Any]) -> None:
        choice = self._first
        if index := value.get("index"):
            choice = self._other_choice(index)
            self.sink.signal(f"choice {index}")
        delta = value.get("delta")
        if delta is None:  # a log may have flattened the message into its choice
            delta = value.get("message") or (value if value.get("role") else {})
        choice.delta(delta)
        if value.get("finish_reason"):
            choice.sink.stop_reason = value["finish_reason"]
            choice.sink.end_calls()

    def _other_choice(self, index: Any) -> _Choice:
        sink = self.sink.choice(index)
        return self._others.setdefault(sink, _Choice(sink))

    def _response(self, response_id: str, choices: Any) -> None:
        """Begin a second response if choices with another id come after a stop reason."""
        if (
            response_id
            and self._id
            and response_id != self._id
            and choices
            and self.sink.stop_reason
        ):
            self.sink.second_response()
            self._first = _Choice(self.sink)
            self._others.clear()
        self._id = response_id or self._id


class _Choice:
    """A reader of one choice's deltas, which assigns each piece of arguments to a call."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self._open: dict[Any, str] = {}  # index → id of its current call
        self._last: Any = None
        self._has_content = False

    def delta(self, delta: dict[str, Any]) -> None:
        sink = self.sink
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if reasoning and isinstance(reasoning, str):
            sink.reasoning(reasoning)
        if content := delta.get("content"):
            self._has_content = True
            if isinstance(content, str):
                sink.text(content)
            else:
                self._parts(content)
        if refusal := delta.get("refusal"):
            sink.text(refusal)
            if self._has_content:  # a finding says that the refusal is joined to the text
                sink.signal("refusal")
        self._note_other_content(delta)
        if calls := delta.get("tool_calls"):
            for call in calls:
                self._call(call)
        if (call := delta.get("function_call")) and isinstance(call, dict):
            self._call({"index": "function_call", "function": call})

    def _note_other_content(self, delta: dict[str, Any]) -> None:
        """Add a signal for audio and for citations; add the audio's transcript to the text."""
        if audio := delta.get("audio"):
            if isinstance(audio, dict) and audio.get("transcript"):
                self.sink.text(audio["transcript"])
            self.sink.signal("audio")
        for name in ("annotations", "citations"):
            if delta.get(name):
                self.sink.signal(name)

    def _parts(self, parts: Any) -> None:
        """Read content that is a list of parts; Mistral's thinking parts hold lists of texts."""
        for part in parts if isinstance(parts, list) else [parts]:
            if not isinstance(part, dict):
                self.sink.text(str(part))
            elif part.get("type") == "thinking":
                thinking = part.get("thinking")
                texts = thinking if isinstance(thinking, list) else [thinking]
                for text in texts:
                    self.sink.reasoning(
                        text.get("text", "") if isinstance(text, dict) else str(text)
                    )
            elif part.get("text"):
                self.sink.text(part["text"])

    def _call(self, call: dict[str, Any]) -> None:
        custom = call.get("custom")
        function = custom or call.get("function") or {}
        name, call_id = function.get("name") or "", call.get("id") or ""
        arguments = function.get("input" if custom else "arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        key = call.get("index")
        if key is None:
            key = call_id or self._last
        another = bool(name and call_id) and self._open.get(key, call_id) != call_id
        if another or key not in self._open:
            self._open[key] = call_id
        self.sink.call(
            key, arguments or "", name=name, call_id=call_id, new=another, custom=bool(custom)
        )
        self._last = key
