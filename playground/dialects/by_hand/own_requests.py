"""Requests whose messages a dialect writes itself: it overrides `format_messages`,
`format_history`, or `inject_prompt_cache`.

The origins of such a message's text are unknown. If the base class would have written the same
message, it keeps its origins; any other message is one block, named after the method.
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
    known: Iterable[tuple[dict[str, Any], tuple[Block, ...]]],
) -> list[Draft]:
    """Return a method's messages as drafts; `known` are the messages of the base class."""
    by_text: dict[tuple[Any, ...], deque[tuple[Block, ...]]] = {}
    for one, blocks in known:
        by_text.setdefault(_texts(one), deque()).append(blocks)
    return [
        Draft(one, same.popleft() if (same := by_text.get(_texts(one))) else _blocks(one, method))
        for one in messages
    ]


def own_history(messages: Sequence[dict[str, Any]], known: History) -> History:
    """Return the history that an override of `format_history` wrote, with neighbours joined."""
    pairs = zip(known.messages, known.blocks, strict=True)
    drafts = drafts_with_origins(messages, "format_history", pairs)
    return History().extended_with(Draft(deep_copy(one), blocks) for one, blocks in drafts)


def marks_in(messages: Sequence[dict[str, Any]], _request: object = None) -> list[CacheDecision]:
    """Return a decision for each mark that stands in messages."""
    return [
        CacheDecision(True, "own-mark", index, place, str(mark.get("ttl") or ""))
        for index, message in enumerate(messages)
        if isinstance(message.get("content"), list)
        for place, part in enumerate(message["content"])
        for key in MARKS
        if isinstance(part, dict) and isinstance(mark := part.get(key), dict)
    ] or [CacheDecision(False, "no-own-mark")]


OWN_MARKS = Policy(OWN, "the dialect's own inject_prompt_cache", marks_in)


def _texts(message: dict[str, Any]) -> tuple[Any, ...]:
    return (message.get("role"), *texts_of(message))


def _blocks(message: dict[str, Any], method: str) -> tuple[Block, ...]:
    kind = KIND_OF_ROLE.get(message["role"], "user")
    return tuple(Block(method, kind, text) for text in texts_of(message))
