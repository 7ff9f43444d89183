"""Check consecutive requests for mistakes that cost cache reads; one check for each mistake.

A check yields the number of each request (from 0) with the mistake, and a detail in words. Codes
and meanings are in `findings.py`, remedies in `fixes.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, zip_longest
from typing import Any, Final

from playground.base.findings import Finding, finding
from playground.base.fixes import FIXES
from playground.cache.differences import FirstDifference
from playground.cache.prefixes import Billed, TimedRequest, size_between
from playground.cache.rules import Rules
from playground.cache.simulated import Simulated
from playground.cache.usage import billed_of

Mistakes = Iterator[tuple[int, str]]  # a request's number, and the detail


@dataclass(frozen=True, slots=True)
class SentRow:
    """Requests in order, each with its outcome and its first difference from the one before it."""

    row: Sequence[TimedRequest]
    outcomes: Sequence[Simulated]
    differences: Sequence[FirstDifference | None]
    rules: Rules
    billed: Sequence[Billed | None] = ()

    @property
    def marked(self) -> bool:
        """True if the provider caches by marks."""
        return self.rules.match not in ("best effort", "unknown")

    def last_mark(self, number: int) -> int | None:
        """Return the index of the block that ends with the request's last mark, or None."""
        points = self.outcomes[number].breakpoints
        return points[-1] if points else None

    def shared(self, number: int) -> int:
        """Return the number of leading blocks that a request shares with the one before it."""
        difference = self.differences[number]
        return len(self.row[number - 1].chain) if difference is None else difference.block or 0

    def minimum(self, number: int) -> int:
        return self.rules.minimum(self.row[number].wire.model)

    def left_behind(self, number: int) -> int | None:
        """Return the block that ends the previous request's last entry. Return None if that request
        made no entry (no mark, or an error), or if the entry is too short or has expired."""
        before, mark = self.row[number - 1], self.last_mark(number - 1)
        if mark is None or self.outcomes[number - 1].state == "error":
            return None
        # If the entry has expired, no mark is to blame.
        lifetime = self.rules.seconds(before.marks.get(mark) or self.rules.value("default_ttl"))
        alive = self.row[number].at - before.at <= lifetime
        return mark if alive and before.sizes[mark] >= self.minimum(number - 1) else None


def lint(sent: SentRow) -> list[Finding]:
    """Return all findings; consecutive requests with the same code share one."""
    mistakes = [
        *((code, number, what) for code, check in _CHECKS.items() for number, what in check(sent)),
        *_differences_of(sent),
        *((one.finding, n, one.reason) for n, one in enumerate(sent.outcomes) if one.finding),
    ]
    findings: list[tuple[int, Finding]] = []
    for code in dict.fromkeys(code for code, _, _ in mistakes):
        numbers = {number: what for other, number, what in mistakes if other == code}
        for first, last in _runs(sorted(numbers)):
            where = f"requests {first + 1} to {last + 1}" if last > first else f"request {last + 1}"
            findings.append((first, finding(code, where, f"{numbers[first]}; {FIXES[code]}")))
    return [one for _, one in sorted(findings, key=lambda pair: pair[0])]


def usage_lost(recorded_usage: Any, response_usage: Any, where: str) -> Finding | None:
    """Return a finding if a recorded usage lacks cached tokens of the response's usage, or None."""
    nothing = Billed(0, 0, 0)
    recorded, billed = billed_of(recorded_usage) or nothing, billed_of(response_usage) or nothing
    counts = (("read", billed.read, recorded.read), ("written", billed.write, recorded.write))
    lost = [f"{count:,} tokens {name}" for name, count, noted in counts if count and not noted]
    if not lost:
        return None
    return finding("usage-lost", where, f"not kept: {', '.join(lost)}; {FIXES['usage-lost']}")


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield runs of consecutive numbers as pairs of first and last."""
    for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        members = [number for _, number in group]
        yield members[0], members[-1]


def _differences_of(sent: SentRow) -> Iterator[tuple[str, int, str]]:
    """Find differences at or before the previous request's last mark; without marks, find all."""
    for number, difference in enumerate(sent.differences):
        if difference is None:
            continue
        # A change after the last mark loses nothing. If the provider caches without marks, any
        # change may.
        mark = sent.last_mark(number - 1) if sent.marked else len(sent.row[number - 1].chain) - 1
        if mark is not None and (difference.block is None or difference.block <= mark):
            lost = sent.outcomes[number - 1].cached_after - sent.outcomes[number].read
            price = f", {lost:,} cached tokens" if lost > 0 else ""
            tiers = ", ".join(difference.invalidates(sent.rules))
            yield difference.rule, number, f"{difference.sentence}; invalidates {tiers}{price}"


