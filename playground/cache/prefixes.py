"""A request with its time, and the hash, position and size of each of its prefixes, block by block.

Sizes are tokens as `playground/tokens` counts them, with what the provider adds for tools. A bill,
if known, gives the size of the whole request, and the sizes of its prefixes are scaled to that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from math import inf, isinf
from typing import Any, Final, Generic, TypeVar

from playground.base.shared_lists import SharedList, shared_length
from playground.base.wording import grouped
from playground.cache.rules import Rules
from playground.cache.rules.names import plain_name
from playground.nouns.wire_blocks import TIERS, Tier, WireBlock, WireRequest, same_blocks
from playground.nouns.wire_estimates import token_range
from playground.tokens.estimate import Bounds, Family, Sums, bounds, likely
from playground.tokens.prefixes import sums_of, unpublished, whole_bounds

OTHER_ROLE: Final = "ipython"  # of some dialects; what LiteLLM does with other roles is unknown
_IDS: Final = ('"tool_call_id": ', '"tool_use_id": ')  # OpenAI's and Anthropic's
_ALWAYS_COUNTED: Final = 100  # requests of up to so many blocks are always counted
_TOKENS_OF_OPAQUE: Final = 1_000  # most tokens of a picture or file, instead of those of its base64


@dataclass(frozen=True, slots=True)
class Billed:
    """The input tokens that the provider billed for a request.

    `write_hour` is the part of `write` with the longer lifetime: an hour, or twelve with OpenAI. A
    bill is `summed` if tools ran on the server: it covers several rounds, so the size of this
    request does not follow from it.
    """

    read: int
    write: int
    uncached: int
    write_hour: int = 0
    summed: bool = False

    @property
    def total(self) -> int:
        return self.cached + self.uncached

    @property
    def cached(self) -> int:
        """The length of the prefix that the cache holds after the request."""
        return self.read + self.write


class TimedRequest:
    """A request at its time, in seconds of any clock; `billed` is its bill, if known.

    `marks` (lifetimes by block index) replace those on the blocks. Chains, positions and sizes do
    not depend on marks, so `marked` gives the same request with other marks at no cost. Leading
    blocks that the request `before` shares, with equal model and parameters, are not hashed again.
    `known_sizes` are pairs of an earlier request's estimated and billed size, ascending; a size
    between two pairs is interpolated. `counted` is the count of the whole request, if the model's
    tokenizer is known. If `billed`, `known_sizes` and `counted` are all missing, and no tokenizer
    is published for the model, each prefix is estimated as `count_tokens` estimates a request.
    """

    def __init__(
        self,
        wire: WireRequest,
        at: float,
        rules: Rules,
        billed: Billed | None = None,
        before: TimedRequest | None = None,
        known_sizes: Sequence[tuple[int, int]] = (),
        counted: Bounds | None = None,
    ) -> None:
        if wire.clears_at or wire.thinks:  # otherwise nothing is removed from the prompt
            from playground.cache.prompt_view import as_prompted

            wire = as_prompted(wire, rules)
        self.wire, self.at = wire, at
        # copies with other marks or times share these three caches
        self.known_bounds: dict[int, Bounds] = {}
        self.known_doubts: dict[Rules, str] = {}
        self.known_ends: dict[int, tuple[int, ...]] = {}
        self.summed = billed is not None and billed.summed
        self.billed = None if self.summed else billed  # a sum of rounds does not give the size
        same = shared_length(before.wire.blocks, wire.blocks) if before else 0
        shared = _shared(wire, before.wire, same) if before else 0
        source = before if before and shared else _Nothing()
        own = wire.blocks[shared:]
        self.chain: SharedList[bytes] = _chain(wire, own, rules, source.chain, shared)
        self.positions: SharedList[int] = _positions(wire, own, rules, source.positions, shared)
        # Estimates are computed only when one is read: a check for refusals reads none.
        self._estimates: _Figures[int] = source._estimates.extended(wire.blocks, shared, _estimates)
        self.counted = None if self.billed else counted
        self.known_sizes, self.counted_blocks = tuple(known_sizes), len(wire.blocks)
        if counted and self.estimates:
            self.known_sizes = (*_size_of(before, shared), (self.estimates[-1], counted.tokens))
        elif before is not None:
            self.counted_blocks = before.counted_blocks
        is_known = self.billed or known_sizes or counted
        self._family = None if is_known else unpublished(wire.model)
        if (family := self._family) is not None:
            sums = source._sums.extended(wire.blocks, shared, partial(_extended_sums, family))
            self.sizes: Sequence[int] = _Sizes(
                len(wire.blocks), lambda at: likely(family, sums.read()[at])
            )
        else:
            sums = _Figures[Sums]()
            self.sizes = _scaled(self.estimates, self.billed, self.known_sizes)
        self._sums: _Figures[Sums] = sums
        # Hashes leave out marks, and whether a content is a string. So marks and counts of strings
        # are taken over only for the `same` leading blocks, which are equal in everything.
        twin = before if before and same else _Nothing()
        self._written: dict[int, str] = {i: ttl for i, ttl in twin._written.items() if i < same}
        changed = own if same == shared else wire.blocks[same:]
        self._written |= {i: b.ttl for i, b in enumerate(changed, same) if b.ttl is not None}
        self.marks = self._written
        counts = not rules.string_is_block(wire.model)
        self._strings: SharedList[int] = (
            _strings(wire.blocks, twin._strings, same) if counts else _UNCOUNTED
        )
        self._opaque: SharedList[int] = _opaque(own, source._opaque, shared)
        self.first_without_id: int | None = _first(_lacks_id, own, source.first_without_id, shared)
        self.first_other: int | None = _first(_is_other, own, source.first_other, shared)

    @property
    def plain_model(self) -> str:
        """The model's name without its route, its region and its date."""
        return plain_name(self.wire.model)

    @property
    def estimates(self) -> SharedList[int]:
        """The estimated tokens of every prefix, without a bill."""
        return self._estimates.read()

    @cached_property
    def total(self) -> int:
        return self.sizes[-1] if self.sizes else 0

    def _prefix_bounds(self, block: int) -> Bounds:
        if block not in self.known_bounds:
            assert self._family is not None
            settings = self.wire.settings
            self.known_bounds[block] = bounds(self._family, self._sums.read()[block], settings)
        return self.known_bounds[block]

    def size_range(self, block: int) -> tuple[int, float]:
        """Return the lowest and highest true size of the prefix up to this block; both are equal
        only for the whole request, if a bill or the model's tokenizer gives its size. Pictures and
        files have no upper limit except a bill."""
        opaque = self._opaque[block] if self._opaque else 0
        if self.billed is not None:
            return self._billed_range(block, opaque, self.billed.total)
        if self._family is not None:
            prefix = self._prefix_bounds(block)
            return prefix.least, inf if opaque or prefix.most is None else prefix.most
        if self.counted and block == len(self.sizes) - 1:
            return self.counted.least, inf if self.counted.most is None else self.counted.most
        if not opaque:
            return token_range(self.sizes[block])
        return token_range(max(0, self.estimates[block] - opaque))[0], inf

    def _billed_range(self, block: int, opaque: int, total: int) -> tuple[int, float]:
        """Return the range of a prefix's size in a request with `total` billed tokens."""
        if block == len(self.sizes) - 1:
            return total, total
        if self.has_opaque:
            low, high = token_range(self.estimates[block] - opaque)
            return min(low, total), total if opaque else min(high, total)
        scaled = size = self.sizes[block]
        whole, (least, most) = total, token_range(self.estimates[-1])
        if least <= total <= most:  # otherwise the texts are unusual: use the billed proportion
            size, whole = self.estimates[block], self.estimates[-1]
        low, high = token_range(size)
        least, most = token_range(whole - size)  # the range of what follows the prefix
        return min(max(low, total - most), scaled), max(min(high, total - least), scaled)

    def about(self, block: int) -> str:
        """Return "about " if the size of the prefix up to this block is an estimate, else ""."""
        low, high = self.size_range(block)
        return "" if low == high else "about "

    @property
    def total_range(self) -> tuple[int, int | None]:
        """The lowest and highest true size of the whole request; None without an upper limit."""
        low, high = self.size_range(len(self.sizes) - 1) if self.sizes else (0, 0)
        return low, None if isinf(high) else int(high)

    @property
    def size_line(self) -> str:
        """A line that says how the tokens of a request without a bill were counted."""
        low, high = self.total_range
        if low == high:
            return "tokens are counted with the model's own tokenizer, not billed"
        most = "no upper limit" if high is None else f"{high:,}"
        return f"tokens are estimates: {self.total:,} may be {low:,} to {most}"

    def billed_size_range(self, point: int, last: int) -> tuple[int, float]:
        """Return the fewest and most tokens up to a mark; for the last mark a bill gives them."""
        billed = self.billed
        if billed is not None and point == last and billed.cached:
            return billed.cached, billed.cached
        return self.size_range(point)

    @property
    def is_billed_read(self) -> bool:
        """True if the request's own bill shows that something was read."""
        return self.billed is not None and self.billed.read > 0

    @property
    def last_hash(self) -> bytes:
        """The hash of the whole prompt; empty if it has no block."""
        return self.chain[-1] if self.chain else b""

    @property
    def has_opaque(self) -> bool:
        """True if the body holds a picture or a file, whose tokens cannot be counted as text."""
        return bool(self._opaque and self._opaque[-1])

    def strings(self, block: int) -> int:
        """Return how many contents up to this block are strings rather than lists of blocks; 0 if
        both make the same prefix."""
        return self._strings[block] if self._strings else 0

    def begins_like(self, other: TimedRequest, block: int) -> bool:
        """Return True if both requests are equal up to and including this block."""
        return block < len(self.chain) and self.chain[block] == other.chain[block]

    @cached_property
    def answered(self) -> frozenset[bytes]:
        """The hashes of prefixes that end before an answer: requests that this one continues."""
        ends = zip(self.chain, self.wire.blocks[1:], strict=False)
        return frozenset(key for key, block in ends if _is_answer(block.role))

    def tokens_from(self, start: int) -> list[int]:
        """Return the tokens of each block from this index on, estimated without bills."""
        if self._family is not None:
            totals = [0, *(sums.text_tokens for sums in self._sums.read())][start:]
            return [int(end - begin) for begin, end in pairwise(totals)]
        ends = self.estimates[start:]
        begins = [self.estimates[start - 1] if start else 0, *ends]
        return [
            block.tokens if block.opaque else end - begin
            for block, begin, end in zip(self.wire.blocks[start:], begins, ends, strict=False)
        ]

    def marked(self, marks: dict[int, str]) -> TimedRequest:
        """Return the same request with these marks instead of its own."""
        other = self._copy()
        other.marks = marks
        return other

    def moved(self, at: float) -> TimedRequest:
        """Return the same request at another time."""
        other = self._copy()
        other.at = at
        return other

    def _copy(self) -> TimedRequest:
        """Return a copy. This takes a tenth of the time of `copy.copy`."""
        other = object.__new__(TimedRequest)
        other.__dict__ = self.__dict__.copy()
        return other


