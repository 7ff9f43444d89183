"""Messages whose content stands in blocks beside their text, as Polylogue keeps them."""

from __future__ import annotations

from typing import Any


def of_blocks(value: dict[str, Any]) -> dict[str, Any]:
    """Polylogue's message: its text stands in its blocks, too, unless it was said around them. A
    block's own id is not that of the call which it is or answers."""
    text = value.get("text")
    blocks = [
        {key: held for key, held in each.items() if key != "id"} if _has_tool_id(each) else each
        for each in value["blocks"]
    ]
    texts = [each.get("text") for each in blocks if isinstance(each, dict)]
    within = "".join(each for each in texts if isinstance(each, str))
    is_beside = isinstance(text, str) and text.strip() and text.strip() not in within
    around = [{"type": "text", "text": text}] if is_beside else []
    return {**value, "text": None, "content": [*around, *blocks]}


def _has_tool_id(block: Any) -> bool:
    return isinstance(block, dict) and isinstance(block.get("tool_id"), str)
