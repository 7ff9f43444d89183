"""Requests whose messages a dialect writes itself, by overriding `format_messages`,
`format_history`, or `inject_prompt_cache`.

The origins of such a message's text are unknown. If the base class would have written the same
message, the message keeps its origins; any other message is one block, named after the method.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from playground.dialects.conversation import KIND_OF_ROLE
from playground.dialects.history import History
from playground.dialects.marks.policies import OWN, CacheDecision, Policy
from playground.dialects.rendering import Block, Draft, deep_copy, texts_of
from playground.nouns.wire_bodies import MARKS


def drafts_with_origins(
    messages: Sequence[dict[str, Any]],
    method: str,
    base_messages: Iterable[tuple[dict[str, Any], tuple[Block, ...]]],
) -> list[Draft]:
    """Return a method's messages as drafts; `base_messages` come from the base class."""
    by_text: dict[tuple[Any, ...], deque[tuple[Block, ...]]] = {}
    for message, blocks in base_messages:
        by_text.setdefault(_texts(message), deque()).append(blocks)
    return [
        Draft(
            each, same.popleft() if (same := by_text.get(_texts(each))) else _blocks(each, method)
        )
        for each in messages
    ]


def own_history(messages: Sequence[dict[str, Any]], base_history: History) -> History:
    """Return the history that an override of `format_history` wrote, with its texts' origins."""
    pairs = zip(base_history.messages, base_history.blocks, strict=True)
    drafts = drafts_with_origins(messages, "format_history", pairs)
    return History().extended_with(Draft(deep_copy(message), blocks) for message, blocks in drafts)


def marks_in(messages: Sequence[dict[str, Any]], _request: object = None) -> list[CacheDecision]:
    return [
        CacheDecision(True, "own-mark", index, part_index, str(mark.get("ttl") or ""))
        for index, message in enumerate(messages)
        if isinstance(message.get("content"), list)
        for part_index, part in enumerate(message["content"])
        for key in MARKS
        if isinstance(part, dict) and isinstance(mark := part.get(key), dict)
    ] or [CacheDecision(False, "no-own-mark")]


OWN_MARKS = Policy(OWN, "the dialect's own inject_prompt_cache", marks_in)


def _texts(message: dict[str, Any]) -> tuple[Any, ...]:
    return (message.get("role"), *texts_of(message))


def _blocks(message: dict[str, Any], method: str) -> tuple[Block, ...]:
    kind = KIND_OF_ROLE.get(message["role"], "user")
    return tuple(Block(method, kind, text) for text in texts_of(message))
