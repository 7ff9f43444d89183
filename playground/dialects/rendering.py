"""Blocks of rendered text with their origins, and messages as drafts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple

from playground.dialects.marks.policies import as_parts
from playground.parsing.values import dump_json

_FLAT: Final = frozenset({str, int, float, bool, type(None)})  # types that need no deep copy

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
    "image",  # or another part without text; the text of its block is not sent
]


class Block(NamedTuple):
    """A piece of rendered text; `origin` names its source: `tool:NAME`, `message:3`, `rules` …"""

    origin: str
    kind: BlockKind
    text: str


def as_blocks(origin: str, kind: BlockKind, text: str) -> list[Block]:
    """Return a text as a list of one block, or [] if it is empty: no block is empty."""
    return [Block(origin, kind, text)] if text else []


def message_blocks(origin: str, kind: BlockKind, message: Mapping[str, Any]) -> list[Block]:
    """Return a formatted message's content, its parts without text, and its native calls."""
    blocks: list[Block] = []
    for has_text, parts in groupby(as_parts(message.get("content")), lambda part: "text" in part):
        text = "".join(map(_part_text, parts))
        blocks += as_blocks(origin, kind if has_text else "image", text)
    calls = message.get("tool_calls") or ()
    return [*blocks, *(Block(origin, kind, dump_json(call)) for call in calls)]


def text_of(blocks: Iterable[Block]) -> str:
    return "".join(block.text for block in blocks)


def joined_by_line(groups: Iterable[list[Block]]) -> list[Block]:
    """Join groups of blocks by line breaks; each break belongs to the group before it."""
    result: list[Block] = []
    for group in groups:
        if not group:
            continue
        if result:
            result[-1] = result[-1]._replace(text=result[-1].text + "\n")
        result += group
    return result


class Draft(NamedTuple):
    """A formatted message and its text as blocks, for the steps of `format_messages`."""

    message: dict[str, Any]
    blocks: tuple[Block, ...] = ()


def deep_copy(value: Any) -> Any:
    """Copy dicts and lists, all the way down; other values are shared."""
    # Other values are recognised here, because a call for each would take half of the time.
    if isinstance(value, dict):
        items = value.items()
        return {key: inner if type(inner) in _FLAT else deep_copy(inner) for key, inner in items}
    if isinstance(value, list):
        return [inner if type(inner) in _FLAT else deep_copy(inner) for inner in value]
    return value


def mergeable(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Return True if two neighbours merge: of the same role, and neither is a native result."""
    if "tool_call_id" in first or "tool_call_id" in second:
        return False
    return bool(first["role"] == second["role"])


def merged(first: Draft, second: Draft) -> Draft:
    """Merge two messages: the contents of both become the parts of one."""
    first_message, second_message = first.message, second.message
    parts = [*as_parts(first_message.get("content")), *as_parts(second_message.get("content"))]
    message = {**first_message, "content": parts or None}  # a message of calls alone has no content
    calls = [*first_message.get("tool_calls", []), *second_message.get("tool_calls", [])]
    if calls:
        message["tool_calls"] = calls
    return Draft(message, (*first.blocks, *second.blocks))


def message_text(message: Mapping[str, Any]) -> str:
    """Return all text of a formatted message, native calls as JSON."""
    content, calls = message.get("content") or "", message.get("tool_calls")
    if isinstance(content, list):
        content = "".join(_part_text(part) for part in content)
    if not calls:
        return str(content)  # without a copy: texts of a session may be megabytes
    return f"{content}{''.join(map(dump_json, calls))}"


def texts_of(message: Mapping[str, Any]) -> list[str]:
    """Return the separate texts of a formatted message: the content, and each native call."""
    content = message_text({"content": message.get("content")})
    return [*([content] if content else []), *map(dump_json, message.get("tool_calls") or ())]


def _part_text(part: Mapping[str, Any]) -> str:
    """Return a part's text, or its type in brackets if it has none, such as an image."""
    return str(part.get("text", f"[{part['type']}]"))
