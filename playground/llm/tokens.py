"""Token counts by LiteLLM's offline counter: estimates for every model but OpenAI's."""

from __future__ import annotations

from collections.abc import Iterable

from playground.llm.library import litellm


def count_tokens(texts: Iterable[str], model: str) -> int:
    """Tokens of all texts for the model, without network; an estimate."""
    return sum(int(litellm().token_counter(model=model, text=text)) for text in texts if text)
