"""Gemini `generateContent` streams: every chunk is a response with complete parts.

https://ai.google.dev/api/generate-content. Vertex streams arguments in pieces (`partialArgs`, each
with a JSON path). They are joined, and emitted as JSON after the call's last piece.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from playground.recordings.apis.base import ApiReader, Sink
from playground.recordings.recording import UNREADABLE

_KEYS: Final = {"candidates", "usageMetadata", "promptFeedback"}  # fields of a response
_CANDIDATE: Final = {"content", "finishReason", "index", "safetyRatings", "groundingMetadata"}
_PART_FIELDS: Final = {
    *("text", "thought", "thoughtSignature", "inlineData", "fileData", "functionResponse"),
    "videoMetadata",
}
# Parts that hold a call of a tool that Google itself runs, or the result of that call.
_OF_PROVIDER: Final = {"executableCode", "codeExecutionResult", "toolCall", "toolResponse"}
_LONGEST_SIGNAL: Final = 200  # characters
_MOST_ITEMS: Final = 10_000  # of a list in a call's arguments
_STEP: Final = re.compile(r"\.([^.\[]+)|\[(\d+)\]|\['([^']*)'\]")  # of a JSON path


class GeminiGenerate(ApiReader):
    name = "gemini-generate"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._first = Candidate(sink)
        self._others: dict[Sink, Candidate] = {}

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        inner = value.get("response")
        return bool(_KEYS & value.keys()) or (
            isinstance(inner, dict) and bool(_KEYS & inner.keys())
        )

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        if isinstance(value.get("response"), dict):  # Code Assist wraps each chunk
            value = value["response"]
        before = len(sink.chunks)
        sink.model = sink.model or value.get("modelVersion") or ""
        sink.add_usage(value.get("usageMetadata"))
        for candidate in value.get("candidates") or ():
            self._candidate(candidate)
        blocked = (value.get("promptFeedback") or {}).get("blockReason")
        if blocked:
            sink.stop_reason = blocked
        if value.get("error"):
            sink.fail(value["error"])
        if len(sink.chunks) == before:
            sink.signal("usage" if value.get("usageMetadata") else "empty")

    def _candidate(self, value: dict[str, Any]) -> None:
        candidate = self._first
        if index := value.get("index"):
            sink = self.sink.choice(index)
            candidate = self._others.setdefault(sink, Candidate(sink))
            self.sink.signal(f"candidate {index}")
        if not value.keys() & _CANDIDATE:
            self.sink.signal(
                f"{UNREADABLE}a candidate with {', '.join(map(str, value))}"[:_LONGEST_SIGNAL]
            )
        for part in (value.get("content") or {}).get("parts") or ():
            candidate.part(part)
        for name in ("groundingMetadata", "citationMetadata"):
            if value.get(name):
                self.sink.signal(name)
        if value.get("finishReason"):
            candidate.sink.stop_reason = value["finishReason"]

    def finish(self) -> None:
        for candidate in (self._first, *self._others.values()):
            candidate.finish()


class Candidate:
    """A reader of one candidate's parts; it puts the candidate's calls together."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self._count = 0
        self._partial: dict[str, Any] | None = None

    def part(self, part: dict[str, Any]) -> None:
        sink = self.sink
        if "functionCall" in part:
            self._call(part["functionCall"] or {})
        elif text := part.get("text"):
            sink.reasoning(text) if part.get("thought") else sink.text(text)
        elif part.keys() & _OF_PROVIDER:
            sink.add_provider_part(part)
        elif not part or part.keys() & _PART_FIELDS:
            sink.signal(next(iter(part), "empty part"))
        else:
            sink.signal(f"{UNREADABLE}a part with {', '.join(map(str, part))}"[:_LONGEST_SIGNAL])

    def _call(self, call: dict[str, Any]) -> None:
        if call.get("name"):
            self.finish()
            self._count += 1
            self.sink.call(self._count, name=call["name"], call_id=call.get("id") or "", new=True)
            if not call.get("willContinue"):
                self._partial = None
                text = json.dumps(call.get("args") or {}, ensure_ascii=False)
                self.sink.call(self._count, text, done=True)
                return
            self._partial = dict(call.get("args") or {})
        if self._partial is None:
            self.sink.signal("functionCall")
            return
        for piece in call.get("partialArgs") or ():
            _insert(self._partial, piece)
        if call.get("willContinue"):
            self.sink.signal("partialArgs")
        else:
            text = json.dumps(self._partial, ensure_ascii=False)
            self.sink.call(self._count, text, done=True)
            self._partial = None

    def finish(self) -> None:
        """Emit the arguments of an unfinished call as JSON without its end: the call stays open."""
        if self._partial:
            text = json.dumps(self._partial, ensure_ascii=False)
            self.sink.call(self._count, text.removesuffix("}").removesuffix('"'))
        self._partial = None


def _insert(arguments: dict[str, Any], piece: dict[str, Any]) -> None:
    """Put a piece at its JSON path, or append a text to the text that is there."""
    steps: list[Any] = [
        int(index) if index else name or quoted
        for name, index, quoted in _STEP.findall(piece.get("jsonPath", ""))
    ]
    values = [value for key, value in piece.items() if key.endswith("Value")]
    if not steps or not values:
        return
    new = None if "nullValue" in piece else values[0]
    target: Any = arguments
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if not _make_room(target, step):
            return
        old = target.get(step) if isinstance(target, dict) else target[step]
        if following is None:
            both = isinstance(old, str) and isinstance(new, str)
            target[step] = f"{old}{new}" if both else new
        elif not isinstance(old, dict | list):
            target[step] = [] if isinstance(following, int) else {}
        target = target[step]


def _make_room(target: Any, step: str | int) -> bool:
    """Return True if `target` can hold a value at `step`; lengthen a list for it, up to a limit."""
    if isinstance(target, list) and isinstance(step, int) and step < _MOST_ITEMS:
        target += [None] * (step + 1 - len(target))
        return True
    return isinstance(target, dict)
