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
    """Formatted messages, their blocks and their roles, side by side.

    Roles alone, since a policy looks for the last of one: each message would be brought from far
    memory for it, which in a long session is the most of what one message more costs."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[tuple[Block, ...]] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)

    def add(self, drafts: Iterable[Draft]) -> None:
        """Drafts after the others. Those of one role are joined, for providers want turns to
        alternate; empty ones are left out, for they would part neighbours."""
        messages, blocks, roles = self.messages, self.blocks, self.roles
        for draft in drafts:
            message = draft.message
            if not (_says(message.get("content")) or message.get("tool_calls")):
                continue
            if messages and mergeable(messages[-1], message):
                draft = joined(Draft(messages.pop(), blocks.pop()), draft)
                message = draft.message
            else:
                roles.append(message.get("role", ""))
            messages.append(message)
            blocks.append(draft.blocks)

    def shared(self) -> History:
        """The same, to be added to."""
        return History(self.messages.copy(), self.blocks.copy(), self.roles.copy())

    def after(self, first: Draft) -> History:
        """The same behind another message, to be added to."""
        beginning, found = History(), self.shared()
        beginning.add([first, *map(Draft, self.messages[:1], self.blocks)])  # perhaps joined
        found.messages[:1] = beginning.messages
        found.blocks[:1] = beginning.blocks
        found.roles[:1] = beginning.roles
        return found


def _says(content: Any) -> bool:
    """Whether a content is more than nothing; a system prompt of no text is one empty part."""
    if isinstance(content, list) and len(content) == 1:
        return content[0].get("type") != "text" or bool(content[0].get("text"))
    return bool(content)
