"""A formatted conversation, with neighbouring messages of one role joined.

Messages are never changed; joining a neighbour makes a new message. So the requests of a session,
each of which continues the one before, share their common messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from playground.base.shared_lists import SharedList
from playground.dialects.rendering import Block, Draft, mergeable, merged


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
        kept_count = len(self.messages)
        last = [Draft(self.messages[-1], self.blocks[-1])] if kept_count else []
        drafts_after = last.copy()
        for draft in drafts:
            message = draft.message
            if not (_has_content(message.get("content")) or message.get("tool_calls")):
                continue
            if drafts_after and mergeable(drafts_after[-1].message, message):
                drafts_after[-1] = merged(drafts_after[-1], draft)
            else:
                drafts_after.append(draft)
        if last and drafts_after[0] is last[0]:
            del drafts_after[0]
        else:
            kept_count -= len(last)  # a draft was joined to the last message
        return History(
            self.messages.extended_with(kept_count, [draft.message for draft in drafts_after]),
            self.blocks.extended_with(kept_count, [draft.blocks for draft in drafts_after]),
        )


def _has_content(content: Any) -> bool:
    """Return True if a content is not empty; a single empty text part counts as empty."""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        return content[0].get("type") != "text" or bool(content[0].get("text"))
    return bool(content)
