"""A conversation as it was formatted: messages joined to their neighbours as they come.

Nothing that a history has given out is touched again: a neighbour that joins makes a new message.
So the requests of a session, each of which holds those before it, share what they have in common.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from playground.dialects.rendering import Block, Draft, joined, mergeable

_FLAT: Final = frozenset({str, int, float, bool, type(None)})


@dataclass(slots=True)
class History:
    """Formatted messages and their blocks, side by side; `deep` are those that a copy of their
    dict alone would share something with: all but a role and a text."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[tuple[Block, ...]] = field(default_factory=list)
    deep: list[int] = field(default_factory=list)

    def add(self, drafts: Iterable[Draft]) -> None:
        """Drafts after the others. Those of one role are joined, for providers want turns to
        alternate; empty ones are left out, for they would part neighbours."""
        messages, blocks, deep = self.messages, self.blocks, self.deep
        for draft in drafts:
            message = draft.message
            if not (_says(message.get("content")) or message.get("tool_calls")):
                continue
            if messages and mergeable(messages[-1], message):
                draft = joined(Draft(messages.pop(), blocks.pop()), draft)
                message = draft.message
            if (len(message) > 2 or type(message["content"]) is not str) and (
                not deep or deep[-1] != len(messages)
            ):
                deep.append(len(messages))
            messages.append(message)
            blocks.append(draft.blocks)

    def shared(self) -> History:
        """The same, to be added to."""
        return History(self.messages.copy(), self.blocks.copy(), self.deep.copy())

    def own(self) -> History:
        """The same for somebody who may write into all of it."""
        messages = list(map(dict.copy, self.messages))
        for index in self.deep:
            messages[index] = copied(messages[index])
        return History(messages, self.blocks.copy(), self.deep)


def _says(content: Any) -> bool:
    """Whether a content is more than nothing; a system prompt of no text is one empty part."""
    if isinstance(content, list) and len(content) == 1:
        return content[0].get("type") != "text" or bool(content[0].get("text"))
    return bool(content)


def copied(value: Any) -> Any:
    """Dicts and lists anew, all the way down; what stands in them is the same."""
    # what is neither is told here: a call for each of them would take half of the time
    if isinstance(value, dict):
        items = value.items()
        return {key: held if type(held) in _FLAT else copied(held) for key, held in items}
    if isinstance(value, list):
        return [held if type(held) in _FLAT else copied(held) for held in value]
    return value
