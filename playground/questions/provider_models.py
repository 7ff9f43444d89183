"""For each provider that LiteLLM's adapters know offline, a model to use by default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PROVIDERS: Final[Mapping[str, str]] = {
    "OpenAI": "openai/gpt-4o",
    "Anthropic": "anthropic/claude-sonnet-4-5",
    "Gemini": "gemini/gemini-2.5-pro",
    "Bedrock": "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "Mistral": "mistral/mistral-large-latest",
    "DeepSeek": "deepseek/deepseek-chat",
    "Groq": "groq/llama-3.3-70b-versatile",
    "Ollama": "ollama/llama3.1",
    "OpenRouter": "openrouter/anthropic/claude-sonnet-4.5",
}
