"""How much of a conversation there is room for: a given limit, or the model's own.

The oldest messages go first, a call never without its result, and a finding says that they went.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from playground.findings import Finding, finding
from playground.llm.prices import context_tokens
from playground.llm.tokens import count_tokens

_OVERHEAD: Final = 4  # tokens of a message beside its text, by OpenAI's own count


def fitting(
    messages: Sequence[Mapping[str, Any]],
    model: str,
    most_characters: int | None = None,
    most_tokens: int | None = None,
) -> tuple[list[dict[str, Any]], list[Finding]]:
    """The messages that are sent, and a finding where some are not.

    Characters are those of a message's JSON. Without any limit, the model's is taken: the
    `max_input_tokens` of LiteLLM's map, where that knows the model. Tokens are LiteLLM's estimate.
    """
    texts = [json.dumps(message, ensure_ascii=False) for message in messages]
    if most_characters is not None:
        return _newest(messages, [len(text) for text in texts], most_characters, "characters")
    limit = most_tokens if most_tokens is not None else context_tokens(model)
    if limit is None or sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) <= limit:
        return [dict(message) for message in messages], []  # a token has a byte at the least
    sizes = [count_tokens([text], model) + _OVERHEAD for text in texts]
    unit = "tokens" if most_tokens is not None else f"tokens, the context of {model}"
    return _newest(messages, sizes, limit, unit)


def _newest(
    messages: Sequence[Mapping[str, Any]], sizes: Sequence[int], limit: int, unit: str
) -> tuple[list[dict[str, Any]], list[Finding]]:
    first, total = 0, sum(sizes)
    while first < len(messages) and total > limit:
        next_message = messages[first + 1] if first + 1 < len(messages) else {}
        answered = (
            bool(messages[first].get("function_call")) and next_message.get("role") == "function"
        )
        step = 2 if answered else 1
        total -= sum(sizes[first : first + step])
        first += step
    kept = [dict(message) for message in messages[first:]]
    if not first:
        return kept, []
    text = f"the {first} oldest of {len(messages)} messages are not sent: room for {limit:,} {unit}"
    return kept, [finding("context-cut", "request", text)]
