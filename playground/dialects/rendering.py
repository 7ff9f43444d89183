"""A session as a dialect renders it: messages, and the origin of every piece of text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

from playground.dialects.marks.policies import as_parts
from playground.parsing.values import dump_json

_FLAT: Final = frozenset({str, int, float, bool, type(None)})

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


class Block(NamedTuple):
    """A piece of rendered text; `origin` names its source: `tool:NAME`, `message:3`, `rules` …"""

    origin: str
    kind: BlockKind
    text: str


def written(origin: str, kind: BlockKind, text: str) -> list[Block]:
    """Return a piece as a block; no block for no text, so that every block has a first
    character.
    """
    return [Block(origin, kind, text)] if text else []


def text_of(blocks: Iterable[Block]) -> str:
    """Join the blocks' texts, with nothing between them."""
    return "".join(block.text for block in blocks)


def joined_by_line(groups: Iterable[list[Block]]) -> list[Block]:
    """Put one line break between groups; it belongs to the group before it."""
    result: list[Block] = []
    for group in groups:
        if not group:
            continue
        if result:
            result[-1] = result[-1]._replace(text=result[-1].text + "\n")
        result += group
    return result


class Draft(NamedTuple):
    """A formatted message on its way through the steps of `format_messages`, with its text."""

    message: dict[str, Any]
    blocks: tuple[Block, ...] = ()


def copied(value: Any) -> Any:
    """Copy dicts and lists, all the way down; other values are shared."""
    # what is neither is told here: a call for each of them would take half of the time
    if isinstance(value, dict):
        items = value.items()
        return {key: held if type(held) in _FLAT else copied(held) for key, held in items}
    if isinstance(value, list):
        return [held if type(held) in _FLAT else copied(held) for held in value]
    return value


def mergeable(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Return True if two messages become one. Native results stay apart: each answers its own
    call.
    """
    if "tool_call_id" in first or "tool_call_id" in second:
        return False
    return bool(first["role"] == second["role"])


def joined(first: Draft, second: Draft) -> Draft:
    """Merge two messages: their contents become its parts, with nothing between them."""
    one, other = first.message, second.message
    parts = [*as_parts(one.get("content")), *as_parts(other.get("content"))]
    message = {**one, "content": parts or None}  # a message of calls alone has no content
    calls = [*one.get("tool_calls", []), *other.get("tool_calls", [])]
    if calls:
        message["tool_calls"] = calls
    return Draft(message, (*first.blocks, *second.blocks))


def message_text(message: Mapping[str, Any]) -> str:
    """Return all text of a formatted message, native calls as JSON."""
    content, calls = message.get("content") or "", message.get("tool_calls")
    if isinstance(content, list):
        content = "".join(_part_text(part) for part in content)
    if not calls:
        return str(content)  # itself: a session's texts are megabytes, and are not copied for this
    return f"{content}{''.join(map(dump_json, calls))}"


def texts_of(message: Mapping[str, Any]) -> list[str]:
    """Return the texts that the API keeps apart: the content, and each native call."""
    said = message_text({"content": message.get("content")})
    return [*([said] if said else []), *map(dump_json, message.get("tool_calls") or ())]


def _part_text(part: Mapping[str, Any]) -> str:
    """Return a part's text, or its type in brackets if it has none, such as an image."""
    return str(part.get("text", f"[{part['type']}]"))
