"""Simulate Gemini's explicit cache: a resource that LiteLLM makes from marks, and that a request
reads completely.

The resource holds the tools, the system prompt and the first run of consecutive marked messages.
Marks after a gap do nothing, and the run may not end with an answer or a result. A resource costs
its tokens when it is made, and storage by the hour; reads do not lengthen its lifetime.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count, takewhile

from playground.cache.prefixes import TimedRequest, in_one_message
from playground.cache.rules import Rules
from playground.nouns.wire_blocks import WireBlock


@dataclass(frozen=True, slots=True)
class Resource:
    """The resource that a request reads or makes; `storage` is in thousandths of a token price."""

    size: int
    read: bool  # True if it was made before, False if this request makes it
    ttl: str
    storage: int
    last: int  # the last block that it holds


@dataclass(slots=True)
class ExplicitCache:
    """The resources made so far, with the times at which they expire."""

    _ends: dict[bytes, float] = field(default_factory=dict)

    def use(self, request: TimedRequest, rules: Rules) -> tuple[Resource | None, str]:
        """Return the request's resource (None if too little is marked) and the reason."""
        cached = cached_blocks(request)
        size = sum(_size(request, block) for block in cached)
        minimum = rules.minimum(request.wire.model)
        if not cached:
            return None, "no message is marked"
        if request.wire.blocks[cached[-1]].role in ("assistant", "tool"):
            return None, "the marked part may not end with an answer or a result"
        if size < minimum:
            about = "" if request.billed else "about "
            return None, f"{about}{size:,} tokens are marked, the minimum is {minimum:,}"
        digests = (sha256(request.wire.blocks[index].identity).digest() for index in cached)
        key = sha256(b"".join(digests)).digest()
        ttl = next(iter(request.marks.values()))  # LiteLLM uses the first mark's lifetime for all
        if self._ends.get(key, float("-inf")) >= request.at:
            return Resource(size, True, ttl, 0, cached[-1]), "the whole explicit cache is read"
        seconds = _seconds(ttl, rules)
        self._ends[key] = request.at + seconds
        # Storage for its whole lifetime is charged at once, because no client deletes it early.
        hourly = rules.figure("storage_permille_hour", request.wire.model).value
        storage = size * hourly * seconds // 3600
        return Resource(size, False, ttl, storage, cached[-1]), "an explicit cache is made"


def cached_blocks(request: TimedRequest) -> list[int]:
    """Return the indexes, in order, of the blocks that the resource would hold; [] for none."""
    blocks = request.wire.blocks
    marked = {place[0]: i for i in request.marks if (place := blocks[i].place) is not None}
    if not marked:
        return []
    # LiteLLM's adapter moves every system message into the resource, marked or not.
    head = [*takewhile(lambda i: blocks[i].tier != "messages", range(len(blocks)))]
    # Of the marked messages the adapter takes only the first unbroken run: with three user messages
    # or more, the marks on the last two have no effect (LiteLLM 1.109.1,
    # `separate_cached_messages`).
    run = takewhile(marked.__contains__, count(min(marked)))
    parts = (index for message in run for index in _parts_around(blocks, marked[message]))
    return [*head, *(index for index in parts if index >= len(head))]


def _parts_around(blocks: Sequence[WireBlock], index: int) -> range:
    """Return the indexes of all parts of the message that has this block."""

    def in_same_message(other: int) -> bool:
        return 0 <= other < len(blocks) and in_one_message(blocks[other], blocks[index])

    start = next(i for i in count(index, -1) if not in_same_message(i - 1))
    return range(start, next(i for i in count(index + 1) if not in_same_message(i)))


def _seconds(ttl: str, rules: Rules) -> int:
    """Return the seconds of a lifetime such as 90s, 5m or 2h; the default for any other text."""
    match = re.fullmatch(r"(\d{1,6})([smh])", ttl)
    if match is None:
        return rules.seconds(str(rules.value("default_ttl")))
    return int(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]


def _size(request: TimedRequest, index: int) -> int:
    return request.sizes[index] - (request.sizes[index - 1] if index else 0)
