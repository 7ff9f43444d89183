"""Bounds of the tokens that a request can have read from the cache, and the verdict on its bill.

A cache without marks promises nothing, so no read of it is certain. But it holds only text that was
sent before, so a request can read at most the longest prefix that it shares with an earlier
recorded request and its answer.
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
MORE_THAN_LEFT: Final = "more than the record could leave"
TOLERANCE: Final = 50  # tolerance in tokens, as bills leave out or add a few at the end of a block
_LATEST: Final = 200  # number of latest requests that are compared
_ANSWER_ROLES: Final = ("assistant", "model", "reasoning")


@dataclass(frozen=True, slots=True)
class ReadBounds:
    """The least and the most tokens that a request can have read; `most` is None if unknown."""

    least: int = 0
    most: int | None = None

    def verdict(self, billed_read: int) -> Verdict:
        """Compare a bill's tokens read with the bounds."""
        if billed_read + TOLERANCE < self.least:
            return "less than was sure"
        if self.most is None:
            return "not judged"
        return "within bounds" if billed_read <= self.most + TOLERANCE else MORE_THAN_LEFT


def read_bounds(
    request: TimedRequest, earlier: Sequence[TimedRequest], bill: Billed, least: int = 0
) -> ReadBounds:
    """Return the least and the most tokens that a request can have read from the cache.

    `least` is the number of tokens that were certain to be read. The most follows from the
    `earlier` recorded requests to the same model. Only the latest 200 are compared; if there are
    more, and the bill shows a larger read than these allow, `most` is None.
    """
    # one bill for several requests, or a history that only the server has
    if bill.summed or request.wire.parameters.get("history"):
        return ReadBounds()
    most, most_blocks = 0.0, 0
    for other in reversed(earlier[-_LATEST:]):
        if other.wire.model != request.wire.model:
            continue
        # An earlier request with fewer blocks than were already found cannot share more.
        if len(other.chain) >= most_blocks:
            blocks, tokens = _shared(request, other)
            most = max(most, tokens)
            most_blocks = max(most_blocks, blocks)
    if most == inf or (len(earlier) > _LATEST and bill.read > most + TOLERANCE):
        return ReadBounds(least)
    return ReadBounds(least, min(int(most), bill.total))


def _shared(request: TimedRequest, other: TimedRequest) -> tuple[int, float]:
    """Return the number of leading blocks that a request shares with an earlier one, and the most
    tokens of the shared text. The request's own bill, which the result checks, is not used."""
    longest = min(len(request.chain), len(other.chain))
    # A hash covers the whole prefix, so hashes differ from the first unequal block on: bisect.
    blocks = bisect_left(range(longest), True, key=lambda n: request.chain[n] != other.chain[n])
    billed = inf if other.billed is None else other.billed.total
    shared = min(_most_tokens(other, blocks), billed)
    if blocks == len(other.chain):  # all of the other request is shared: its answer follows
        shared = shared if other.billed is None else billed
        return blocks, shared + _answer(islice(request.wire.blocks, blocks, None))
    if blocks == len(request.chain):
        return blocks, shared
    text, other_text = request.wire.blocks[blocks].text, other.wire.blocks[blocks].text
    longest = min(len(text), len(other_text))
    length = bisect_left(range(longest), True, key=lambda n: text[: n + 1] != other_text[: n + 1])
    part = len(text[:length].encode("utf-8", "surrogatepass"))
    return blocks, min(shared + part, billed)


def _most_tokens(other: TimedRequest, blocks: int) -> float:
    """Return the most tokens that an earlier request's first `blocks` blocks can have, by its texts
    and its bill. With a picture or file, whose tokens cannot be estimated, only the bill counts."""
    if not blocks:
        return 0
    if other.has_opaque:
        return other.size_range(blocks - 1)[1] if other.billed is None else other.billed.total
    return max(other.size_range(blocks - 1)[1], token_range(other.estimates[blocks - 1])[1])


def _answer(blocks: Iterable[WireBlock]) -> float:
    """Return the most tokens, one a byte, of an answer at the start of these blocks."""
    tokens = 0
    for block in blocks:
        if block.role not in _ANSWER_ROLES and not block.role.endswith("_call"):
            break
        if block.opaque:
            return inf
        tokens += len(block.text.encode("utf-8", "surrogatepass"))
    return tokens
