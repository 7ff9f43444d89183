"""Follow a provider's cache while requests pass: predict at sending, correct at the answer.

An unanswered or refused request leaves nothing in the cache. An entry can be read as soon as the
answer to its request begins; the bill corrects its size.
"""

from __future__ import annotations

from collections import ChainMap
from copy import deepcopy
from dataclasses import dataclass, field
from math import inf
from typing import Final

from playground.cache.earlier import CacheEntry
from playground.cache.prefixes import TimedRequest
from playground.cache.simulated import Simulated
from playground.cache.simulator import CacheSimulator

_MOST_ENTRIES: Final = 200_000  # if there are more, expired entries are deleted


@dataclass(slots=True)
class Prediction:
    """An unfinished request: its predicted outcome, and the `entries` that it will leave. `branch`
    is the cache after the request. `replaced` has, by the same keys, the earlier entries."""

    request: TimedRequest
    outcome: Simulated
    branch: CacheSimulator
    entries: dict[bytes, CacheEntry]
    replaced: dict[bytes, CacheEntry | None] = field(default_factory=dict)


@dataclass(slots=True)
class LiveCache(CacheSimulator):
    """The cache of one provider, for requests that are sent, answered and billed at any time."""

    def predict(self, request: TimedRequest) -> Prediction:
        """Predict a request's outcome. The cache does not change until `record_sent`."""
        entries: dict[bytes, CacheEntry] = {}
        branch = CacheSimulator(
            self.rules,
            ChainMap(entries, self._entries),  # type: ignore[arg-type]  # a branch deletes none
            deepcopy(self._explicit),
            set(self._doubtful),
            _summed=set(self._summed),
            _warm=dict(self._warm),
            # unfinished requests make nothing uncertain, because all times are known
            _now=max(self._now, request.at),
            _last_doubtful=self._last_doubtful,
            _prefix_check=self._prefix_check.copy(),
            _earlier=self._earlier.copy(),
            one_by_one=True,  # the time when each answer began is known
            _first_blocks=set(self._first_blocks),
        )
        return Prediction(request, branch.send(request), branch, entries)

    def record_sent(self, prediction: Prediction) -> None:
        """Record that the request was sent. Its entries cannot be read yet."""
        for key, entry in prediction.entries.items():
            old = prediction.replaced[key] = self._entries.get(key)
            alive = old is not None and old.expires >= prediction.request.at
            entry.visible = old.visible if old is not None and alive else inf  # when it can be read
        self._entries.update(prediction.entries)
        branch = prediction.branch
        self._explicit = branch._explicit
        self._doubtful, self._last_doubtful = branch._doubtful, branch._last_doubtful
        self._summed, self._warm, self._now = branch._summed, branch._warm, branch._now
        self._prefix_check, self._earlier = branch._prefix_check, branch._earlier
        self._first_blocks = branch._first_blocks
        if len(self._entries) > _MOST_ENTRIES:
            living = {k: e for k, e in self._entries.items() if e.expires >= self._now}
            self._entries.clear()
            self._entries.update(living)

    def record_first_token(self, prediction: Prediction, at: float) -> None:
        """Record that the first token of the answer came at this time."""
        for key, entry in prediction.entries.items():
            if self._entries.get(key) is entry:
                entry.visible = min(entry.visible, at)

    def undo(self, prediction: Prediction) -> None:
        """Undo a request that was refused or never answered."""
        for key, entry in prediction.entries.items():
            if self._entries.get(key) is not entry:
                continue
            old = prediction.replaced.get(key)
            if old is None:
                del self._entries[key]
            else:
                self._entries[key] = old

    def record_bill(self, prediction: Prediction, sent: TimedRequest) -> None:
        """Correct the cache by a bill; `sent` is the same request with its bill."""
        bill, points = sent.billed, prediction.outcome.breakpoints
        if bill is None or self.rules.match == "best effort":
            return  # this cache may miss at random, so a bill does not show an entry's size
        cached = bill.cached
        if not cached:
            self.undo(prediction)  # no prefix of the request was long enough to be cached
            return
        hit = prediction.outcome.hit
        if hit is not None and bill.read and (read := self._entries.get(sent.chain[hit])):
            read.size, read.sized = bill.read, True
        for point in points:
            entry = self._entries.get(sent.chain[point])
            if entry is None or (entry.sized and point != points[-1]):
                continue
            entry.sized = point == points[-1]
            entry.size = cached if entry.sized else sent.sizes[point]
