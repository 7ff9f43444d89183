"""Write a conversation in a dialect, each message once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

from playground.dialects.history import History
from playground.dialects.render_cache import RENDER_CACHE, CachedRendering, can_cache, origin_of
from playground.dialects.rendering import BlockKind, Draft, deep_copy, message_blocks
from playground.nouns.messages import Message, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata

KIND_OF_ROLE: Final[dict[str, BlockKind]] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool results",
}


class MessageWriter(Hashable, Protocol):
    """The methods of a dialect that writing a conversation needs."""

    def written_ids(self, messages: Sequence[Message]) -> list[list[str]] | None: ...

    def split_message(self, message: Message) -> list[Message]: ...

    def format_history_item(
        self, item: Message, tools: Sequence[ToolMetadata] = ()
    ) -> dict[str, Any] | None: ...


def drafts_of(
    dialect: MessageWriter, index: int, message: Message, tools: Sequence[ToolMetadata]
) -> list[Draft]:
    """Return the drafts that one message of the session becomes."""
    drafts: list[Draft] = []
    for item in dialect.split_message(message):
        formatted = dialect.format_history_item(item, tools)
        if formatted is None:
            continue
        # The role is the session's: the dialect may send a result in a user's message.
        kind = KIND_OF_ROLE[item.role]
        blocks = message_blocks(origin_of(index), kind, formatted)
        # A copy, because the message may hold a call's own arguments, which may change later.
        drafts.append(Draft(deep_copy(formatted), tuple(blocks)))
    return drafts


def history_of(dialect: MessageWriter, prompt_data: PromptData) -> History:
    """Return the conversation, neighbours of one role joined. It is shared: do not change it."""
    if can_cache(dialect):
        return cached_conversation(dialect, prompt_data).history
    return History().extended_with(all_drafts(dialect, prompt_data))


def all_drafts(dialect: MessageWriter, prompt_data: PromptData) -> Iterator[Draft]:
    """Yield the drafts of a conversation, without use of the cache."""
    ids = dialect.written_ids(prompt_data.messages)
    for index, message in enumerate(prompt_data.messages):
        written = with_ids(message, ids[index] if ids else None)
        yield from drafts_of(dialect, index, written, prompt_data.tool_metadata)


def with_ids(message: Message, ids: Sequence[str] | None) -> Message:
    """Return a message whose calls and results have these ids, in order; unchanged without ids."""
    remaining = list(ids or ())
    if not remaining:
        return message
    kinds = ToolCallPart | ToolResultPart
    parts = [
        replace(p, tool_call_id=remaining.pop(0)) if isinstance(p, kinds) else p
        for p in message.parts
    ]
    return replace(message, parts=tuple(parts))


def cached_conversation(dialect: MessageWriter, prompt_data: PromptData) -> CachedRendering:
    """Return the conversation from the cache, which writes it if need be. Do not change it."""
    messages, tools = prompt_data.messages, prompt_data.tool_metadata
    ids = dialect.written_ids(messages)

    def write(index: int, message: Message) -> list[Draft]:
        return drafts_of(dialect, index, with_ids(message, ids[index] if ids else None), tools)

    return RENDER_CACHE.session(dialect, messages, tools, write, ids is not None)
