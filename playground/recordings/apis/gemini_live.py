"""Read replies of Gemini Live: text, transcripts and calls in the server's messages.

https://ai.google.dev/api/live. Audio is left out; its transcript is the text. The Python SDK writes
names with underscores. A turn that waits for results ends with the call.
"""

from __future__ import annotations

from typing import Any, Final

from playground.recordings.apis.base import ApiReader, Sink
from playground.recordings.apis.gemini_generate import Candidate

_KEYS: Final = {
    "setupComplete",
    "serverContent",
    "toolCall",
    "toolCallCancellation",
    "goAway",
    "sessionResumptionUpdate",
}
_CALL: Final = "toolCall"  # the stop reason of a turn that waits for results


class GeminiLive(ApiReader):
    name = "gemini-live"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._candidate = Candidate(sink)
        self._ended = False  # the turn is over: the next piece belongs to another one

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        return any(isinstance(inner, dict) and _camel(key) in _KEYS for key, inner in value.items())

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        message = {_camel(key): inner for key, inner in value.items() if inner is not None}
        before = len(sink.chunks)
        sink.model = sink.model or message.get("modelVersion") or ""
        sink.add_usage(message.get("usageMetadata"))
        content = message.get("serverContent") or {}
        self._content({_camel(key): inner for key, inner in content.items()})
        self._calls(message.get("toolCall") or {})
        if message.get("error"):
            sink.fail(message["error"])
        if len(sink.chunks) == before:
            sink.signal(next(iter(message), "empty"))

    def _content(self, content: dict[str, Any]) -> None:
        turn = content.get("modelTurn") or {}
        for part in turn.get("parts") or ():
            self._next_piece()
            fields = {_camel(key): inner for key, inner in part.items() if inner is not None}
            self._candidate.part(fields)
        transcript = content.get("outputTranscription") or {}
        if transcript.get("text"):
            self._next_piece()
            self.sink.text(transcript["text"])
        if content.get("turnComplete"):
            self._ended = True
            self.sink.stop_reason = content.get("turnCompleteReason") or "turnComplete"
        elif content.get("interrupted"):
            self._ended = True
            self.sink.stop_reason = "interrupted"

    def _calls(self, tool_call: dict[str, Any]) -> None:
        for call in tool_call.get("functionCalls") or tool_call.get("function_calls") or ():
            self._next_piece()
            self._candidate.part({"functionCall": call})
            self.sink.stop_reason = _CALL

    def _next_piece(self) -> None:
        """Begin a second response if this piece of the reply comes after the end of a turn."""
        if self._ended:
            self.sink.second_response()
        self._ended = False
        self.sink.stop_reason = ""

    def finish(self) -> None:
        self._candidate.finish()


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)
