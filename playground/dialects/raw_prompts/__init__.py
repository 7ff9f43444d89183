"""Raw prompts: the text that a model reads, with special tokens and the generation header."""

from playground.dialects.raw_prompts.chat_template import ChatTemplate
from playground.dialects.raw_prompts.llama import (
    LLAMA3,
    LLAMA4,
    LlamaFormat,
    LlamaPrompt,
    LlamaTurn,
)

__all__ = ["LLAMA3", "LLAMA4", "ChatTemplate", "LlamaFormat", "LlamaPrompt", "LlamaTurn"]
