"""Bounds of what a request can have read from the cache, and what its bill says beside them.

A cache without marks promises nothing, so no read of it is certain. It holds nothing, however, but
what was sent before: the longest beginning that a request shares with an earlier one, and the
earlier one's answer, is the most that it can read of what a record holds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import Final, Literal

from playground.cache.prefixes import Billed, TimedRequest
from playground.nouns.wire_blocks import WireBlock
from playground.nouns.wire_estimates import token_range

Verdict = Literal[
    "within bounds", "more than the record could leave", "less than was sure", "not judged"
]
NEAR: Final = 50  # tokens at the end of a block that bills leave out or add
_LATEST: Final = 200  # earlier requests that are compared
_ANSWERS: Final = ("assistant", "model", "reasoning")


@dataclass(frozen=True, slots=True)
class ReadBounds:
    """The least and the most that a request reads, in tokens. `most` is None where nothing is
    known of what was sent before."""

    least: int = 0
    most: int | None = None

    def verdict(self, billed_read: int) -> Verdict:
        """Return what a bill says beside the bounds."""
        if billed_read + NEAR < self.least:
            return "less than was sure"
        if self.most is None:
            return "not judged"
        return (
            "within bounds"
            if billed_read <= self.most + NEAR
            else "more than the record could leave"
        )


def read_bounds(
    request: TimedRequest, earlier: Sequence[TimedRequest], bill: Billed, least: int = 0
) -> ReadBounds:
    """Return the bounds of a request after those `earlier` of the same model in a record.

    Only the latest 200 are compared. If there are more, `most` is None for a bill above what these
    left: an older one may have left more.
    """
    if bill.summed or request.wire.parameters.get("history"):  # its beginning is on the server
        return ReadBounds()
    most, whole = 0.0, 0
    for other in reversed(earlier[-_LATEST:]):
        if len(other.chain) >= whole:  # else it shares no more than one that was looked at
            blocks, tokens = _shared(request, other)
            most = max(most, tokens)
            whole = max(whole, blocks)
    if most == inf or (len(earlier) > _LATEST and bill.read > most + NEAR):
        return ReadBounds(least)
    return ReadBounds(least, min(int(most), bill.total))


def _shared(request: TimedRequest, other: TimedRequest) -> tuple[int, float]:
    """Return the blocks that a request shares with an earlier one at their beginnings, and the
    most tokens that it can. The bill that is judged has no part in it."""
    longest = min(len(request.chain), len(other.chain))
    # The hash of a prefix is that of all before it, so the first unequal one can be searched for.
    blocks = bisect_left(range(longest), True, key=lambda n: request.chain[n] != other.chain[n])
    billed = inf if other.billed is None else other.billed.total
    shared = min(_most(other, blocks), billed)
    if blocks == len(other.chain):  # all of it, whose size its own bill says, and its answer
        shared = shared if other.billed is None else billed
        return blocks, shared + _answer(islice(request.wire.blocks, blocks, None))
    if blocks == len(request.chain):
        return blocks, shared
    one, two = request.wire.blocks[blocks].text, other.wire.blocks[blocks].text
    longest = min(len(one), len(two))
    length = bisect_left(range(longest), True, key=lambda n: one[: n + 1] != two[: n + 1])
    part = len(one[:length].encode("utf-8", "surrogatepass"))
    return blocks, min(shared + part, billed)


def _most(other: TimedRequest, blocks: int) -> float:
    """Return the most tokens of the first blocks of an earlier request, by its texts and its bill.

    No text tells the tokens of a picture or a file: then only the bill limits them."""
    if not blocks:
        return 0
    if other.has_opaque:
        return other.size_range(blocks - 1)[1] if other.billed is None else other.billed.total
    sizes = (other.sizes[blocks - 1], other.estimates[blocks - 1])
    return max(token_range(size)[1] for size in sizes)


def _answer(blocks: Iterable[WireBlock]) -> float:
    """Return the most tokens of the answer that a request repeats first."""
    tokens = 0
    for block in blocks:
        if block.role not in _ANSWERS and not block.role.endswith("_call"):
            break
        if block.opaque:
            return inf
        tokens += len(block.text.encode("utf-8", "surrogatepass"))
    return tokens
