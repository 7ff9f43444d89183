"""Reorder or drop messages, and renumber the records that refer to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from playground.nouns.messages import Message
from playground.sessions.session import Session


def last_answer(messages: Sequence[Message]) -> int:
    """Return the index of the last message that is not a tool result. Results after it, of the
    provider's own tools, belong to the answer."""
    index = len(messages) - 1
    while index > 0 and messages[index].role == "tool":
        index -= 1
    return index


def with_messages(session: Session, order: Sequence[int]) -> Session:
    """Return the session with only these messages, given by index, in this order. Its records get
    the new indices; requests whose answer is dropped are dropped, too."""
    place = {old: new for new, old in enumerate(order)}
    requests = (
        replace(record, reply=place.get(record.reply, record.reply))
        for record in session.requests
        if record.reply in place or record.reply < 0
    )
    compactions = (
        replace(
            each,
            message=sum(old < each.message for old in order),
            history=reindexed_history(each.history, place),
        )
        for each in session.compactions
    )
    return replace(
        session,
        messages=tuple(session.messages[old] for old in order),
        requests=tuple(sorted(requests, key=lambda record: record.reply)),
        compactions=tuple(compactions),
        expected=tuple(
            replace(each, message=stop)
            for each in session.expected
            if (stop := _stop(order, each.message))
        ),
    )


def reindexed_history(
    history: Sequence[int] | None, place: Mapping[int, int]
) -> tuple[int, ...] | None:
    """Return a compaction's history with new indices, without dropped messages."""
    return None if history is None else tuple(place[i] for i in history if i in place)


def _stop(order: Sequence[int], stop: int) -> int:
    """Return the index after the remaining messages that were before `stop`; 0 if none remains."""
    return max((new for new, old in enumerate(order) if old < stop), default=-1) + 1