def counted_request(
    body: dict[str, Any],
    wire: WireRequest,
    at: float,
    rules: Rules,
    before: TimedRequest | None = None,
    billed: Billed | None = None,
) -> TimedRequest:
    """Return a request that is counted as a whole, if the model's tokenizer is published.

    Of a long row of requests only some are counted, because each repeats the history. The sizes of
    the others follow from the last count.
    """
    number = len(wire.blocks)
    due = before is None or number <= _ALWAYS_COUNTED or 4 * number >= 5 * before.counted_blocks
    counted = whole_bounds(body, wire.model) if due and billed is None else None
    known_sizes = before.known_sizes if before and not due else ()
    return TimedRequest(wire, at, rules, billed, before, known_sizes, counted)


def size_between(low: int, high: float) -> str:
    """Return a range of tokens in words: `800 to 1,400`."""
    if low == high:
        return grouped(low)
    return f"{grouped(low)} or more" if isinf(high) else f"{grouped(low)} to {grouped(high)}"


def in_one_message(one: WireBlock, other: WireBlock) -> bool:
    return one.place is not None and other.place is not None and one.place[0] == other.place[0]


def _is_answer(role: str) -> bool:
    """Return True for a role of the model. In the Responses API an item's type is its role."""
    return role in ("assistant", "model", "reasoning") or role.endswith("_call")


