"""Bedrock `InvokeModelWithResponseStream`: each frame holds the Base64 of a model's own chunk.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ResponseStream.html. Claude,
Nova and Cohere send what their own APIs send; Titan, Llama and Mistral have forms of their own:
https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html.
"""

from __future__ import annotations

import base64
from typing import Any, Final

from pydantic_core import from_json

from playground.recordings.apis.anthropic_messages import AnthropicMessages
from playground.recordings.apis.base import ApiReader, Sink
from playground.recordings.apis.bedrock_converse import BedrockConverse
from playground.recordings.apis.cohere_chat import CohereChat
from playground.recordings.apis.cohere_v1 import CohereV1
from playground.recordings.apis.openai_chat import OpenAIChat
from playground.recordings.apis.openai_completions import OpenAICompletions

_METRICS: Final = "amazon-bedrock-invocationMetrics"
_OTHER_APIS: Final[tuple[type[ApiReader], ...]] = (
    AnthropicMessages,
    CohereChat,
    CohereV1,
    OpenAICompletions,
    OpenAIChat,
    BedrockConverse,
)
_TEXTS: Final = ("outputText", "generation", "completion", "text")  # fields with text
_ENDS: Final = ("completionReason", "stop_reason")  # fields with a stop reason
_COUNTS: Final = {  # a count in every chunk of Titan or Llama -> its name in the usage
    "inputTextTokenCount": "inputTokenCount",
    "prompt_token_count": "inputTokenCount",
    "totalOutputTextTokenCount": "outputTokenCount",
    "generation_token_count": "outputTokenCount",
}


class BedrockInvoke(ApiReader):
    name = "bedrock-invoke"

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._model: ApiReader | None = None  # the API whose chunks the frames hold

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        """Return True for a frame, or for an unpacked chunk of Titan or Llama."""
        if isinstance(_frame(value).get("bytes"), str):
            return True
        return any(key in value for key in _COUNTS) and any(key in value for key in _TEXTS)

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        before = len(sink.chunks)
        chunk = _unpacked(value)
        for key, inner in chunk.items():
            if key.endswith("Exception"):
                sink.fail({"type": key, **inner})
                return
        metrics = chunk.pop(_METRICS, None)
        if self._model is None:
            api = next((api for api in _OTHER_APIS if api.recognises(chunk)), None)
            self._model = api(sink) if api else None
        if self._model is not None and chunk:
            self._model.read(chunk)
        elif self._model is None:
            self._read_text_chunk(chunk)
        if metrics and not sink.usage:
            sink.add_usage(metrics)
        if len(sink.chunks) == before:
            sink.signal("usage" if metrics else "empty")

    def _read_text_chunk(self, chunk: dict[str, Any]) -> None:
        """Read a chunk of text with counts and a stop reason, which Mistral puts into a list."""
        sink = self.sink
        for part in chunk.get("outputs") or [chunk]:
            text = next((part[key] for key in _TEXTS if part.get(key)), "")
            if text and sink.stop_reason:
                sink.second_response()
                sink.stop_reason = ""
            if text:
                sink.text(text)
            sink.stop_reason = next((part[key] for key in _ENDS if part.get(key)), sink.stop_reason)
        sink.add_usage({_COUNTS[key]: chunk[key] for key in _COUNTS if key in chunk})

    def finish(self) -> None:
        if self._model is not None:
            self._model.finish()


def _frame(value: dict[str, Any]) -> dict[str, Any]:
    frame = value.get("chunk", value)
    return frame if isinstance(frame, dict) else {}


def _unpacked(value: dict[str, Any]) -> dict[str, Any]:
    """Return the model's chunk out of a frame: Base64 on the wire, JSON from SDKs. A frame without
    a chunk (an error) is returned itself. A frame of `InvokeAgent` holds text, and nothing shows
    that its stream is complete."""
    frame = _frame(value)
    packed = frame.get("bytes")
    if packed is None:
        return dict(frame)
    data = packed.encode() if packed.lstrip().startswith("{") else base64.b64decode(packed)
    if data.lstrip()[:1] not in (b"{", b"["):  # the text of an agent
        return {"text": data.decode()}
    chunk = from_json(data)
    if not isinstance(chunk, dict):
        raise TypeError("chunk")
    return chunk
