"""A formatted conversation, with neighbours of one role joined.

Messages are never changed; joining a neighbour makes a new message. So the requests of a session,
each of which continues the one before, share their common messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from playground.base.shared_lists import SharedList
from playground.dialects.rendering import Block, Draft, joined, mergeable


@dataclass(frozen=True, slots=True)
class History:
    """Formatted messages and the blocks of each, side by side."""

    messages: SharedList[dict[str, Any]] = field(default_factory=SharedList)
    blocks: SharedList[tuple[Block, ...]] = field(default_factory=SharedList)

    def extended_with(self, drafts: Iterable[Draft]) -> History:
        """Return a history with more drafts.

        Neighbours of one role are joined, because providers require turns to alternate; empty
        drafts are left out, because they would separate neighbours.
        """
        kept = len(self.messages)
        last = list(map(Draft, self.messages[-1:], self.blocks[-1:]))
        found = last.copy()
        for draft in drafts:
            message = draft.message
            if not (_says(message.get("content")) or message.get("tool_calls")):
                continue
            if found and mergeable(found[-1].message, message):
                found[-1] = joined(found[-1], draft)
            else:
                found.append(draft)
        if last and found[0] is last[0]:
            del found[0]
        else:
            kept -= len(last)  # a draft was joined to the last message
        return History(
            self.messages.extended_with(kept, [draft.message for draft in found]),
            self.blocks.extended_with(kept, [draft.blocks for draft in found]),
        )


def _says(content: Any) -> bool:
    """Return True if a content is not empty; a single empty text part counts as empty."""
    if isinstance(content, list) and len(content) == 1:
        return content[0].get("type") != "text" or bool(content[0].get("text"))
    return bool(content)
