"""Simulate what consecutive requests read from the cache and write to it, by a provider's rules.

Tokens, lifetimes and costs (in thousandths of an input token's price) are integers, times floats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from playground.base.wording import grouped
from playground.cache.breakpoints import breakpoints, lifetime_at, searched_spans
from playground.cache.certainty import (
    across_regions,
    doubt_about_settings,
    doubt_of,
    is_pinned,
    settings_of,
    unknown_words,
)
from playground.cache.earlier import NO_ROUTE, CacheEntry, EarlierRequests, answer_seconds
from playground.cache.explicit import ExplicitCache
from playground.cache.prefixes import TimedRequest, size_between
from playground.cache.refusals import PrefixCheck, refusal
from playground.cache.rules import Rules
from playground.cache.simulated import Simulated, State

MAYBE_TOO_SHORT: Final = "an earlier request may have been too short to leave an entry"
NO_SHARED_ENTRY: Final = (
    "earlier requests begin like it, but left no entry that ends within the shared part"
)
_NO_SHARED_BEGINNING: Final = "no earlier request begins like it"
_FIRST_TOKEN: Final = 1.0  # seconds until an answer begins, if nothing is known about it
_SURELY_BEGUN: Final = 60.0  # seconds after which an answer has surely begun


@dataclass(slots=True)
class CacheSimulator:
    """A simulated cache, to which requests are sent one after another."""

    rules: Rules
    _entries: dict[bytes, CacheEntry] = field(default_factory=dict)
    _explicit: ExplicitCache = field(default_factory=ExplicitCache)
    _doubtful: set[bytes] = field(default_factory=set)  # prefixes perhaps too short to be cached
    _last_doubtful: int = -1  # last block of the longest prefix in `_doubtful`
    _summed: set[bytes] = field(default_factory=set)  # prefixes marked by requests of many rounds
    _warm: dict[str, bool] = field(default_factory=dict)  # model -> its first bill shows a read
    _now: float = float("-inf")
    _previous_at: float = float("-inf")
    _prefix_check: PrefixCheck = field(default_factory=PrefixCheck)
    _earlier: EarlierRequests = field(default_factory=EarlierRequests)
    _settings_key: tuple[Any, ...] | None = None  # last request: model, parameters, settings
    _own_settings: dict[str, str] = field(default_factory=dict)  # last request: by `settings_of`
    _settings_doubt: str = ""  # why the last request's model or settings are uncertain
    one_by_one: bool = True  # True if each request was sent after the previous answer had begun
    _first_blocks: set[bytes] = field(default_factory=set)  # hashes of all requests' first blocks

    def send(self, request: TimedRequest) -> Simulated:
        """Send one request and return its outcome. Later requests can read its entries."""
        if request.at < self._now:
            seconds_late, request = self._now - request.at, request.moved(self._now)
            why = f"{seconds_late:g} seconds before the previous request: taken as sent with it"
            outcome = self._send(request)
            if outcome.state == "error":
                return outcome
            why = f"{why}; {outcome.reason}"
            return replace(outcome, state="unpredictable", finding="clock-backwards", reason=why)
        self._previous_at, self._now = self._now, request.at
        return self._send(request)

    def _send(self, request: TimedRequest) -> Simulated:
        if self.rules.match == "unknown":
            why = f"no caching rules are known for model {request.wire.model!r}"
            return self._outcome("unknown-provider", request, 0, {}, why, [], None)
        outcome = self._outcome_of_known(request)
        if outcome.state == "error" and not self.rules.knows(request.wire.model):
            why, cost = f"{outcome.reason}; {doubt_of(request, self.rules)}", outcome.total * 1000
            return replace(outcome, state="unpredictable", reason=why, cost=cost)
        return outcome

    def _outcome_of_known(self, request: TimedRequest) -> Simulated:
        """Simulate a request by the rules, as if they named its model."""
        settings = self._settings_of(request)
        checks = self.rules.get("prefix_check")
        check = checks.get(request.plain_model) if checks else None
        edited = check is not None and self._prefix_check.edited(request)
        if refused := self._refusal(request, edited and check == "refused"):
            return refused
        if self.rules.match == "best effort":
            return self._of_best_effort_provider(request)
        points, problem = breakpoints(request, self.rules)
        if problem:
            return _error(request, *problem, points)
        if not self._caches_by_marks(request, points):
            return self._best_effort(request)
        doubt = doubt_of(request, self.rules, self._settings_doubt) or _EDITED * edited
        unclear = bool(doubt)
        warm = self._begins_warm(request)
        hit_block = self._hit(request, points, request.positions)
        read = 0
        entry = None if hit_block is None else self._entries[request.chain[hit_block]]
        reads_all = not points or hit_block == points[-1]
        doubt = self._earlier.doubt(request, settings, doubt, entry, reads_all, self.rules)
        if entry is not None:
            read = entry.size if entry.sized else min(entry.size, request.total)
            doubt = doubt or self._hit_doubt(entry, request)
            # With every provider that uses marks, a read renews the entry's lifetime at no cost.
            entry.expires = max(entry.expires, request.at + self.rules.seconds(entry.ttl))
            entry.route = self._route(request)
        why = self._why(hit_block, points, request)  # computed before this request writes entries
        self._first_blocks.update(request.chain[:1])
        # An entry can be read once the answer to the request that wrote it begins. So parallel
        # requests with the same beginning all write it.
        in_flight = hit_block is None and any(
            not _is_visible(entry, request)
            for _, entry in self._in_reach(request, points, request.positions)
        )
        doubt = (
            doubt
            or self._unseen(request, points, hit_block)
            or self._doubt(request, points, hit_block)
        )
        if in_flight and self._previous_at < request.at:  # at equal times a miss is certain
            doubt = doubt or _FIRST_TOKEN_UNKNOWN
        sized = entry is not None and entry.sized
        begins = hit_block is None and self._entries.keys().isdisjoint(request.chain)
        written = self._write(request, points, hit_block, read, settings, unclear)
        state: State = "warm-start" if warm else "unpredictable" if doubt else "exact"
        why = f"{why}; {doubt}" if doubt else why
        finding = "history-on-server" if request.wire.parameters.get("history") else ""
        finding = "in-flight" if in_flight else finding
        more = (finding, sized, begins)
        return self._outcome(state, request, read, written, why, points, hit_block, *more)

    def _caches_by_marks(self, request: TimedRequest, points: Sequence[int]) -> bool:
        """Return True if the request's marks decide what is cached, not the provider by itself."""
        forms = self.rules.get("marks_in")
        return (bool(points) or not self.rules.get("implicit")) and (
            forms is None or request.wire.api in forms
        )

    def _refusal(self, request: TimedRequest, edited: bool) -> Simulated | None:
        """Return the outcome if the provider refuses the request, else None. `edited` is True if
        something before a thinking block has changed, which the provider forbids."""
        refused = refusal(request, self.rules)
        if refused:
            return _error(request, *refused, sorted(request.marks))
        if edited and not PrefixCheck.is_overruled(request):
            why = "something before a thinking block has changed since the block was sent"
            return _error(request, "refused-request", why, sorted(request.marks))
        return None

    def _settings_of(self, request: TimedRequest) -> dict[str, str]:
        """Return a request's settings under the rules' names; those of the last request if its
        model, parameters and settings are equal."""
        key = (request.wire.model, request.wire.parameters, request.wire.settings)
        if key != self._settings_key:
            self._settings_key, self._own_settings = key, settings_of(request, self.rules)
            self._settings_doubt = doubt_about_settings(request, self.rules)
        return self._own_settings

    def _of_best_effort_provider(self, request: TimedRequest) -> Simulated:
        """Simulate a provider that promises reads only from an explicit cache resource."""
        history = str(request.wire.parameters.get("history") or "")
        if history.lower().startswith("cached"):
            return self._named_resource(request, history)
        # Only Gemini bills storage by the hour: its marks make a cache resource.
        explicit = request.marks and "storage_permille_hour" in self.rules.rules
        outcome = self._by_resource(request) if explicit else self._best_effort(request)
        if history:
            why = f"{doubt_of(request, self.rules)}; {outcome.reason}"
            return replace(outcome, state="unpredictable", reason=why, finding="history-on-server")
        return outcome

    def _named_resource(self, request: TimedRequest, name: str) -> Simulated:
        """Simulate a request that names a cached resource. The whole resource is read, but its size
        is not in the body."""
        least, billed = self.rules.minimum(request.wire.model), request.billed
        outcome = self._best_effort(request)
        read = billed.read if billed else least
        uncached = max(0, outcome.total - read) if billed else outcome.total
        cost = uncached * 1000 + read * self.rules.read_permille(request.wire.model)
        size = f"{read:,} tokens" if billed else f"at least {least:,} tokens"
        return replace(
            outcome,
            state="unpredictable",
            read=read,
            uncached=uncached,
            cost=cost,
            hit=None,
            reason=f"{name} is read whole, {size}: what it holds is not in the body",
            finding="history-on-server",
        )

    def _hit_doubt(self, entry: CacheEntry, request: TimedRequest) -> str:
        """Return why it is uncertain that an entry is read although the rules allow it, or ""."""
        rules = self.rules
        idle = request.at - (entry.expires - rules.seconds(entry.ttl))
        begun = entry.visible - _FIRST_TOKEN + _SURELY_BEGUN
        if rules.get("written_after_answer") and not self._has_ended(entry, request, begun):
            return "the entry can be read once the answer has ended, and that time is not known"
        answered = self.one_by_one or entry.writer in request.answered
        if not answered and request.at < begun:
            return _FIRST_TOKEN_UNKNOWN
        sure = rules.get("sure_seconds")
        if sure is not None and idle > sure and not is_pinned(request):
            age = f"not used for {grouped(idle)} seconds"
            return f"{age}: after {sure:,} nothing promises that it is read"
        if (across := across_regions(request, rules)) and not request.is_billed_read:
            return across
        if "routed_by" in rules.rules and entry.route != self._route(request):
            return "the entry is of another session or first message: another upstream may answer"
        if "system_messages" in rules.rules and (entry.tier, entry.role) == ("messages", "system"):
            return "sources disagree whether an entry that ends with role system is read"
        return ""

    def _has_ended(self, entry: CacheEntry, request: TimedRequest, begun: float) -> bool:
        """Return True if the answer to the request that wrote the entry has certainly ended;
        `begun` is the time by which this answer has certainly begun."""
        return request.at >= begun + entry.answer_seconds or entry.writer in request.answered

    def _route(self, request: TimedRequest) -> bytes:
        """Return what selects a request's upstream provider; NO_ROUTE if only one may answer."""
        if "routed_by" not in self.rules.rules or is_pinned(request):
            return NO_ROUTE
        return _routing_key(request)

    def _begins_warm(self, request: TimedRequest) -> bool:
        """Return True if `request` is the first to its model and its bill shows a read."""
        model, billed = request.wire.model, request.billed
        if model in self._warm:
            return False
        self._warm[model] = billed is not None and billed.read > 0
        return self._warm[model]

    def _unseen(self, request: TimedRequest, points: Sequence[int], hit_block: int | None) -> str:
        """Return a reason why the cache may hold other entries than the simulated ones, or "".
        Entries from before the first request are unknown (which does not matter if this request
        reads up to its last mark), and so are entries from rounds on the server. It is also unknown
        if an entry can be read after one of its texts changed between string and block."""
        if request.summed:
            self._summed.update(request.chain[point] for point in points)
            return "tools or a compaction ran on the server: its bill is the sum of several rounds"
        reach = request.chain[: points[-1] + 1] if points and self._summed else []
        if not self._summed.isdisjoint(reach):
            return "it continues a request of several rounds on the server: its entries are unknown"
        if points and hit_block != points[-1] and self._warm[request.wire.model]:
            return "the first request read what was cached before it: there may be more of that"
        if hit_block is None:
            return ""
        if self._entries[request.chain[hit_block]].strings != request.strings(hit_block):
            return "a text changed between string and block: this is reported to change the prefix"
        return ""

    def _doubt(self, request: TimedRequest, points: Sequence[int], hit_block: int | None) -> str:
        """Return which unknown size, lifetime or look-back could change the outcome, or "". Record
        the prefixes that may be too short to be cached."""
        least, most = self.rules.minimum_range(request.wire.model)
        doubt = ""
        # The prefix up to the hit is long enough to be cached, because it was read.
        for point in points if hit_block is None else filter(hit_block.__lt__, points):
            low, high = request.billed_size_range(point, points[-1])
            if low < most and high >= least:
                self._doubtful.add(request.chain[point])
                self._last_doubtful = max(self._last_doubtful, point)
                minimum = self.rules.minimum_in_words(request.wire.model)
                doubt = f"{size_between(low, high)} tokens may or may not reach {minimum}"
        if doubt:
            return doubt
        if self._reaches_doubtful(request, points, hit_block):
            return MAYBE_TOO_SHORT
        if late := self._may_be_kept_longer(request, points, hit_block):
            return late
        return self._disagreement(request, points, hit_block)

    def _disagreement(
        self, request: TimedRequest, points: Sequence[int], hit_block: int | None
    ) -> str:
        """Return how sources disagree on a mark's look-back, if that changes the hit, or ""."""
        rules = self.rules
        # If the hit is at a mark, a shorter look-back finds it too.
        is_at_mark = rules.match == "breakpoints" and (hit_block is None or hit_block in points)
        for other in rules.rules["lookback"].conflicts if len(points) > 1 else ():
            if is_at_mark and other.value <= rules.value("lookback"):
                continue
            if hit_block != self._hit(request, points, request.positions, other.value):
                return f"sources disagree on a mark's look-back: {other.value} by {other.source}"
        if self._entries and not is_at_mark and rules.rules["collapse_runs"].conflicts:
            each_block = range(len(request.positions))  # in the other way each block counts
            if hit_block != self._hit(request, points, each_block):
                return "the two known ways of counting how far a mark looks disagree"
        return ""

    def _may_be_kept_longer(
        self, request: TimedRequest, points: Sequence[int], hit_block: int | None
    ) -> str:
        """Return why an expired entry may still be read (its lifetime may be a minimum), or ""."""
        if not self.rules.get("least_lives"):
            return ""
        for block, entry in self._in_reach(request, points, request.positions):
            if hit_block is not None and block <= hit_block:
                return ""
            if request.at > entry.expires and _is_visible(entry, request):
                return f"an entry is kept for at least {entry.ttl}: it may still be read"
        return ""

    def _reaches_doubtful(
        self, request: TimedRequest, points: Sequence[int], hit_block: int | None
    ) -> bool:
        least = 0 if hit_block is None else hit_block
        if least > self._last_doubtful:  # usual: only the first requests are short
            return False
        return any(
            not self._doubtful.isdisjoint(request.chain[max(start, least) : point + 1])
            for start, point in searched_spans(request, points, request.positions, self.rules)
        )

    def _by_resource(self, request: TimedRequest) -> Simulated:
        """Simulate the resource that marks make; if they make none, the implicit cache."""
        resource, why = self._explicit.use(request, self.rules)
        if resource is None:
            outcome = self._best_effort(request)
            return replace(outcome, reason=f"no explicit cache, {why}; {outcome.reason}")
        low, high = request.size_range(resource.last)
        least, most = self.rules.minimum_range(request.wire.model)
        doubt = doubt_of(request, self.rules)
        unsure = bool(doubt) or (low < most and high >= least)
        state: State = "unpredictable" if unsure else "exact"
        why = f"{why}; {doubt}" if doubt else why
        read, made = (resource.size, {}) if resource.read else (0, {resource.ttl: resource.size})
        points = sorted(request.marks)
        hit_block = resource.last if resource.read else None
        outcome = self._outcome(state, request, read, made, why, points, hit_block)
        return replace(outcome, cost=outcome.cost + resource.storage)

    def _best_effort(self, request: TimedRequest) -> Simulated:
        """Simulate a cache without promises: the longest shared prefix, in steps, may be read."""
        rules, now, model = self.rules, request.at, request.wire.model
        # If the provider also uses marks, keys of entries written without marks have a prefix.
        key_prefix = b"" if rules.match == "best effort" else b"implicit"
        hit_block, size = None, 0
        for block in range(len(request.chain) - 1, -1, -1):
            entry = self._entries.get(key_prefix + request.chain[block])
            if entry is not None and now <= entry.expires and _is_visible(entry, request):
                hit_block, size = block, request.sizes[block]
                if request.counted and entry.size:  # the prefix's own size is only interpolated
                    size = min(size, entry.size)
                break
        # OpenAI before 5.6 reads in steps of 128 tokens. Gemini's are a guess: of 49 recorded hits
        # 45 lie just under 2 or 3 times 4,096.
        step = rules.of_model("granularity_of", model) or rules.value("granularity")
        minimum = rules.get("implicit_minimum") if key_prefix else None
        minimum = rules.minimum(model) if minimum is None else minimum
        read = size // step * step
        if hit_block is None:
            why = _NO_SHARED_BEGINNING
        elif read < minimum:
            least = -(-minimum // step) * step
            shared = f"{request.about(hit_block)}{size:,} tokens are those of an earlier request"
            why, hit_block, read = f"{shared}; at least {least:,} are read, or none", None, 0
        else:
            why = f"may read up to block {hit_block}, if it is still there"
        if unknown := unknown_words(request, rules):
            why = f"{why}; {unknown}"
        ttl = _requested_lifetime(request, rules)
        # All prefixes share this entry: a later request may read any of them.
        visible, expires = now + _FIRST_TOKEN, now + rules.seconds(ttl)
        known_size = request.total if request.counted else 0
        new_entry = CacheEntry(known_size, ttl, visible, expires, writer=request.last_hash)
        keys = (key_prefix + key for key in request.chain) if key_prefix else request.chain
        self._entries.update(dict.fromkeys(keys, new_entry))
        written: dict[str, int] = {}
        if rules.get("bills_writes") and rules.write_permille(ttl) != 1000:
            written = {ttl: request.total - read} if request.sizes else {}
        # "eligible": of ten pairs of equal prompts sent six seconds apart, only seven were hits
        outcome = self._outcome("eligible", request, read, written, why, [], hit_block)
        share = rules.get("implicit_read_permille") if key_prefix else None
        if share is None:
            return outcome
        return replace(outcome, cost=outcome.cost + read * (share - rules.read_permille(model)))

    def _outcome(
        self,
        state: State,
        request: TimedRequest,
        read: int,
        written: dict[str, int],
        reason: str,
        points: Sequence[int],
        hit_block: int | None,
        finding: str = "",
        sized: bool = False,
        begins: bool = False,
    ) -> Simulated:
        """Return an outcome with these fields, and the tokens and the cost that follow from it."""
        if request.has_opaque and request.billed is None:
            reason = f"{reason}; {_GUESSED_TOKENS}"
        uncached = max(0, request.total - read - sum(written.values()))
        cost = uncached * 1000 + read * self.rules.read_permille(request.wire.model)
        for ttl, tokens in written.items():
            cost += tokens * self.rules.write_permille(ttl)
        return Simulated(
            state,
            read,
            written,
            uncached,
            cost,
            reason,
            tuple(points),
            hit_block,
            request.billed is not None,
            finding,
            sized,
            begins,
        )

    def _hit(
        self,
        request: TimedRequest,
        points: Sequence[int],
        positions: Sequence[int],
        reach: int | None = None,
    ) -> int | None:
        """Return the last block of the first readable entry that `_in_reach` yields, or None."""
        for block, entry in self._in_reach(request, points, positions, reach):
            if request.at <= entry.expires and _is_visible(entry, request):
                return block
        return None

    def _in_reach(
        self,
        request: TimedRequest,
        points: Sequence[int],
        positions: Sequence[int],
        reach: int | None = None,
    ) -> Iterator[tuple[int, CacheEntry]]:
        """Yield the entries of this request's prefixes that marks can reach, each with its last
        block, in the order in which the provider searches (parameters as in `searched_spans`)."""
        entries, chain = self._entries, request.chain
        if not entries:
            return
        for start, point in searched_spans(request, points, positions, self.rules, reach):
            keys = chain[start : point + 1]
            for block in range(point, start - 1, -1):
                if (entry := entries.get(keys[block - start])) is not None:
                    yield block, entry

    def _why(self, hit_block: int | None, points: Sequence[int], request: TimedRequest) -> str:
        """Return in words what is read, or why nothing is."""
        if hit_block is not None:
            return f"read up to the end of {_at(hit_block, request)}"
        if not points:
            return "nothing is marked"
        size, minimum = request.sizes[points[-1]], self.rules.minimum(request.wire.model)
        if size < minimum:
            limit = f"{minimum:,}{self.rules.assumed_minimum(request.wire.model)}"
            tokens = f"{request.about(points[-1])}{size:,} tokens"
            return f"{tokens} up to the last mark, the minimum is {limit}"
        for block, entry in self._in_reach(request, points, request.positions):
            if not _is_visible(entry, request):
                return f"the entry at block {block} was still being written"
            return f"the entry at block {block} had expired"
        for key in filter(self._entries.__contains__, request.chain):
            if self._entries[key].expires >= request.at:
                block = request.chain.index(key)
                is_early = block <= points[-1]
                where = "further back than a mark looks" if is_early else "after the last mark"
                return f"the entry at block {block} is {where}"
        return NO_SHARED_ENTRY if request.chain[0] in self._first_blocks else _NO_SHARED_BEGINNING

    def _write(
        self,
        request: TimedRequest,
        points: Sequence[int],
        hit_block: int | None,
        read: int,
        settings: dict[str, str],
        unclear: bool,
    ) -> dict[str, int]:
        """Write entries at the breakpoints, and return how many tokens are written for each
        lifetime. `unclear` is True if it is uncertain that the request writes these entries."""
        rules, written = self.rules, dict[str, int]()
        minimum = rules.minimum(request.wire.model)
        before = read
        for point in points[-rules.value("max_breakpoints") :]:  # OpenAI uses the newest marks
            size = request.sizes[point]
            if size < minimum or (hit_block is not None and point < hit_block):
                continue
            ttl = lifetime_at(request, point, rules)
            # The tokens before a mark are written at the price of the mark's lifetime: a bill with
            # several lifetimes has a line for each.
            if hit_block is None or point > hit_block:
                written[ttl] = written.get(ttl, 0) + max(0, size - before)
                before = max(before, size)
            # The bill gives the exact size of the entry at the last mark. Even if this mark is on
            # the last block, the entry has 2 to 4 tokens less than the request.
            billed = request.billed
            sized = billed is not None and point == points[-1] and billed.cached > 0
            if billed is not None and sized:
                size = billed.cached
            self._store_entry(request, point, size, ttl, sized, settings, unclear)
        return {ttl: tokens for ttl, tokens in written.items() if tokens}

    def _store_entry(
        self,
        request: TimedRequest,
        point: int,
        size: int,
        ttl: str,
        sized: bool,
        settings: dict[str, str],
        unclear: bool,
    ) -> None:
        """Store the entry that ends at a breakpoint, or renew the one that is stored already."""
        key = request.chain[point]
        expires = request.at + self.rules.seconds(ttl)
        old = self._entries.get(key)
        if old is not None and old.expires >= request.at:
            old.expires = max(old.expires, expires)
            old.unclear = old.unclear and unclear
            if sized or (request.billed is not None and not old.sized):
                old.size, old.sized = size, sized
            return
        last = request.wire.blocks[point]
        self._entries[key] = CacheEntry(
            size,
            ttl,
            request.at + _FIRST_TOKEN,
            expires,
            request.strings(point),
            sized,
            request.last_hash,
            last.tier,
            last.role,
            settings,
            self._route(request),
            answer_seconds(request) if self.rules.get("written_after_answer") else 0.0,
            unclear,
        )


_FIRST_TOKEN_UNKNOWN: Final = (
    "the entry can be read once its request's answer begins, and that time is not known"
)

_GUESSED_TOKENS: Final = "the tokens of a picture, a file or a provider's own tool are a guess"
_EDITED: Final = (
    "something before a thinking block has changed: the block may be dropped or refused"
)


def _at(block: int, request: TimedRequest) -> str:
    """Return a block's number with its message and part, as `place_cache` numbers them."""
    place = request.wire.blocks[block].place
    return f"block {block}" + (f" (message {place[0]}, part {place[1]})" if place else "")


def _error(request: TimedRequest, code: str, why: str, points: Sequence[int]) -> Simulated:
    total = request.total
    return Simulated("error", 0, {}, total, 0, why, tuple(points), finding=code)


def _requested_lifetime(request: TimedRequest, rules: Rules) -> str:
    """Return the lifetime that a request without marks asks for, or the default."""
    retention = rules.get("retention", {}).get(request.wire.settings.get("prompt_cache_retention"))
    lifetime = request.wire.ttl or retention
    return lifetime if lifetime in rules.value("ttls") else str(rules.value("default_ttl"))


def _routing_key(request: TimedRequest) -> bytes:
    """Return the bytes by which a gateway selects the upstream provider: the request's session id,
    or else the hash of its beginning, which ends with the first message."""
    session = request.wire.settings.get("session_id")
    if session:
        return str(session).encode()
    starts = request.wire.starts
    first = starts[1] if len(starts) > 1 else len(request.chain)
    return request.chain[first - 1] if first else NO_ROUTE


def _is_visible(entry: CacheEntry, request: TimedRequest) -> bool:
    """Return True if the answer to the entry's writer has begun or is part of `request`."""
    return entry.visible <= request.at or entry.writer in request.answered


def simulate(
    requests: Iterable[TimedRequest], rules: Rules, one_by_one: bool = True
) -> list[Simulated]:
    """Send requests, which are in order of time, to one empty cache, and return their outcomes.

    `one_by_one` is true if each request was sent after the previous answer had begun.
    """
    simulator = CacheSimulator(rules, one_by_one=one_by_one)
    return [simulator.send(request) for request in requests]