_Figure = TypeVar("_Figure")
_Extended = Callable[
    [Sequence[WireBlock], SharedList[_Figure], int], SharedList[_Figure]
]  # blocks, earlier figures, number of leading blocks that keep these -> the blocks' figures


class _Figures(Generic[_Figure]):
    """A figure for each block of a request; all are computed when they are first read. Copies of
    the request share them, and later requests that begin like it only add to them."""

    __slots__ = ("_before", "_blocks", "_extended", "_known", "_shared")

    def __init__(self) -> None:
        self._known = SharedList[_Figure]()
        self._extended: _Extended[_Figure] | None = None  # None once the figures are known
        self._before: _Figures[_Figure] | None = None
        self._blocks: Sequence[WireBlock] = ()
        self._shared = 0  # number of leading blocks shared with the earlier request

    def extended(
        self, blocks: Sequence[WireBlock], shared: int, extended: _Extended[_Figure]
    ) -> _Figures[_Figure]:
        """Return the figures of a request that shares its first blocks with this one."""
        figures, before = _Figures[_Figure](), self
        while (earlier := before._before) is not None and shared <= before._shared:
            before = earlier  # so that a request of which nothing is shared leaves memory
        figures._before, figures._shared = before, shared
        figures._blocks, figures._extended = blocks, extended
        return figures

    def read(self) -> SharedList[_Figure]:
        """Return the figures, after computing those of earlier requests, on which they build."""
        pending, figures = [], self
        while (before := figures._before) is not None:
            pending.append(figures)
            figures = before
        known = figures._known
        for figures in reversed(pending):
            if (extended := figures._extended) is not None:  # or another thread has computed them
                start = min(figures._shared, len(known))
                figures._known = extended(figures._blocks, known, start)
                figures._before = figures._extended = None
            known = figures._known
        return known


