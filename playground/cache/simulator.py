"""Simulate what a row of requests reads from the cache and writes to it, by a provider's rules.

Tokens, seconds and money are integers; a cost is in thousandths of an input token's price.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from playground.cache.breakpoints import breakpoints, life_at, looked_at
from playground.cache.explicit import ExplicitCache
from playground.cache.prefixes import TimedRequest
from playground.cache.rules import Rules
from playground.cache.simulated import Simulated, State

_FIRST_TOKEN: Final = 1.0  # seconds until an answer begins, where nobody says


@dataclass(slots=True)
class CacheEntry:
    """An entry of the cache for one prefix; `visible` and `expires` are times in seconds."""

    size: int
    ttl: str
    visible: float
    expires: float
    strings: int = 0  # contents in it that were strings, not blocks
    sized: bool = False
    writer: bytes = b""  # the whole of the request that wrote it


@dataclass(slots=True)
class CacheSimulator:
    """A cache that requests are sent to one after another."""

    rules: Rules
    _entries: dict[bytes, CacheEntry] = field(default_factory=dict)
    _explicit: ExplicitCache = field(default_factory=ExplicitCache)
    _doubtful: set[bytes] = field(default_factory=set)  # prefixes that may have been too short
    _summed: set[bytes] = field(
        default_factory=set
    )  # prefixes of requests with tools on the server
    _begun: dict[str, bool] = field(default_factory=dict)  # by model: whether its row began warm
    _now: float = float("-inf")
    _sent_last: float = float("-inf")

    def send(self, request: TimedRequest) -> Simulated:
        """Send one request and return its outcome. Its entries are there for later requests."""
        if request.at < self._now:
            late, request = self._now - request.at, request.moved(self._now)
            why = f"{late:g} seconds older than the request before it: taken as sent with it"
            found = self._send(request)
            if found.state == "error":
                return found
            why = f"{why}; {found.reason}"
            return replace(found, state="unpredictable", finding="clock-backwards", reason=why)
        self._sent_last, self._now = self._now, request.at
        return self._send(request)

    def _send(self, request: TimedRequest) -> Simulated:
        if self.rules.match == "unknown":
            why = f"no caching rules are known for model {request.wire.model!r}"
            return self._outcome("unknown-provider", request, 0, {}, why, [], None)
        if self.rules.match == "best effort":
            explicit = request.marks and "storage_permille_hour" in self.rules.rules
            # Gemini alone keeps a resource at a price by the hour; its marks make one.
            return self._by_resource(request) if explicit else self._best_effort(request)
        points, problem = breakpoints(request, self.rules)
        total = request.sizes[-1] if request.sizes else 0
        if problem:
            code, why = problem
            return Simulated("error", 0, {}, total, total * 1000, why, tuple(points), finding=code)
        warm = self._begins_warm(request)
        hit = self._hit(request, points, request.positions)
        read = 0
        if hit is not None:
            entry = self._entries[request.chain[hit]]
            read = min(entry.size, total)
            # A read lengthens a life for nothing, with every provider that goes by marks.
            entry.expires = max(entry.expires, request.at + self.rules.seconds(entry.ttl))
        why = self._why(hit, points, request)  # before anything is written
        # An entry can be read from its writer's first token on, so parallel requests that begin
        # alike all write it.
        flying = hit is None and any(
            not _is_there(entry, request)
            for _, entry in self._in_reach(request, points, request.positions)
        )
        doubt = self._unseen(request, points, hit) or self._doubt(request, points, hit)
        if flying and self._sent_last < request.at:  # else it surely came too early
            doubt = (
                doubt or "it is not known when its first token came, from which on it can be read"
            )
        sized = hit is not None and self._entries[request.chain[hit]].sized
        begins = hit is None and self._entries.keys().isdisjoint(request.chain)
        written = self._write(request, points, hit, read)
        state: State = "warm-start" if warm else "unpredictable" if doubt else "exact"
        why = f"{why}; {doubt}" if doubt else why
        finding = "in-flight" if flying else ""
        more = (finding, sized, begins)
        return self._outcome(state, request, read, written, why, points, hit, *more)

    def _begins_warm(self, request: TimedRequest) -> bool:
        """Return True if this is its model's first request and its bill shows a read."""
        model, billed = request.wire.model, request.billed
        if model in self._begun:
            return False
        self._begun[model] = billed is not None and billed.read > 0
        return self._begun[model]

    def _unseen(self, request: TimedRequest, points: Sequence[int], hit: int | None) -> str:
        """Return what is unknown of the cache's state, in words; empty if nothing matters.

        That is what was cached before the first request, and what tools on the server left. If the
        request hits at its last mark, nothing else in the cache matters.
        """
        if request.summed:
            self._summed.update(request.chain[point] for point in points)
            return "tools or a compaction ran on the server: its bill is the sum of several rounds"
        reach = request.chain[: points[-1] + 1] if points and self._summed else []
        if not self._summed.isdisjoint(reach):
            return "built on a request of several rounds on the server: what it left is not known"
        if points and hit != points[-1] and self._begun[request.wire.model]:
            return "the first request read what was cached before it: there may be more of that"
        if hit is None or self.rules.string_is_block(request.wire.model):
            return ""
        if self._entries[request.chain[hit]].strings != request.strings(hit):
            return "a text that was a string is a block now: reported to count as another prefix"
        return ""

    def _doubt(self, request: TimedRequest, points: Sequence[int], hit: int | None) -> str:
        """Return the unknown that could change the outcome, in words; empty if there is none."""
        minimum = self.rules.minimum(request.wire.model)
        doubt = ""
        for point in points:
            low, high = request.token_range(request.sizes[point])
            # Up to the hit the length is known: what was read was long enough.
            if (hit is None or point > hit) and low < minimum <= high:
                self._doubtful.add(request.chain[point])
                size = f"{low:,} to {high:,} tokens"
                doubt = f"{size} may or may not reach the minimum of {minimum:,}"
        if doubt:
            return doubt
        if self._doubtful and self._reaches_doubtful(request, points, hit):
            return "an earlier request may have been too short to leave an entry"
        if self._entries and self.rules.rules["collapse_runs"].conflicts:
            every = range(len(request.positions))  # each block a position
            if hit != self._hit(request, points, every):
                return "the two known ways of counting how far a mark looks disagree"
        return ""

    def _reaches_doubtful(
        self, request: TimedRequest, points: Sequence[int], hit: int | None
    ) -> bool:
        least = -1 if hit is None else hit
        reached = looked_at(request, points, request.positions, self.rules)
        return any(block >= least and request.chain[block] in self._doubtful for block in reached)

    def _by_resource(self, request: TimedRequest) -> Simulated:
        """Simulate marks that make a resource; without one, fall back on the implicit cache."""
        found, why = self._explicit.use(request, self.rules)
        if found is None:
            outcome = self._best_effort(request)
            return replace(outcome, reason=f"no explicit cache, {why}; {outcome.reason}")
        low, high = request.token_range(found.size)
        minimum = self.rules.minimum(request.wire.model)
        state: State = "unpredictable" if low < minimum <= high else "exact"
        read, made = (found.size, {}) if found.read else (0, {found.ttl: found.size})
        points = sorted(request.marks)
        hit = found.last if found.read else None
        outcome = self._outcome(state, request, read, made, why, points, hit)
        return replace(outcome, cost=outcome.cost + found.storage)

    def _best_effort(self, request: TimedRequest) -> Simulated:
        """Simulate a cache that promises nothing: the longest shared prefix may be read, in
        steps.
        """
        rules, now = self.rules, request.at
        hit = None
        for block in range(len(request.chain) - 1, -1, -1):
            entry = self._entries.get(request.chain[block])
            if entry is not None and now <= entry.expires and _is_there(entry, request):
                hit = block
                break
        # OpenAI before 5.6 reads in steps of 128 tokens. Gemini's are a guess: of 49 recorded hits
        # 45 lie just under 2 or 3 times 4,096.
        step, minimum = rules.value("granularity"), rules.minimum(request.wire.model)
        read = request.sizes[hit] // step * step if hit is not None else 0
        if hit is None:
            why = "no earlier request begins like it"
        elif read < minimum:
            least = -(-minimum // step) * step
            shared = f"about {request.sizes[hit]:,} tokens are those of an earlier request"
            why, hit, read = f"{shared}; at least {least:,} are read, or none", None, 0
        else:
            why = f"may read up to block {hit}, if it is still there"
        # Identical prompts six seconds apart were hits in 7 of 10 recorded pairs: "eligible", never
        # "exact".
        ttl = rules.value("default_ttl")
        # one entry for all of its prefixes: what each can give is the size in the request it serves
        seen, expires = now + _FIRST_TOKEN, now + rules.seconds(ttl)
        left = CacheEntry(0, ttl, seen, expires, writer=_whole(request))
        self._entries.update(dict.fromkeys(request.chain, left))
        return self._outcome("eligible", request, read, {}, why, [], hit)

    def _outcome(
        self,
        state: State,
        request: TimedRequest,
        read: int,
        written: dict[str, int],
        reason: str,
        points: Sequence[int],
        hit: int | None,
        finding: str = "",
        sized: bool = False,
        begins: bool = False,
    ) -> Simulated:
        rules, total = self.rules, request.sizes[-1] if request.sizes else 0
        uncached = max(0, total - read - sum(written.values()))
        cost = uncached * 1000 + read * rules.read_permille(request.wire.model)
        cost += sum(tokens * rules.write_permille(ttl) for ttl, tokens in written.items())
        return Simulated(
            state,
            read,
            written,
            uncached,
            cost,
            reason,
            tuple(points),
            hit,
            request.billed is not None,
            finding,
            sized,
            begins,
        )

    def _hit(
        self, request: TimedRequest, points: Sequence[int], positions: Sequence[int]
    ) -> int | None:
        """Return the last block of the longest entry that a breakpoint reaches, or None."""
        for block, entry in self._in_reach(request, points, positions):
            if request.at <= entry.expires and _is_there(entry, request):
                return block
        return None

    def _in_reach(
        self, request: TimedRequest, points: Sequence[int], positions: Sequence[int]
    ) -> Iterator[tuple[int, CacheEntry]]:
        """Yield the entries of this request's prefixes, in the order in which they are looked
        at.
        """
        for block in looked_at(request, points, positions, self.rules):
            if (entry := self._entries.get(request.chain[block])) is not None:
                yield block, entry

    def _why(self, hit: int | None, points: Sequence[int], request: TimedRequest) -> str:
        if hit is not None:
            return f"read up to the end of block {hit}"
        if not points:
            return "nothing is marked"
        size, minimum = request.sizes[points[-1]], self.rules.minimum(request.wire.model)
        if size < minimum:
            about = "" if request.billed else "about "
            return f"{about}{size:,} tokens up to the last mark, the minimum is {minimum:,}"
        for block, entry in self._in_reach(request, points, request.positions):
            if not _is_there(entry, request):
                return f"the entry at block {block} was still being written"
            return f"the entry at block {block} had expired"
        for block, key in enumerate(request.chain):
            too_far = self._entries.get(key)
            if too_far is not None and too_far.expires >= request.at:
                return f"the entry at block {block} is further back than a mark looks"
        return "no earlier request begins like it"

    def _write(
        self, request: TimedRequest, points: Sequence[int], hit: int | None, read: int
    ) -> dict[str, int]:
        """Write entries at the breakpoints, and return the tokens written by lifetime."""
        rules = self.rules
        minimum = rules.minimum(request.wire.model)
        written: dict[str, int] = {}
        before = read
        for point in points[-rules.value("max_breakpoints") :]:  # OpenAI writes at the newest
            size, ttl = request.sizes[point], life_at(request, point, rules)
            if size < minimum or (hit is not None and point < hit):
                continue
            # Each stretch up to a mark is written at that mark's own price: with mixed lives the
            # bill has a line for each.
            if hit is None or point > hit:
                written[ttl] = written.get(ttl, 0) + max(0, size - before)
                before = max(before, size)
            # What the provider keeps at the last mark is billed to the token; 2 to 4 tokens stay
            # outside even where the mark is on the very last block.
            billed = request.billed
            sized = billed is not None and point == points[-1] and billed.read + billed.write > 0
            if billed is not None and sized:
                size = billed.read + billed.write
            self._remember(request, point, size, ttl, sized)
        return {ttl: tokens for ttl, tokens in written.items() if tokens}

    def _remember(
        self, request: TimedRequest, point: int, size: int, ttl: str, sized: bool
    ) -> None:
        key = request.chain[point]
        expires = request.at + self.rules.seconds(ttl)
        known = self._entries.get(key)
        if known is not None and known.expires >= request.at:
            known.expires = max(known.expires, expires)
            if sized or (request.billed is not None and not known.sized):
                known.size, known.sized = size, sized
            return
        strings = 0 if self.rules.string_is_block(request.wire.model) else request.strings(point)
        self._entries[key] = CacheEntry(
            size, ttl, request.at + _FIRST_TOKEN, expires, strings, sized, _whole(request)
        )


def _whole(request: TimedRequest) -> bytes:
    return request.chain[-1] if request.chain else b""


def _is_there(entry: CacheEntry, request: TimedRequest) -> bool:
    """Return True if an entry can be read: from the first token of its writer's answer on.

    A request that continues with that answer was sent after it, whatever its clock says.
    """
    return entry.visible <= request.at or entry.writer in request.answered


def simulate(requests: Iterable[TimedRequest], rules: Rules) -> list[Simulated]:
    """Send a row of requests to one empty cache, and return their outcomes."""
    simulator = CacheSimulator(rules)
    return [simulator.send(request) for request in requests]
