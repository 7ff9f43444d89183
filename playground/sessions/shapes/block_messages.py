"""Messages with `blocks` beside their text, as Polylogue writes them."""

from __future__ import annotations

from typing import Any


def message_of_blocks(value: dict[str, Any]) -> dict[str, Any]:
    """Return Polylogue's message with its blocks as content, and its text if no block holds it.

    The `id` of a block that has a `tool_id` is dropped: it is not the call's id.
    """
    text = value.get("text")
    blocks = [
        {key: field for key, field in each.items() if key != "id"} if _has_tool_id(each) else each
        for each in value["blocks"]
    ]
    texts = [each.get("text") for each in blocks if isinstance(each, dict)]
    joined = "".join(each for each in texts if isinstance(each, str))
    is_missing = isinstance(text, str) and text.strip() and text.strip() not in joined
    missing = [{"type": "text", "text": text}] if is_missing else []
    return {**value, "text": None, "content": [*missing, *blocks]}


def _has_tool_id(block: Any) -> bool:
    return isinstance(block, dict) and isinstance(block.get("tool_id"), str)
