"""Text Generation Inference's own stream: a token in each event, the complete text in the last.

https://huggingface.co/docs/text-generation-inference, `/generate_stream`. A token that is marked as
special (the end of the text) does not belong to the text. The complete text serves only as a check,
because it does not show which tokens it left out.
"""

from __future__ import annotations

from typing import Any

from playground.recordings.apis.base import ApiReader, Sink
from playground.recordings.recording import UNREADABLE


class TgiGenerate(ApiReader):
    name = "tgi-generate"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._tokens: list[str] = []

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        token = value.get("token")
        return isinstance(token, dict) and "text" in token and "generated_text" in value

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        before = len(sink.chunks)
        token, whole = value.get("token") or {}, value.get("generated_text")
        if sink.stop_reason:  # something after the last token
            sink.second_response()
            sink.stop_reason = ""
            self._tokens.clear()
        text = token.get("text")
        if text and not token.get("special"):
            sink.text(text)
            self._tokens.append(text)
        if isinstance(whole, str):
            self._check(whole)
        details = value.get("details") or {}
        if whole is not None or details:
            sink.stop_reason = details.get("finish_reason") or "stop"
            counted = ("generated_tokens", "input_length", "prefill_tokens")
            sink.add_usage({key: details[key] for key in counted if key in details})
        if value.get("error"):
            sink.fail(value["error"])
        if len(sink.chunks) == before:
            sink.signal("special token" if token.get("special") else "empty text")

    def _check(self, whole: str) -> None:
        """Add a finding if the tokens do not give the complete text. Blanks at its ends do not
        count, because the server may strip them."""
        if "".join(self._tokens).strip() != whole.strip():
            shown = whole if len(whole) <= 40 else f"{whole[:37]}…"
            self.sink.signal(f"{UNREADABLE}a complete text that its tokens do not give: {shown}")
