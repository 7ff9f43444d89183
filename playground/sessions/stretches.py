"""Divide a session's requests into stretches, in which each request continues the one before.

A compaction ends a stretch.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import groupby

from playground.sessions.session import Session, request_messages


@dataclass(frozen=True, slots=True)
class HistoryStretch:
    """The requests between two compactions.

    `order` are the indexes, in the session, of the stretch's messages; the compaction before the
    stretch kept the first `kept` of these. The request before message `stops[n]` holds the first
    `lengths[n]` of them.
    """

    order: Sequence[int]
    kept: int
    stops: Sequence[int]
    lengths: Sequence[int]

    def of(self, session: Session) -> Session:
        """Return the session with only these messages; no requests, compactions or `expected`."""
        part = object.__new__(Session)  # unchecked: the session's values were checked
        vars(part).update({each.name: getattr(session, each.name) for each in fields(Session)})
        messages = tuple(session.messages[i] for i in self.order)
        vars(part).update(messages=messages, requests=(), compactions=(), expected=())
        return part


def stretches(session: Session, stops: Sequence[int]) -> Iterator[HistoryStretch]:
    """Yield the stretches of the requests that were sent before messages `stops`, in order."""
    compactions = sorted(session.compactions, key=lambda each: each.begins)
    begins = [each.begins for each in compactions]
    for number, group in groupby(stops, partial(bisect_right, begins)):
        own_stops, compaction = list(group), compactions[number - 1] if number else None
        end = min([len(session.messages), *begins[number : number + 1]])
        order = request_messages(session.messages, compaction, end)
        kept = 0
        if compaction:
            kept = len(request_messages(session.messages, compaction, compaction.message))
        lengths, length = [], kept
        for stop in own_stops:
            while length < len(order) and order[length] < stop:
                length += 1
            lengths.append(length)
        yield HistoryStretch(order, kept, own_stops, lengths)
