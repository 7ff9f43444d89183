"""OpenAI completions: plain text without roles.

https://platform.openai.com/docs/api-reference/completions. The answers to several prompts of one
request are choices, numbered consecutively.
"""

from __future__ import annotations

from typing import Any

from playground.recordings.apis.base import ApiReader


class OpenAICompletions(ApiReader):
    name = "openai-completions"

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        choices = value.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else {}
        if not isinstance(first, dict):
            first = {}
        if "delta" in first and "text" not in first:  # a chat of Text Generation Inference
            return False
        return value.get("object") == "text_completion" or "text" in first

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        before = len(sink.chunks)
        sink.model = sink.model or value.get("model") or ""
        sink.add_usage(value.get("usage"))
        for choice in value.get("choices") or ():
            into = sink
            if index := choice.get("index"):
                into = sink.choice(index)
                sink.signal(f"choice {index}")
            if choice.get("text"):
                into.text(choice["text"])
            if choice.get("finish_reason"):
                into.stop_reason = choice["finish_reason"]
        if value.get("error"):
            sink.fail(value["error"])
        if len(sink.chunks) == before:
            sink.signal("usage" if value.get("usage") else "empty text")
