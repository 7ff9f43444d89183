"""Price the bills of recorded requests, by the same rules and prices as a simulation, and check
predictions against these bills.

Each request is priced by its own model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from playground.base.wording import counted, dollars, percent
from playground.cache.answers.known_rules import known_rules
from playground.cache.prefixes import Billed, TimedRequest
from playground.cache.price_terms import terms_of
from playground.cache.prices import price_of
from playground.cache.rules import Rules
from playground.cache.simulated import Simulated, State
from playground.cache.usage import cost_of


@dataclass(frozen=True, slots=True)
class Paid:
    """The sum of the bills in a row of requests: `requests` of all `among` requests have a bill.
    The billed input is `tokens` tokens.

    `permille` is the cost of these tokens in thousandths of their full price; `shares` has this
    figure for each request (None without a bill). `nano_dollars` is the sum in billionths of a
    dollar (None if a model has no list price), and `uncached_nano_dollars` the price of the same
    tokens without a cache.
    """

    requests: int
    among: int
    tokens: int
    permille: int
    nano_dollars: int | None
    shares: tuple[int | None, ...]
    uncached_nano_dollars: int | None = None

    def __str__(self) -> str:
        price = "" if self.nano_dollars is None else f" ({dollars(self.nano_dollars / 1e9)})"
        some = f"{self.requests} of {counted(self.among, 'request')}"
        for_which = f" for {some}" if self.requests < self.among else ""
        share = percent(self.permille / 1000)
        return f"Paid{for_which}: {share} of the uncached input price{price}."


def paid(bills: Sequence[Billed | None], models: Sequence[str], provider: str = "") -> Paid | None:
    """Sum up the bills of requests to these models; `provider` names the rules of unknown models.

    Return None without bills, or if a price for something read or written is unknown.
    """
    shares: list[int | None] = []
    whole, costs, full_nano, nano, is_priced = 0, 0, 0, 0, True
    for bill, model in zip(bills, models, strict=True):
        if bill is None or not bill.total:
            shares.append(None)
            continue
        rules = known_rules("", model)
        if rules.match == "unknown" and provider:
            rules = known_rules(provider, model)
        if bill.uncached < bill.total and not _has_prices(rules, model):
            return None
        cost, price = cost_of(bill, rules, model), price_of(model)
        factor = terms_of(price, rules, model, bill.total).factor if price else None
        shares.append(cost // bill.total)
        whole, costs = whole + bill.total, costs + cost
        is_priced = is_priced and factor is not None
        full_nano += price.nano_dollars(bill.total * 1000, factor or 0) if price else 0
        nano += price.nano_dollars(cost, factor or 0) if price else 0
    if not whole:
        return None
    # weighted by each model's price
    in_money = is_priced and full_nano
    permille = nano * 1000 // full_nano if in_money else costs // whole
    billed = sum(share is not None for share in shares)
    total, uncached = (nano, full_nano) if is_priced else (None, None)
    return Paid(billed, len(shares), whole, permille, total, tuple(shares), uncached)


def _has_prices(rules: Rules, model: str) -> bool:
    """Return True if a source says what this model's reads and writes cost."""
    return rules.match != "unknown" and not rules.figure("read_permille", model).assumed


def checked_by_bills(
    outcomes: Sequence[Simulated],
    row: Sequence[TimedRequest],
    billed: Sequence[Billed | None],
    rules: Rules,
) -> Iterator[Simulated]:
    """Yield the outcomes; an exact prediction is downgraded if a bill puts it in doubt.

    A request without a bill is judged by the last bill before it: if that bill has more or fewer
    tokens than its request here, the session lacks something that decides on later requests, too.
    """
    other_size = ""
    for outcome, request, bill in zip(outcomes, row, billed, strict=True):
        if bill is not None:
            yield _checked_by_bill(outcome, request, bill, billed[0], rules)
            other_size = "" if bill.summed else _other_size(request, bill)
        elif other_size and outcome.state == "exact":
            reason = f"{outcome.reason}; of an earlier request {other_size}"
            yield replace(outcome, state="unpredictable", reason=reason)
        else:
            yield outcome


def _other_size(request: TimedRequest, bill: Billed) -> str:
    """Return how a bill's tokens differ from the session's, or "" if the session may hold them."""
    low, high = request.total_range
    high = bill.total if high is None else high
    if low <= bill.total <= high:
        return ""
    return f"{bill.total:,} tokens were billed, but the session holds {low:,} to {high:,}"


def _checked_by_bill(
    outcome: Simulated,
    request: TimedRequest,
    bill: Billed,
    begun_with: Billed | None,
    rules: Rules,
) -> Simulated:
    """Downgrade an exact prediction if its bill, or the first (`begun_with`), puts it in doubt."""
    low, high = request.total_range
    high = bill.total if high is None else high
    last = outcome.breakpoints[-1] if outcome.breakpoints else None
    is_short = last is not None and request.sizes[last] < rules.minimum(request.wire.model)
    if is_short and bill.cached and not bill.summed:
        holds = f"the session holds {low:,} to {high:,}"
        state: State = "unpredictable" if outcome.state == "exact" else outcome.state
        reason = f"the bill shows {bill.cached:,} cached tokens, {holds}"
        return replace(outcome, state=state, reason=reason)
    if outcome.state != "exact":
        return outcome
    warm = begun_with is not None and begun_with.read > 0
    doubt = ""
    if bill.summed:
        doubt = "tools or a compaction ran on the server: its bill is the sum of several rounds"
    elif other_size := _other_size(request, bill):
        doubt = other_size
    elif warm and bill is begun_with:
        doubt = f"{bill.read:,} tokens cached before this first request were billed as read"
        return replace(outcome, state="warm-start", reason=f"{outcome.reason}; {doubt}")
    elif warm and outcome.hit != last:
        doubt = "the first request read what was cached before it: there may be more of that"
    if not doubt:
        return outcome
    return replace(outcome, state="unpredictable", reason=f"{outcome.reason}; {doubt}")
