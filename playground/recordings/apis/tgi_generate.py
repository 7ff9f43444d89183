"""Text Generation Inference's own stream: a token an event, the whole text with the last one.

https://huggingface.co/docs/text-generation-inference, `/generate_stream`. A special token (the
end of the text) is no part of what was generated.
"""

from __future__ import annotations

from typing import Any

from playground.recordings.apis.base import ApiReader, Sink


class TgiGenerate(ApiReader):
    name = "tgi-generate"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._said = ""

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
            sink.stop_reason = self._said = ""
        text = token.get("text")
        if text and self._is_said(token, whole):
            sink.text(text)
            self._said += text
        details = value.get("details") or {}
        if whole is not None or details:
            sink.stop_reason = details.get("finish_reason") or "stop"
            counted = ("generated_tokens", "input_length", "prefill_tokens")
            sink.add_usage({key: details[key] for key in counted if key in details})
        if value.get("error"):
            sink.fail(value["error"])
        if len(sink.chunks) == before:
            sink.signal("special token" if token.get("special") else "empty text")

    def _is_said(self, token: dict[str, Any], whole: Any) -> bool:
        """Whether a token is text; at the end the whole text knows it."""
        if isinstance(whole, str):
            return len(self._said) < len(whole)
        return not token.get("special")
