"""What a dialect makes of a session: messages, and for every piece of text where it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from playground.caching.policies import CacheDecision, as_parts
from playground.parsing.values import dump_json

BlockKind = Literal[
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
    kind: BlockKind
    text: str


def written(origin: str, kind: BlockKind, text: str) -> list[Block]:
    """A piece as a block; no block for no text, so that every block has a first character."""
    return [Block(origin, kind, text)] if text else []


def text_of(blocks: Iterable[Block]) -> str:
    """What the blocks say together: a text is its blocks and nothing between them."""
    return "".join(block.text for block in blocks)


def joined_by_line(groups: Iterable[list[Block]]) -> list[Block]:
    """One line break between groups; it belongs to the group before it."""
    result: list[Block] = []
    for group in groups:
        if not group:
            continue
        if result:
            result[-1] = replace(result[-1], text=result[-1].text + "\n")
        result += group
    return result


@dataclass(frozen=True, slots=True)
class Draft:
    """A formatted message on its way through the steps of `format_messages`, with its text."""

    message: dict[str, Any]
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Rendering:
    """The request's messages, the blocks of each, tools, and the cache decisions."""

    dialect: str
    messages: list[dict[str, Any]]
    blocks: list[tuple[Block, ...]]
    tools: list[dict[str, Any]] | None
    decisions: list[CacheDecision]


def mergeable(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether two messages become one. Native results stay apart: each answers its own call."""
    if "tool_call_id" in first or "tool_call_id" in second:
        return False
    return bool(first["role"] == second["role"])


def joined(first: Draft, second: Draft) -> Draft:
    """Two messages as one. Nothing is written between them: their contents become its parts."""
    one, other = first.message, second.message
    parts = [*as_parts(one.get("content")), *as_parts(other.get("content"))]
    message = {**one, "content": parts or None}  # a message of calls alone has no content
    calls = [*one.get("tool_calls", []), *other.get("tool_calls", [])]
    if calls:
        message["tool_calls"] = calls
    return Draft(message, (*first.blocks, *second.blocks))


def append_to_last_user(
    messages: list[dict[str, Any]], blocks: list[tuple[Block, ...]], text: str
) -> None:
    """Add a text part to the last user message; `check_session` tells where there is none."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message["role"] == "user":
            # A part of its own: the marks on the parts before it stay where they are.
            message["content"] = [*as_parts(message["content"]), {"type": "text", "text": text}]
            blocks[index] += (Block("environment", "environment", text),)
            return


def message_text(message: Mapping[str, Any]) -> str:
    """All that a formatted message says, native calls as JSON."""
    content, calls = message.get("content") or "", message.get("tool_calls")
    if isinstance(content, list):
        content = "".join(_part_text(part) for part in content)
    if not calls:
        return str(content)  # itself: a session's texts are megabytes, and are not copied for this
    return f"{content}{''.join(map(dump_json, calls))}"


def texts_of(message: Mapping[str, Any]) -> list[str]:
    """The same in pieces that the API keeps apart: what is said, and each native call."""
    said = message_text({"content": message.get("content")})
    return [*([said] if said else []), *map(dump_json, message.get("tool_calls") or ())]


def _part_text(part: Mapping[str, Any]) -> str:
    """A part's text; what has none, such as an image, by its type in brackets."""
    return str(part.get("text", f"[{part['type']}]"))
