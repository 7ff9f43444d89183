"""What a row of requests reads from the cache and writes to it, by a provider's rules.

Prefixes are hashed block by block. Sizes are estimated from characters until a request's billed
usage is known: then its entries have the billed sizes.
Tokens, seconds and money are integers; a cost is in thousandths of an input token's price.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from playground.caching.blocks import TIERS, Block, Tier, WireRequest
from playground.caching.rules import Rules

State = Literal["exact", "eligible", "error"]
_CHARACTERS_A_TOKEN: Final = 4
_TOKENS_OF_OTHERS: Final = 1_000  # of an image or document, whose size cannot be seen
_FIRST_TOKEN: Final = 1.0  # seconds until an answer begins, where nobody says


@dataclass(frozen=True, slots=True)
class Billed:
    """What the provider billed for a request's input."""

    read: int
    write: int
    uncached: int

    @property
    def total(self) -> int:
        return self.read + self.write + self.uncached


@dataclass(frozen=True, slots=True)
class CacheRequest:
    """A request at its time, in seconds of any clock; `billed` is what it cost, where known."""

    wire: WireRequest
    at: float
    billed: Billed | None = None


@dataclass(frozen=True, slots=True)
class Simulated:
    """What one request reads, writes by TTL and pays in full; why, in words."""

    state: State
    read: int
    written: dict[str, int]
    uncached: int
    cost: int  # thousandths of an input token's price
    reason: str
    breakpoints: tuple[int, ...] = ()
    hit: int | None = None  # the block at whose end the entry stands that is read

    @property
    def total(self) -> int:
        return self.read + sum(self.written.values()) + self.uncached


@dataclass(slots=True)
class _Entry:
    size: int
    ttl: str
    visible: float
    expires: float


@dataclass(slots=True)
class CacheSimulator:
    """Requests go in one after another; the store between them is kept."""

    rules: Rules
    _entries: dict[bytes, _Entry] = field(default_factory=dict)
    _seen: dict[tuple[str, int], tuple[bytes, int]] = field(default_factory=dict)

    def send(self, request: CacheRequest) -> Simulated:
        """One request. Its breakpoints' entries are there for those behind it."""
        wire, rules = request.wire, self.rules
        points, problem = breakpoints(wire, rules)
        sizes = _sizes(wire.blocks, request.billed)
        total = sizes[-1] if sizes else 0
        if problem:
            return Simulated("error", 0, {}, total, total * 1000, problem, tuple(points))
        chain = _chain(wire, rules)
        hit = self._hit(chain, points, _positions(wire.blocks, rules), request.at)
        read = 0
        if hit is not None:
            entry = self._entries[chain[hit]]
            read = min(entry.size, total)
            entry.expires = max(entry.expires, request.at + rules.seconds(entry.ttl))
        written = self._write(request, chain, points, sizes, hit, read)
        uncached = max(0, total - read - sum(written.values()))
        cost = uncached * 1000 + read * rules.read_permille(wire.model)
        cost += sum(tokens * rules.write_permille(ttl) for ttl, tokens in written.items())
        return Simulated(
            "exact", read, written, uncached, cost, _why(hit, points), tuple(points), hit
        )

    def _hit(
        self, chain: Sequence[bytes], points: Sequence[int], positions: Sequence[int], at: float
    ) -> int | None:
        """The block at whose end the longest entry stands that a breakpoint leads to."""
        exact, reach = self.rules.match == "exact", self.rules.value("lookback")
        for point in sorted(points, reverse=True):
            for block in range(point, -1, -1):
                if positions[point] - positions[block] >= reach or (exact and block != point):
                    break
                entry = self._entries.get(chain[block])
                if entry is not None and entry.visible <= at <= entry.expires:
                    return block
        return None

    def _write(
        self,
        request: CacheRequest,
        chain: Sequence[bytes],
        points: Sequence[int],
        sizes: Sequence[int],
        hit: int | None,
        read: int,
    ) -> dict[str, int]:
        """Entries at the breakpoints, and the tokens that each TTL writes."""
        rules, wire = self.rules, request.wire
        minimum = rules.minimum(wire.model)
        written: dict[str, int] = {}
        before = read
        for point in points:
            size = sizes[point]
            ttl = wire.blocks[point].ttl or wire.automatic_ttl or rules.value("default_ttl")
            if size < minimum or (hit is not None and point < hit):
                continue
            if hit is None or point > hit:
                written[ttl] = written.get(ttl, 0) + max(0, size - before)
                before = max(before, size)
            self._remember(
                chain[point], self._billed_size(request, point, points, size), ttl, request
            )
        return {ttl: tokens for ttl, tokens in written.items() if tokens}

    def _billed_size(
        self, request: CacheRequest, point: int, points: Sequence[int], size: int
    ) -> int:
        billed = request.billed
        if billed is None or point != max(points) or not billed.read + billed.write:
            return size
        return billed.read + billed.write

    def _remember(self, key: bytes, size: int, ttl: str, request: CacheRequest) -> None:
        expires = request.at + self.rules.seconds(ttl)
        known = self._entries.get(key)
        if known is not None and known.expires >= request.at:
            known.expires = max(known.expires, expires)
            known.size = size if request.billed is not None else known.size
            return
        self._entries[key] = _Entry(size, ttl, request.at + _FIRST_TOKEN, expires)


