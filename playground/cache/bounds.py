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
    """Return the bounds of a request after those `earlier` of the same model in a record."""
    if bill.summed:
        return ReadBounds()
    most = whole = 0
    for other in reversed(earlier[-_LATEST:]):
        if len(other.chain) > whole:  # else it shares no more than one that was looked at
            blocks, tokens = _shared(request, other)
            most = max(most, tokens)
            whole = max(whole, blocks)
    return ReadBounds(least, min(most, bill.total))


def _shared(request: TimedRequest, other: TimedRequest) -> tuple[int, int]:
    """Return the blocks that a request shares with an earlier one at their beginnings, and the
    most tokens that it can."""
    longest = min(len(request.chain), len(other.chain))
    # The hash of a prefix is that of all before it, so the first unequal one can be searched for.
    blocks = bisect_left(range(longest), True, key=lambda n: request.chain[n] != other.chain[n])
    size = request.sizes[blocks - 1] if blocks else 0
    shared = token_range(size)[1]
    if blocks == len(other.chain):  # all of it, whose size its own bill says, and its answer
        if other.billed is not None:
            shared = other.billed.total
        return blocks, shared + _answer(islice(request.wire.blocks, blocks, None))
    if blocks == len(request.chain):
        return blocks, shared
    one, two = request.wire.blocks[blocks].text, other.wire.blocks[blocks].text
    longest = min(len(one), len(two))
    length = bisect_left(range(longest), True, key=lambda n: one[: n + 1] != two[: n + 1])
    return blocks, shared + len(one[:length].encode("utf-8", "surrogatepass"))


def _answer(blocks: Iterable[WireBlock]) -> int:
    """Return the most tokens of the answer that a request repeats first."""
    tokens = 0
    for block in blocks:
        if block.role not in _ANSWERS and not block.role.endswith("_call"):
            break
        tokens += len(block.text.encode("utf-8", "surrogatepass"))
    return tokens