@dataclass(frozen=True, slots=True)
class _Nothing:
    """The state that a request starts with if it shares nothing with an earlier one."""

    chain: SharedList[bytes] = field(default_factory=SharedList)
    positions: SharedList[int] = field(default_factory=SharedList)
    _estimates: _Figures[int] = field(default_factory=_Figures)
    _sums: _Figures[Sums] = field(default_factory=_Figures)
    _strings: SharedList[int] = field(default_factory=SharedList)
    _opaque: SharedList[int] = field(default_factory=SharedList)
    _written: dict[int, str] = field(default_factory=dict)
    first_without_id: int | None = None
    first_other: int | None = None


def _size_of(request: TimedRequest | None, shared: int) -> Sequence[tuple[int, int]]:
    """Return a request's estimated and true size, if all its blocks are shared by a later one."""
    return request.known_sizes[-1:] if request and shared == len(request.wire.blocks) else ()


def _first(
    check: Callable[[WireBlock], bool], new: Sequence[WireBlock], earlier: int | None, start: int
) -> int | None:
    """Return the index of the first block that passes a check. `earlier` is the previous request's
    result, and `new` are the blocks from index `start` on, which that request lacks."""
    if earlier is not None and earlier < start:
        return earlier
    return next((index for index, block in enumerate(new, start) if check(block)), None)


def _lacks_id(block: WireBlock) -> bool:
    is_text = block.kind == "tool_result" and block.size is None
    return is_text and not any(name in block.text for name in _IDS)


def _is_other(block: WireBlock) -> bool:
    return block.role == OTHER_ROLE and block.tier == "messages"


def _shared(wire: WireRequest, before: WireRequest, equal: int) -> int:
    """Return the number of leading blocks with equal hashes; 0 if model or parameters differ."""
    if (wire.model, wire.parameters) != (before.model, before.parameters):
        return 0
    return same_blocks(wire.blocks, before.blocks, equal)


_UNCOUNTED: Final = SharedList[int]()


def _strings(blocks: Sequence[WireBlock], sums: SharedList[int], start: int) -> SharedList[int]:
    """Return for each block how many contents up to it are strings."""
    if len(sums) < start:  # they were not counted for the previous request's model
        sums, start = SharedList(), 0
    total, counts = sums[start - 1] if start else 0, list[int]()
    for block in blocks[start:]:
        total += block.is_string
        counts.append(total)
    if start < len(sums):  # the next blocks may differ only in their marks
        same = shared_length(sums[start:], counts)
        start, counts = start + same, counts[same:]
    return sums.extended_with(start, counts)


def _opaque(blocks: Sequence[WireBlock], sums: SharedList[int], start: int) -> SharedList[int]:
    """Return for each block the estimated tokens of all content without text up to it. The list is
    empty if there is no such content."""
    if not sums and not any(block.opaque for block in blocks):
        return sums
    if not sums:
        sums = SharedList([0] * start)
    total, counts = sums[start - 1] if start else 0, list[int]()
    for block in blocks:
        total += _estimate(block) if block.opaque else 0
        counts.append(total)
    return sums.extended_with(start, counts)


