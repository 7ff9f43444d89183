"""A session's requests in stretches: each holds what the one before it held, and more.

A compaction ends a stretch. Whoever writes requests one after another does so by stretch.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

from playground.sessions.session import Session, held


@dataclass(frozen=True, slots=True)
class HistoryStretch:
    """Requests between two compactions. `order` are all messages of the stretch, by their index in
    the session; the first `kept` of them were left by a compaction. The request that was sent
    before the message `stops[n]` holds the first `lengths[n]` of them."""

    order: Sequence[int]
    kept: int
    stops: Sequence[int]
    lengths: Sequence[int]

    def of(self, session: Session) -> Session:
        """Return the session as if it held nothing but these messages, and nothing recorded of
        them.
        """
        messages = tuple(session.messages[i] for i in self.order)
        return replace(session, messages=messages, requests=(), compactions=(), expected=())


def stretches(session: Session, stops: Sequence[int]) -> Iterator[HistoryStretch]:
    """Yield the requests that were sent before these messages, which are indices in their order."""
    cuts = sorted(session.compactions, key=lambda each: each.begins)
    begins = [each.begins for each in cuts]
    for number, some in groupby(stops, partial(bisect_right, begins)):
        its, made = list(some), cuts[number - 1] if number else None
        until = min([len(session.messages), *begins[number : number + 1]])
        order = held(session.messages, made, until)
        kept = len(held(session.messages, made, made.message)) if made else 0
        lengths, said = [], kept
        for stop in its:
            while said < len(order) and order[said] < stop:
                said += 1
            lengths.append(said)
        yield HistoryStretch(order, kept, its, lengths)
