"""What a dialect makes of a session: messages, and for every piece of text where it came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from playground.caching.policies import CacheDecision, as_parts

Kind = Literal[
    "dialect rules",
    "tool docs",
    "agent prompt",
    "system rules",
    "user prompt",
    "system",
    "user",
    "assistant",
    "tool results",
    "environment",
]


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of rendered text; `origin` names its source: `tool:NAME`, `message:3`, `rules` …"""

    origin: str
    kind: Kind
    text: str


@dataclass(slots=True)
class Draft:
    """A formatted message on its way through the steps of `format_messages`."""

    message: dict[str, Any]
    blocks: list[Block] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Rendering:
    """The request's messages, their blocks (one list a message), tools, and the cache decisions."""

    dialect: str
    messages: list[dict[str, Any]]
    blocks: list[list[Block]]
    tools: list[dict[str, Any]] | None
    decisions: list[CacheDecision]


def without_empty(drafts: Iterable[Draft]) -> list[Draft]:
    """Drop messages with neither content nor tool calls."""
    return [d for d in drafts if d.message.get("content") or d.message.get("tool_calls")]


def merge_consecutive(drafts: Iterable[Draft]) -> list[Draft]:
    """Join neighbours of one role: providers want turns to alternate.

    Nothing is written between them: their contents become parts of one message. Native results
    stay apart, since each answers a call of its own.
    """
    result: list[Draft] = []
    for draft in drafts:
        if result and _mergeable(result[-1].message, draft.message):
            _merge(result[-1], draft)
        else:
            result.append(draft)
    return result


def _mergeable(first: dict[str, Any], second: dict[str, Any]) -> bool:
    ids = "tool_call_id" in first or "tool_call_id" in second
    return bool(first["role"] == second["role"]) and not ids


def _merge(into: Draft, draft: Draft) -> None:
    parts = [*as_parts(into.message.get("content")), *as_parts(draft.message.get("content"))]
    into.message["content"] = parts or None
    calls = [*into.message.get("tool_calls", []), *draft.message.get("tool_calls", [])]
    if calls:
        into.message["tool_calls"] = calls
    into.blocks += draft.blocks


def append_to_last_user(drafts: list[Draft], text: str) -> bool:
    """Add a text part to the last user message; whether there was one."""
    for draft in reversed(drafts):
        if draft.message["role"] == "user":
            parts = as_parts(draft.message["content"])
            draft.message["content"] = [*parts, {"type": "text", "text": text}]
            draft.blocks.append(Block("environment", "environment", text))
            return True
    return False


def located(text: str, kind: Kind, origin: str, pieces: Iterable[tuple[str, str]]) -> list[Block]:
    """Cut a text into blocks: the given pieces where they stand, the rest under `origin`."""
    blocks: list[Block] = []
    last = 0
    for name, piece in pieces:
        start = text.find(piece, last) if piece else -1
        if start < 0:
            continue
        blocks += [Block(origin, kind, text[last:start])] if start > last else []
        blocks.append(Block(name, kind, piece))
        last = start + len(piece)
    return [*blocks, Block(origin, kind, text[last:])] if last < len(text) else blocks