def _chain(
    wire: WireRequest, new: Sequence[WireBlock], rules: Rules, hashes: SharedList[bytes], start: int
) -> SharedList[bytes]:
    """Return the hash of every prefix: the known `hashes`, then those of the `new` blocks. The hash
    of a tier's first block includes the parameters on which this tier's entries depend (its salts).
    The parameters of an empty tier are included in the next tier's."""
    chain: list[bytes] = []
    state = hashes[start - 1] if start else _root(wire, rules)
    salts: dict[Tier, list[str]] = rules.value("salts")
    salted = TIERS.index(wire.blocks[start - 1].tier) + 1 if start else 0
    for block in new:
        while salted < len(TIERS) and salted <= TIERS.index(block.tier):
            names = salts.get(TIERS[salted], [])
            # A default that is written out is the same as a missing parameter: it is left out.
            added = rules.salts_of(names, wire.parameters, wire.model)
            if added:
                salt = json.dumps(added, sort_keys=True, default=str).encode()
                state = hashlib.sha256(state + salt).digest()
            salted += 1
        state = hashlib.sha256(state + block.identity).digest()
        chain.append(state)
    return hashes.extended_with(start, chain)


def _root(wire: WireRequest, rules: Rules) -> bytes:
    """Return the hash before the first block: of provider, model, and a history on the server."""
    # No model reads another model's cache.
    head = f"{rules.provider}\0{wire.model}"
    if history := wire.parameters.get("history"):  # a history on the server comes before the body
        head = f"{head}\0{history}"
    return hashlib.sha256(head.encode("utf-8", "surrogatepass")).digest()


def _positions(
    wire: WireRequest, new: Sequence[WireBlock], rules: Rules, earlier: SharedList[int], start: int
) -> SharedList[int]:
    """Return each block's position as the look-back counts it. By some rules a run of calls, or of
    results, counts as one position."""
    collapse, positions = rules.value("collapse_runs"), list[int]()
    last_kind, position = (wire.blocks[start - 1].kind, earlier[start - 1]) if start else ("", -1)
    for block in new:
        same = collapse and block.kind == last_kind and block.kind in ("tool_use", "tool_result")
        position, last_kind = position + (not same), block.kind
        positions.append(position)
    return earlier.extended_with(start, positions)


def _extended_sums(
    family: Family, blocks: Sequence[WireBlock], sums: SharedList[Sums], start: int
) -> SharedList[Sums]:
    while start and start < len(blocks) and in_one_message(blocks[start - 1], blocks[start]):
        start -= 1  # the blocks of a message are counted together
    begin = sums[start - 1] if start else Sums()
    return sums.extended_with(start, sums_of(family, blocks[start:], begin))


def _estimates(blocks: Sequence[WireBlock], sums: SharedList[int], start: int) -> SharedList[int]:
    """Return the estimated tokens of every prefix."""
    total, counts = sums[start - 1] if start else 0, list[int]()
    for block in blocks[start:]:
        total += _estimate(block)
        counts.append(total)
    return sums.extended_with(start, counts)


def _estimate(block: WireBlock) -> int:
    return min(block.tokens, _TOKENS_OF_OPAQUE) if block.opaque else block.tokens


def _in_proportion(size: int, known_sizes: Sequence[tuple[int, int]]) -> int:
    """Convert an estimate to a true size by interpolation between the nearest two known sizes."""
    low = (0, 0)
    for high in known_sizes[:-1]:
        if size <= high[0]:
            break
        low = high
    else:
        high = known_sizes[-1]
    return low[1] + (size - low[0]) * (high[1] - low[1]) // (high[0] - low[0])


def _scaled(
    estimates: SharedList[int], billed: Billed | None, known_sizes: Sequence[tuple[int, int]]
) -> Sequence[int]:
    """Scale the estimates to the billed total and the known sizes, if there are any."""
    if billed is not None and estimates:
        known_sizes = [*known_sizes, (estimates[-1], billed.total)]
    if not known_sizes:
        return estimates
    points = [point for point in known_sizes if min(point) > 0]
    if any(
        low >= high for one, two in pairwise(points) for low, high in zip(one, two, strict=True)
    ):
        points = points[-1:]  # the sizes are not ascending: use only the newest
    if not points:
        return estimates
    return _Sizes(len(estimates), lambda block: _in_proportion(estimates[block], points))


class _Sizes(Sequence[int]):
    """Sizes of prefixes, each computed when it is needed: few of a request's sizes ever are."""

    def __init__(self, count: int, size_of: Callable[[int], int]) -> None:
        self._count, self._size_of = count, size_of

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        at = range(self._count)[index]
        return self._size_of(at) if isinstance(at, int) else [*map(self._size_of, at)]
