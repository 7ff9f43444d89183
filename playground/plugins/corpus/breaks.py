"""Find the cache breaks of a session: requests that read less than earlier ones left in the cache.

A break is found by comparing a request's bill with the last bill before it. If one of the two is
missing, requests that were recorded as sent are simulated. A transcript has no request bodies, so
without bills no break can be found in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from playground.cache.answers.cells import READ_TOLERANCE, CacheSimulation, reads_up_to
from playground.cache.differences import FirstDifference, first_difference
from playground.cache.prefixes import Billed
from playground.cache.prices import price_of
from playground.cache.simulated import Simulated
from playground.cache.usage import lifetime_of
from playground.plugins.corpus.requests import SeenRequest, SeenRequests, rules_for
from playground.sessions.session import Session

UNEXPLAINED: Final = "unexplained"
EXPIRED: Final = "expired"
COMPACTED: Final = "compacted"
_REASONS: Final = (  # words in the simulator's reasons -> cause
    ("had expired", EXPIRED),
    ("still being written", "in-flight"),
    ("further back", "lookback-overflow"),
    ("nothing is marked", "no-breakpoint"),
    ("the minimum is", "below-minimum"),
)


@dataclass(frozen=True, slots=True)
class SeenBreak:
    """A cache break: request `n` (an index, from 0) read `lost_tokens` less than the cache held.

    `lost_nano` is the extra cost of these tokens, which were not read from the cache, in billionths
    of a dollar. `state` is "billed", or else the simulation's state, which says how sure the break
    is. If bodies explain it, the fields from `rule` on are their `FirstDifference`.
    """

    n: int
    cause: str
    lost_tokens: int
    lost_nano: int | None
    state: str
    rule: str = ""
    block: int | None = None
    character: int | None = None
    before: str = ""
    after: str = ""


def breaks_of(session: Session, sent: SeenRequests) -> Iterator[SeenBreak]:
    """Yield the cache breaks of a session, in the order of its requests."""
    simulation, requests = sent.simulation, sent.requests
    outcomes: Sequence[Simulated] = simulation.requests if simulation else ()
    last_billed: int | None = None  # the last request with a bill
    for n, after in enumerate(requests):
        earlier, last_billed = last_billed, n if after.billed is not None else last_billed
        if after.billed is not None and earlier is not None:
            before = requests[earlier]
            assert before.billed is not None
            if before.billed.summed or after.billed.summed:
                continue  # a bill for several rounds does not say what one of them read
            lost, state = before.billed.cached - after.billed.read, "billed"
            least = READ_TOLERANCE
        elif outcomes and n and not reads_up_to(outcomes[n], outcomes[n - 1]):
            before, earlier = requests[n - 1], n - 1
            lost, state = outcomes[n - 1].cached_after - outcomes[n].read, outcomes[n].state
            least = 0
        else:
            continue
        if lost <= least:
            continue
        model = after.model or session.named_model
        lifetime = _life(after.billed, outcomes[n] if outcomes else None, model)
        money = _money(lost, lifetime, model)
        difference = _difference(simulation, earlier, n)
        if difference is not None:
            yield _seen_break(n, difference, lost, money, state)
            continue
        reason = outcomes[n].reason if outcomes else ""
        cause = _cause(session, before, after, reason)
        if cause == UNEXPLAINED and _is_shorter(before.billed, after.billed):
            continue  # no request could read more here, so this is no break
        yield SeenBreak(n, cause, lost, money, state)


def _is_shorter(before: Billed | None, after: Billed | None) -> bool:
    """Return True if request `after` is shorter than the prefix that `before` left in the cache."""
    if before is None or after is None:
        return False
    return before.cached - after.total > READ_TOLERANCE


def _difference(simulation: CacheSimulation | None, earlier: int, n: int) -> FirstDifference | None:
    """Return the first difference between request `n` and an earlier one; None if there is none, or
    if the requests were not recorded as sent."""
    if simulation is None or simulation.rules is None:
        return None
    if earlier == n - 1:
        return simulation.differences[n]
    return first_difference(simulation.row[earlier], simulation.row[n], simulation.rules)


def _seen_break(
    n: int, diff: FirstDifference, lost: int, money: int | None, state: str
) -> SeenBreak:
    where = (diff.block, diff.character if diff.block is not None else None)
    return SeenBreak(n, diff.cause, lost, money, state, diff.rule, *where, diff.before, diff.after)


def _cause(session: Session, before: SeenRequest, after: SeenRequest, reason: str) -> str:
    """Return the cause of a break that no difference of bodies explains, between two requests.
    `reason` is the simulator's sentence about the later one, or ""."""
    known_cause = next((cause for words, cause in _REASONS if words in reason), "")
    if known_cause:
        return known_cause
    if after.stretch is not before.stretch:
        return COMPACTED
    if before.model != after.model:
        return "model_changed"
    if (before.version or after.version) and before.version != after.version:
        return "version_changed"
    model = after.model or session.named_model
    rules = rules_for(model)
    life = rules.seconds(lifetime_of(before.billed, rules))
    gap = None
    if before.sent_at and after.sent_at:
        gap = (after.sent_at - before.sent_at).total_seconds()
    return EXPIRED if gap is not None and gap > life else UNEXPLAINED


def _life(billed: Billed | None, outcome: Simulated | None, model: str) -> str:
    """Return the lifetime of the cache entry that a request wrote, by its bill or, without one, by
    its simulated outcome; "" if it wrote none."""
    if billed is not None:
        return lifetime_of(billed, rules_for(model)) if billed.write else ""
    written = outcome.written if outcome else {}
    return next(iter(written), "")


def _money(lost: int, life: str, model: str) -> int | None:
    """Return what it cost more, in billionths of a dollar, to write `lost` tokens to the cache with
    the lifetime `life` ("": to send them uncached) than to read them; None if no price is known."""
    price, rules = price_of(model), rules_for(model)
    if price is None:
        return None
    rate = rules.write_permille(life) if life else 1000  # in thousandths of the price of input
    return price.nano_dollars(lost * max(0, rate - rules.read_permille(model)))