def simulate(requests: Iterable[CacheRequest], rules: Rules) -> list[Simulated]:
    """A row of requests against one store."""
    simulator = CacheSimulator(rules)
    return [simulator.send(request) for request in requests]


def breakpoints(wire: WireRequest, rules: Rules) -> tuple[list[int], str]:
    """The blocks at whose ends the request is marked, in order, and what is wrong with that."""
    points = [i for i, block in enumerate(wire.blocks) if block.ttl is not None]
    for point in points:
        block = wire.blocks[point]
        if not block.markable:
            what = "an empty text" if block.kind == "text" else f"a {block.kind} block"
            return points, f"a mark on {what}, which may not be marked"
    automatic = rules.value("automatic") and (
        wire.automatic_ttl is not None or (rules.match == "exact" and not wire.explicit_only)
    )
    if automatic and (last := _last_markable(wire.blocks)) is not None and last not in points:
        points = sorted([*points, last])
    most = rules.value("max_breakpoints")
    if len(points) > most and rules.match == "breakpoints":
        return points, f"{len(points)} marks, {most} are allowed"
    lives = [rules.seconds(wire.blocks[point].ttl or "") for point in points]
    if any(later > earlier for earlier, later in zip(lives, lives[1:], strict=False)):
        return points, "a mark with a longer life behind one with a shorter life"
    return points, ""


def _last_markable(blocks: Sequence[Block]) -> int | None:
    for index in range(len(blocks) - 1, -1, -1):
        if blocks[index].markable:
            return index
    return None


def _chain(wire: WireRequest, rules: Rules) -> list[bytes]:
    """The hash of every prefix. A tier's first block carries the parameters that salt it."""
    state = hashlib.sha256(f"{rules.provider}\0{wire.model}".encode()).digest()
    salts: dict[Tier, list[str]] = rules.value("salts")
    result: list[bytes] = []
    salted = 0
    for block in wire.blocks:
        while salted <= TIERS.index(block.tier):  # empty tiers pass their salt on
            names = salts.get(TIERS[salted], [])
            given = {name: wire.parameters[name] for name in names if name in wire.parameters}
            if given:
                salt = json.dumps(given, sort_keys=True, default=str).encode()
                state = hashlib.sha256(state + salt).digest()
            salted += 1
        state = hashlib.sha256(state + block.digest).digest()
        result.append(state)
    return result


def _positions(blocks: Sequence[Block], rules: Rules) -> list[int]:
    """Positions as the look-back counts them; runs of calls and of results are one where so."""
    collapse = rules.value("collapse_runs")
    result: list[int] = []
    before = ""
    for block in blocks:
        same = collapse and block.kind == before and block.kind in ("tool_use", "tool_result")
        result.append(result[-1] + (not same) if result else 0)
        before = block.kind
    return result


def _sizes(blocks: Sequence[Block], billed: Billed | None) -> list[int]:
    """Tokens of every prefix: characters by four, scaled to the billed total where it is known."""
    sums: list[int] = []
    total = 0
    for block in blocks:
        visible = block.kind in ("text", "tool", "tool_use", "tool_result", "thinking")
        length = max(1, len(block.text) // _CHARACTERS_A_TOKEN)
        total += length if visible else min(length, _TOKENS_OF_OTHERS)
        sums.append(total)
    if billed is None or not total:
        return sums
    return [size * billed.total // total for size in sums]


def _why(hit: int | None, points: Sequence[int]) -> str:
    if hit is not None:
        return f"read up to the end of block {hit}"
    return "no entry within reach of a mark" if points else "nothing is marked"
