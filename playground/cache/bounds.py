"""Bounds of what a request can have read from the cache, and what its bill says beside them.

A cache without marks promises nothing, so no read of it is certain. It holds nothing, however, but
what was sent before: the longest beginning that a request shares with an earlier one, and the
earlier one's answer, is the most that it can read of what a record holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os.path import commonprefix
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
    most = max((_shared(request, other) for other in earlier[-_LATEST:]), default=0)
    return ReadBounds(least, min(most, bill.total))


def _shared(request: TimedRequest, other: TimedRequest) -> int:
    """Return the most tokens that a request can share with an earlier one at their beginnings."""
    pairs = zip(request.chain, other.chain, strict=False)
    blocks = next(
        (number for number, (one, two) in enumerate(pairs) if one != two),
        min(len(request.chain), len(other.chain)),
    )
    size = request.sizes[blocks - 1] if blocks else 0
    shared = token_range(size)[1]
    if blocks == len(other.chain):  # all of it, whose size its own bill says, and its answer
        if other.billed is not None:
            shared = other.billed.total
        return shared + _answer(request.wire.blocks[blocks:])
    if blocks == len(request.chain):
        return shared
    one, two = request.wire.blocks[blocks].text, other.wire.blocks[blocks].text
    return shared + len(commonprefix([one, two]).encode("utf-8", "surrogatepass"))


def _answer(blocks: Sequence[WireBlock]) -> int:
    """Return the most tokens of the answer that a request repeats first."""
    tokens = 0
    for block in blocks:
        if block.role not in _ANSWERS and not block.role.endswith("_call"):
            break
        tokens += len(block.text.encode("utf-8", "surrogatepass"))
    return tokens
