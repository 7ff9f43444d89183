"""A conversation as it was formatted: messages joined to their neighbours as they come.

Nothing that a history has given out is touched again: a neighbour that joins makes a new message.
So the requests of a session, each of which holds those before it, share what they have in common.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from playground.dialects.rendering import Block, Draft, joined, mergeable


@dataclass(slots=True)
class History:
    """Formatted messages and their blocks, side by side; `deep` are those with parts or calls."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[tuple[Block, ...]] = field(default_factory=list)
    deep: list[int] = field(default_factory=list)

    def add(self, drafts: Iterable[Draft]) -> None:
        """Drafts after the others. Those of one role are joined, for providers want turns to
        alternate; empty ones are left out, for they would part neighbours."""
        for draft in drafts:
            if not (draft.message.get("content") or draft.message.get("tool_calls")):
                continue
            if self.messages and mergeable(self.messages[-1], draft.message):
                draft = joined(Draft(self.messages.pop(), self.blocks.pop()), draft)
            if _is_deep(draft.message) and self.deep[-1:] != [len(self.messages)]:
                self.deep.append(len(self.messages))
            self.messages.append(draft.message)
            self.blocks.append(draft.blocks)

    def shared(self) -> History:
        """The same, to be added to."""
        return History(self.messages.copy(), self.blocks.copy(), self.deep.copy())

    def own(self) -> History:
        """The same for somebody who may write into all of it."""
        messages = list(map(dict.copy, self.messages))
        for index in self.deep:
            messages[index] = copied(messages[index])
        return History(messages, self.blocks.copy(), self.deep)


def _is_deep(message: dict[str, Any]) -> bool:
    return any(isinstance(value, dict | list) for value in message.values())


def copied(value: Any) -> Any:
    """Dicts and lists anew, all the way down; what stands in them is the same."""
    # what is neither is told here: a call for each of them would take half of the time
    if isinstance(value, dict):
        items = value.items()
        return {k: copied(v) if isinstance(v, dict | list) else v for k, v in items}
    if isinstance(value, list):
        return [copied(v) if isinstance(v, dict | list) else v for v in value]
    return value
