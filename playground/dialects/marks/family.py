"""Read a model's family from the parts of its LiteLLM name."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

ModelFamily = Literal["anthropic", "gemini", "other"]


@lru_cache(maxsize=256)
def model_family(model_name: str) -> ModelFamily:
    """Return the family whose cache marks the model understands.

    The name is split at `/ . : @`. A part `anthropic`, or with the word `claude` between hyphens
    (`kodu-claude`), means anthropic; a part with the word `gemini` means gemini. A substring does
    not count: `my-anthropic-clone/llama` is `other`, `bedrock/us.anthropic.claude-sonnet-4-v1:0`
    is `anthropic`.
    """
    parts = [part for part in re.split(r"[/.:@]", model_name.lower()) if part]
    if "anthropic" in parts or any(_has_word(part, "claude") for part in parts):
        return "anthropic"
    return "gemini" if any(_has_word(part, "gemini") for part in parts) else "other"


def _has_word(part: str, word: str) -> bool:
    return word in part.split("-")
