"""A conversation in a dialect: each message written once, and the requests that it was made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from playground.caching.shared_lists import SharedList
from playground.dialects.history import History
from playground.dialects.memory import MEMORY, Written, may_remember, origin_of
from playground.dialects.rendering import Block, BlockKind, Draft, message_text
from playground.messages import Message
from playground.prompt_data import PromptData
from playground.tools import ToolMetadata

if TYPE_CHECKING:
    from playground.dialects.base import Dialect

_KIND_OF_ROLE: Final[dict[str, BlockKind]] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool results",
}


def drafts_of(
    dialect: Dialect, index: int, message: Message, tools: Sequence[ToolMetadata]
) -> list[Draft]:
    """What one message of the session becomes."""
    drafts: list[Draft] = []
    for item in dialect.split_message(message):
        formatted = dialect.format_history_item(item, tools)
        if formatted is None:
            continue
        # The role of the session, not the dialect's: a result may travel as a user's.
        kind = _KIND_OF_ROLE[item.role]
        block = Block(origin_of(index), kind, message_text(formatted))
        drafts.append(Draft(formatted, (block,)))
    return drafts


def history_of(dialect: Dialect, prompt_data: PromptData) -> History:
    """The conversation joined, to be written into."""
    if may_remember(dialect):
        return _written(dialect, prompt_data).history.own()
    history = History()
    for index, message in enumerate(prompt_data.messages):
        history.add(drafts_of(dialect, index, message, prompt_data.tool_metadata))
    return history


def requests_of(
    dialect: Dialect, prompt_data: PromptData, stops: Sequence[int]
) -> Iterator[Sequence[dict[str, Any]]]:
    """The messages of each request of a conversation, without marks: a request holds what stands
    before one of `stops`, which are indices of messages, in their order. Requests share what they
    have in common, so nobody may write into them."""
    if not may_remember(dialect) or dialect.preflight:
        plain = dialect.with_policy("none")
        for stop in stops:
            earlier = prompt_data.model_copy(update={"messages": prompt_data.messages[:stop]})
            yield plain.render(earlier).messages
        return
    request, given = History(), SharedList[dict[str, Any]]()
    request.add([dialect.system_draft(prompt_data)])
    drafts, start = _written(dialect, prompt_data).drafts, 0
    for stop in stops:
        request.add(chain.from_iterable(drafts[start:stop]))
        start = stop
        same = len(given)
        if given and request.messages[same - 1] is not given[-1]:  # one was joined to it
            same -= 1
        given = given.and_more(same, request.messages[same:])
        yield given


def _written(dialect: Dialect, prompt_data: PromptData) -> Written:
    tools = prompt_data.tool_metadata
    return MEMORY.session(
        dialect,
        prompt_data.messages,
        tools,
        lambda index, message: drafts_of(dialect, index, message, tools),
    )