def _lookback_overflow(sent: SentRow) -> Mistakes:
    """Find requests that begin with the previous entry, but have marks too far after the entry."""
    reach = sent.rules.value("lookback")
    for number in range(1, len(sent.row)):
        entry, points = sent.left_behind(number), sent.outcomes[number].breakpoints
        if entry is None or not points or sent.shared(number) <= entry:
            continue
        positions = sent.row[number].positions
        later = [point for point in points if point >= entry]
        # OpenAI has no limit of blocks, and Gemini's explicit cache does not look back
        if not (later and reach) or sent.rules.match == "exact":
            continue
        # By Anthropic's documentation of July every block counts; by that of September a run of
        # calls or results counts once, so a turn with many calls may exceed the limit by the
        # July text only. In one report 74 % of the tokens written after such turns were never read
        # (claude-code#63930).
        blocks = min(point - entry for point in later)
        counted = min(positions[point] - positions[entry] for point in later)
        if blocks < reach:
            continue
        both = counted >= reach
        how = "however they are counted" if both else "too far unless a run of calls counts once"
        yield number, f"{blocks} blocks after the last entry, a mark looks back over {reach}, {how}"


def _frozen(sent: SentRow) -> Mistakes:
    """Find a last mark that stays on one block for three or more requests, although they grow."""
    still = [
        number
        for number in range(1, len(sent.row))
        if sent.marked
        and (mark := sent.last_mark(number)) is not None
        and mark == sent.last_mark(number - 1)
        and mark < sent.shared(number)
        and len(sent.row[number].chain) > len(sent.row[number - 1].chain)
    ]
    for first, last in _runs(still):
        if last == first:
            continue
        sizes = sent.row[last].sizes
        unmarked = sizes[-1] - sizes[sent.last_mark(last) or 0]
        for number in range(first, last + 1):
            yield number, f"about {unmarked:,} tokens after the last mark by request {last + 1}"


def _blank_mark(sent: SentRow) -> Mistakes:
    for number, request in enumerate(sent.row):
        for mark in request.marks:
            block = request.wire.blocks[mark]
            if block.kind == "text" and block.text and not block.text.strip():
                yield number, f"the mark on block {mark} is on a block of nothing but white space"


def _no_anchor(sent: SentRow) -> Mistakes:
    """Find requests that share a prefix with the previous one, long enough to be cached, but have
    no mark at its end."""
    for number in range(1, len(sent.row)):
        now, entry = sent.outcomes[number], sent.left_behind(number)
        if entry is None or not now.breakpoints or now.hit is not None or now.state == "error":
            continue
        shared = sent.shared(number)
        size = sent.row[number].sizes[shared - 1] if shared else 0
        # Either the entry ends after the change, or there is only one mark. A second mark,
        # earlier in the request, would have cached the shared blocks.
        stranded = entry >= shared or len(now.breakpoints) == 1
        if size >= sent.minimum(number) and stranded and now.finding != "in-flight":
            yield number, f"about {size:,} tokens are the same as before, but are written again"


def _no_breakpoint(sent: SentRow) -> Mistakes:
    for number, request in enumerate(sent.row):
        size = request.total
        if sent.marked and not sent.outcomes[number].breakpoints and size >= sent.minimum(number):
            yield number, f"about {size:,} tokens, but no mark"


def _gemini_freeze(sent: SentRow) -> Mistakes:
    # OpenHands stopped explicit caching with Gemini because of this: the cost was 6 to 14 times as
    # high (software-agent-sdk#3585).
    if sent.rules.provider != "gemini":
        return
    pairs = pairwise(sent.row)
    for number, (before, after) in enumerate(pairs, 1):
        if before.marks and after.marks and len(after.chain) > len(before.chain):
            yield number, "the history grows, but the marked part is cached on its own"


def _below_minimum(sent: SentRow) -> Mistakes:
    for number, (request, bill) in enumerate(zip_longest(sent.row, sent.billed)):
        mark, minimum = sent.last_mark(number), sent.minimum(number)
        if bill is not None and bill.cached:
            continue  # the prefix was longer than what the session holds of it
        # Providers do not report this: a prefix below the minimum is silently not cached.
        if sent.marked and mark is not None and request.sizes[mark] < minimum:
            low, high = request.size_range(mark)
            between = "" if low == high else f" ({size_between(low, high)})"
            assumed = sent.rules.assumed_minimum(request.wire.model)
            size = f"{request.about(mark)}{request.sizes[mark]:,} tokens{between}"
            yield number, f"{size}, the minimum is {minimum:,}{assumed}"


_CHECKS: Final[dict[str, Callable[[SentRow], Mistakes]]] = {
    "lookback-overflow": _lookback_overflow,
    "frozen-breakpoint": _frozen,
    "synthetic-anchor": _blank_mark,
    "no-anchor": _no_anchor,
    "no-breakpoint": _no_breakpoint,
    "gemini-freeze": _gemini_freeze,
    "below-minimum": _below_minimum,
}
