"""The provider APIs that can be read. Each has a file, and a line in this module.

A stream belongs to the first API that recognises one of its frames; narrower forms come before
wider ones.
"""

from __future__ import annotations

from typing import Any, Final

from playground.base.errors import UnknownNameError
from playground.recordings.apis.anthropic_messages import AnthropicMessages
from playground.recordings.apis.base import ApiReader
from playground.recordings.apis.bedrock_converse import BedrockConverse
from playground.recordings.apis.bedrock_invoke import BedrockInvoke
from playground.recordings.apis.cohere_chat import CohereChat
from playground.recordings.apis.cohere_v1 import CohereV1
from playground.recordings.apis.dashscope import DashScope
from playground.recordings.apis.gemini_generate import GeminiGenerate
from playground.recordings.apis.gemini_interactions import GeminiInteractions
from playground.recordings.apis.gemini_live import GeminiLive
from playground.recordings.apis.llama_cpp import LlamaCpp
from playground.recordings.apis.ollama import OllamaChat, OllamaGenerate
from playground.recordings.apis.openai_assistants import OpenAIAssistants
from playground.recordings.apis.openai_chat import OpenAIChat
from playground.recordings.apis.openai_completions import OpenAICompletions
from playground.recordings.apis.openai_realtime import OpenAIRealtime
from playground.recordings.apis.openai_responses import OpenAIResponses
from playground.recordings.apis.tgi_generate import TgiGenerate

APIS: Final[tuple[type[ApiReader], ...]] = (
    OpenAICompletions,
    OpenAIChat,
    OpenAIAssistants,
    OpenAIRealtime,
    OpenAIResponses,
    AnthropicMessages,
    CohereChat,
    GeminiInteractions,
    CohereV1,
    DashScope,
    OllamaChat,
    OllamaGenerate,
    TgiGenerate,
    LlamaCpp,
    GeminiLive,
    GeminiGenerate,
    BedrockInvoke,
    BedrockConverse,
)


def api_names() -> list[str]:
    """Return the names that `decode_stream(…, api=…)` takes."""
    return [reader.name for reader in APIS]


def reader_for(name: str) -> type[ApiReader]:
    """Return the reader of a named API. Raises UnknownNameError, which names similar ones."""
    for reader in APIS:
        if reader.name == name:
            return reader
    raise UnknownNameError("API", name, api_names())


def recognise(value: dict[str, Any]) -> type[ApiReader] | None:
    """Return the reader of this frame's API; None if none recognises it."""
    return next((reader for reader in APIS if reader.recognises(value)), None)
