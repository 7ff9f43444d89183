"""Token counts by LiteLLM's offline counter: estimates for every model but OpenAI's."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from typing import Any


@cache
def _litellm() -> Any:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it asks the network
    import litellm

    litellm.disable_hf_tokenizer_download = True
    litellm.suppress_debug_info = True
    return litellm


def count_tokens(texts: Iterable[str], model: str) -> int:
    """Tokens of all texts for the model, without network; an estimate."""
    litellm = _litellm()
    return sum(int(litellm.token_counter(model=model, text=text)) for text in texts if text)
