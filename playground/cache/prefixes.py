"""A request at its time: the hash, position and size of every prefix, block by block.

Sizes are estimated from texts; a request's billed usage, where it is known, makes them exact.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, islice, pairwise
from typing import Final

from playground.base.shared_lists import SharedList
from playground.cache.rules import Rules
from playground.nouns.wire_blocks import TIERS, Tier, WireBlock, WireRequest, shared_length
from playground.nouns.wire_estimates import token_range

_VISIBLE: Final = frozenset(("text", "tool", "tool_use", "tool_result", "thinking"))
_TOKENS_OF_OTHERS: Final = 1_000  # of an image or document, whose size cannot be seen


@dataclass(frozen=True, slots=True)
class Billed:
    """What the provider billed for a request's input.

    `write_hour` of what was written lives for an hour. A bill is `summed` where tools ran on the
    server: it is that of several rounds, and tells no size of this request.
    """

    read: int
    write: int
    uncached: int
    write_hour: int = 0
    summed: bool = False

    @property
    def total(self) -> int:
        return self.read + self.write + self.uncached


class TimedRequest:
    """A request at its time, in seconds of any clock; `billed` is what it cost, where known.

    `marks` (TTLs by block) stand in place of those on the blocks. Chains, positions and sizes do
    not depend on marks: `marked` gives the same request with others, at no cost. Those of the
    blocks that the request `before` has too are taken from it, so a history is hashed once.
    `told`, the estimates of earlier requests' beginnings and what was billed for them, ascending,
    makes estimates better: what lies between two of them is in proportion.
    """

    def __init__(
        self,
        wire: WireRequest,
        at: float,
        rules: Rules,
        billed: Billed | None = None,
        before: TimedRequest | None = None,
        told: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.wire, self.at = wire, at
        self.summed = billed is not None and billed.summed
        self.billed = None if self.summed else billed  # what sizes can be told from
        shared = _shared(wire, before.wire) if before else 0
        kept = before if before and shared else _Nothing()
        self.chain: SharedList[bytes] = _chain(wire, rules, kept.chain, shared)
        self.positions: SharedList[int] = _positions(wire.blocks, rules, kept.positions, shared)
        self.estimates: SharedList[int] = _estimates(wire.blocks, kept.estimates, shared)
        self.sizes = _scaled(self.estimates, self.billed, told)
        # where a text stands as a string, and where a mark is, is no part of what is cached
        same = shared_length(wire.blocks, before.wire.blocks) if before else 0
        twin = before if before and same else _Nothing()
        self._written: dict[int, str] = {i: ttl for i, ttl in twin._written.items() if i < same}
        self._written |= {
            i: b.ttl for i, b in enumerate(wire.blocks[same:], same) if b.ttl is not None
        }
        self.marks = self._written
        self._strings: SharedList[int] = _strings(wire.blocks, twin._strings, same)

    def strings(self, block: int) -> int:
        """How many blocks up to this one are a content that is a string, no list of blocks."""
        return self._strings[block]

    def begins_like(self, other: TimedRequest, block: int) -> bool:
        """Whether both begin alike, up to this block and with it."""
        return block < len(self.chain) and self.chain[block] == other.chain[block]

    @cached_property
    def answered(self) -> frozenset[bytes]:
        """The prefixes with an answer behind them: the requests with whose answers this goes on.
        (Found once: entries that are still being written may be as many as its blocks.)"""
        ends = zip(self.chain, self.wire.blocks[1:], strict=False)
        return frozenset(key for key, block in ends if block.role in ("assistant", "model"))

    def token_range(self, tokens: int) -> tuple[int, int]:
        """What a size of this request may really be: itself where a bill made it exact."""
        if self.billed is not None:
            return tokens, tokens
        return token_range(tokens)

    def tokens_from(self, start: int) -> list[int]:
        """The estimated tokens of each block from this one on, as the blocks tell them."""
        ends = self.estimates[start:]
        begins = [self.estimates[start - 1] if start else 0, *ends]
        return [
            end - begin if block.kind in _VISIBLE else block.tokens
            for block, begin, end in zip(self.wire.blocks[start:], begins, ends, strict=False)
        ]

    def marked(self, marks: dict[int, str]) -> TimedRequest:
        """The same request with these marks and no others."""
        other = copy(self)
        other.marks = marks
        return other

    def moved(self, at: float) -> TimedRequest:
        """The same request at another time."""
        other = copy(self)
        other.at = at
        return other


@dataclass(frozen=True, slots=True)
class _Nothing:
    """What a request goes on from that shares nothing with the one before."""

    chain: SharedList[bytes] = field(default_factory=SharedList)
    positions: SharedList[int] = field(default_factory=SharedList)
    estimates: SharedList[int] = field(default_factory=SharedList)
    _strings: SharedList[int] = field(default_factory=SharedList)
    _written: dict[int, str] = field(default_factory=dict)


def _shared(wire: WireRequest, before: WireRequest) -> int:
    """How many blocks both begin with, where nothing else salts them apart."""
    if (wire.model, wire.parameters) != (before.model, before.parameters):
        return 0
    most = min(len(wire.blocks), len(before.blocks))
    count = shared_length(wire.blocks, before.blocks)
    # what differs by a mark or its place alone is the same to the cache
    while count < most and wire.blocks[count].says_the_same(before.blocks[count]):
        count = shared_length(wire.blocks, before.blocks, count + 1)
    return count


def _strings(blocks: Sequence[WireBlock], sums: SharedList[int], known: int) -> SharedList[int]:
    """Contents that are strings, up to each block."""
    before = sums[known - 1] if known else 0
    own = (block.is_string for block in blocks[known:])
    return sums.and_more(known, islice(accumulate(own, initial=before), 1, None))


def _chain(
    wire: WireRequest, rules: Rules, before: SharedList[bytes], known: int
) -> SharedList[bytes]:
    """The hash of every prefix, after those that are known.

    A tier's first block carries the parameters that salt it; empty tiers pass theirs on.
    """
    chain: list[bytes] = []
    # No model reads another's cache, whatever else is the same.
    head = f"{rules.provider}\0{wire.model}"
    state = hashlib.sha256(head.encode("utf-8", "surrogatepass")).digest()
    state = before[known - 1] if known else state
    salts: dict[Tier, list[str]] = rules.value("salts")
    salted = TIERS.index(wire.blocks[known - 1].tier) + 1 if known else 0
    for block in wire.blocks[known:]:
        while salted <= TIERS.index(block.tier):
            names = salts.get(TIERS[salted], [])
            # What a request does not say is no change: a default that is spelled out would be one.
            given = {name: wire.parameters[name] for name in names if name in wire.parameters}
            if given:
                salt = json.dumps(given, sort_keys=True, default=str).encode()
                state = hashlib.sha256(state + salt).digest()
            salted += 1
        state = hashlib.sha256(state + block.digest).digest()
        chain.append(state)
    return before.and_more(known, chain)


def _positions(
    blocks: Sequence[WireBlock], rules: Rules, positions: SharedList[int], known: int
) -> SharedList[int]:
    """Positions as the look-back counts them; runs of calls and of results are one where so."""
    collapse, own = rules.value("collapse_runs"), list[int]()
    before, position = (blocks[known - 1].kind, positions[known - 1]) if known else ("", -1)
    for block in blocks[known:]:
        same = collapse and block.kind == before and block.kind in ("tool_use", "tool_result")
        position, before = position + (not same), block.kind
        own.append(position)
    return positions.and_more(known, own)


def _estimates(blocks: Sequence[WireBlock], sums: SharedList[int], known: int) -> SharedList[int]:
    """Tokens of every prefix."""
    total, own = sums[known - 1] if known else 0, list[int]()
    for block in blocks[known:]:
        # The base64 of an image is far longer than its tokens.
        visible = block.kind in _VISIBLE
        total += block.tokens if visible else min(block.tokens, _TOKENS_OF_OTHERS)
        own.append(total)
    return sums.and_more(known, own)


def _in_proportion(size: int, told: Sequence[tuple[int, int]]) -> int:
    """An estimate, as far between what was billed for its neighbours as between theirs."""
    low = (0, 0)
    for high in told[:-1]:
        if size <= high[0]:
            break
        low = high
    else:
        high = told[-1]
    return low[1] + (size - low[0]) * (high[1] - low[1]) // (high[0] - low[0])


def _scaled(
    estimates: SharedList[int], billed: Billed | None, told: Sequence[tuple[int, int]]
) -> Sequence[int]:
    """The estimates, scaled to the billed total where it is known."""
    if billed is not None and estimates:
        told = [*told, (estimates[-1], billed.total)]
    points = [point for point in told if min(point) > 0]
    if any(
        low >= high for one, two in pairwise(points) for low, high in zip(one, two, strict=True)
    ):
        points = points[-1:]  # they do not rise: the newest alone
    if len(points) == 1:
        ((estimated, tokens),) = points
        return [size * tokens // estimated for size in estimates]
    return [_in_proportion(size, points) for size in estimates] if points else estimates
