"""The results of a simulation: one row of requests, or a table of such rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import Final

from playground.base.arguments import older_name
from playground.base.display import Drawn, Listed, Live
from playground.base.findings import Finding
from playground.base.wording import counted, dollars, grouped
from playground.cache.answers.hints import NotedRequest, facts_of, hint
from playground.cache.answers.known_rules import assumption_of, known_rules, price_under, stand_in
from playground.cache.answers.marked_prefix import MarkedPrefix, marked_prefix
from playground.cache.answers.paid import Paid
from playground.cache.answers.placement import CachePlacement
from playground.cache.bounds import ReadBounds, Verdict, read_bounds
from playground.cache.diagnosis import Diagnosis, ThreeAnswers, disagreement
from playground.cache.differences import FirstDifference, model_change
from playground.cache.lint import SentRow, lint
from playground.cache.prefixes import Billed, TimedRequest
from playground.cache.price_terms import Terms, terms_of
from playground.cache.prices import Price, price_of
from playground.cache.rules import Figure, Rules
from playground.cache.rules.names import is_other_model
from playground.cache.simulated import Simulated, sureness
from playground.cache.simulator import simulate
from playground.cache.usage import lifetime_of
from playground.nouns.wire_estimates import token_range

_FIGURES: Final[tuple[tuple[str, Callable[[int], str]], ...]] = (
    ("minimum_tokens", lambda tokens: f"fewest tokens that are cached: {tokens:,}"),
    ("read_permille", lambda share: f"a token read costs {_share(share)} of its full price"),
)


def _share(permille: int) -> str:
    """Return a share with two digits after the point, or with three if the third is not 0."""
    return grouped(permille / 1000, 2 if permille % 10 == 0 else 3)


@dataclass(frozen=True)
class CacheSimulation(Drawn, Live):
    """The outcome of every request, and the cost of all requests compared with no cache.

    It is shown as the strip of requests. The table has a row for each request: tokens read, written
    and paid in full, the cost, and the reason. The figure has a bar for each request.
    """

    provider: str
    requests: list[Simulated]
    dialect: str = ""
    policy: str = ""
    differences: tuple[FirstDifference | None, ...] = ()  # each from the previous request
    model: str = ""
    row: Sequence[TimedRequest] = ()
    rules: Rules | None = None
    billed: Sequence[Billed | None] = ()  # the bill of each request, if it was noted
    bills_as_sent: Sequence[Billed | None] = ()  # of bodies as sent, if a dialect's are simulated
    notes: tuple[Finding, ...] = ()  # on what a prediction needs and the session lacks
    pending: bool = False  # True if the last request has no answer yet
    paid: Paid | None = None  # the sum of the bills
    diagnoses: Sequence[Diagnosis | None] = ()  # the provider's own diagnosis of each request
    request_facts: Sequence[NotedRequest] = ()  # the recorded facts of each request, for hints
    priced: bool = True  # False if requests went to several providers, or to an unknown one
    # For a session, computed when they are shown: the last request's marks, and each policy's cost.
    placed: Callable[[], CachePlacement] | None = field(default=None, compare=False, repr=False)
    by_policy: Callable[[], Sequence[CacheSimulation]] = field(default=tuple, compare=False)
    _printed = {"state": {"exact": sureness("exact")}}  # "certain": tokens may be estimated
    told = older_name("told", "diagnoses")
    noted = older_name("noted", "request_facts")

    def _summary(self) -> str:
        asked = f"{counted(len(self.requests), 'request')} to {self.provider or 'no provider'}"
        written = " in ".join(filter(None, (self.policy, self.dialect))) or "bodies as sent"
        return f"{written}, {asked}, {self.outcome}"

    @property
    def outcome(self) -> str:
        """The shares of all input that are read and paid; or how many requests would be refused."""
        if refused := sum(one.state == "error" for one in self.requests):
            return f"{refused} of {counted(len(self.requests), 'request')} would be refused"
        shares = f"read {_share(self.read_permille)}, cost {_share(self.cost_permille)}"
        return f"{shares} of the full price"

    @property
    def cost_permille(self) -> int:
        """The cost of all input that is not refused, in thousandths of its cost without a cache."""
        uncached = sum(one.total for one in self.requests if one.state != "error")
        return sum(request.cost for request in self.requests) // uncached if uncached else 1000

    @property
    def read_permille(self) -> int:
        """The share of all input tokens that is read from the cache, in thousandths."""
        total = sum(request.total for request in self.requests)
        return sum(request.read for request in self.requests) * 1000 // total if total else 0

    @property
    def breaks(self) -> list[int]:
        """The numbers (from 0) of requests that read less than the previous one left in the cache.

        A request that reads up to the same block is no break, even if its figure is smaller: the
        sizes of each request are computed separately, and a bill leaves out some tokens of the last
        block. A request is no break either if its bill shows a shorter context, or if the session
        shortened the context before it.
        """
        pairs = zip(self.requests, self.requests[1:], strict=False)
        shorter = {*self.compacted, *(each.number for each in self.shorter)}
        return [
            number
            for number, (before, after) in enumerate(pairs, 1)
            if after.read < before.cached_after
            and not reads_up_to(after, before)
            and number not in shorter
        ]

    @property
    def compacted(self) -> list[int]:
        """The numbers of requests that are shorter than the cached text because the session
        compacted its history. The session intended this, so they are no breaks."""
        return [
            number
            for number, difference in enumerate(self.differences)
            if difference
            and difference.cause == "compacted"
            and self.requests[number].total < self.requests[number - 1].cached_after
        ]

    @cached_property
    def unexplained(self) -> list[BilledBreak]:
        """The breaks that bills show and that nothing in the session explains."""
        if self.rules is None:
            return []
        found = contradicted(self.requests, self.row, self.billed, self.rules, self.request_facts)
        return [each for each in found if self.requests[each.number].finding == "unexplained"]

    @cached_property
    def bounds(self) -> list[ReadBounds | None]:
        """The least and the most tokens that each billed request can have read, according to the
        session's own requests."""
        bounds_of_each: list[ReadBounds | None] = []
        for number, (request, outcome) in enumerate(zip(self.row, self.requests, strict=True)):
            bill = self.billed[number] if number < len(self.billed) else None
            certain = outcome.contradicted or outcome.state == "exact"
            sure = outcome.read if certain and outcome.sized else 0
            bounds = read_bounds(request, self.row[:number], bill, sure) if bill else None
            if bounds and self.holds_less:  # the session does not hold all that was sent before
                bounds = ReadBounds(bounds.least)
            bounds_of_each.append(bounds)
        return bounds_of_each

    @property
    def verdicts(self) -> list[Verdict | None]:
        """The verdict on each bill by its bounds; None for a request without a bill."""
        pairs = zip(self.bounds, self.billed, strict=False)
        return [bound.verdict(bill.read) if bound and bill else None for bound, bill in pairs]

    @cached_property
    def shorter(self) -> list[BilledBreak]:
        """The requests that read less because their context became shorter; these are no breaks."""
        return shorter_contexts(self.billed, self.differences)

    @cached_property
    def longer_life(self) -> tuple[str, int, int | None] | None:
        """The longest lifetime, and what it saves on all input: in thousandths of a token's price,
        and in billionths of a dollar (None if a request has no list price).

        The property is None if nothing expired or is saved, or if some request has no marks.
        """
        rules = self.rules
        expired = any("had expired" in one.reason for one in self.requests)
        if rules is None or not expired or rules.match == "best effort":
            return None
        if any(sent.wire.automatic_ttl or not sent.marks for sent in self.row):
            return None
        lifetime = rules.long_lifetime
        longer = [sent.marked(dict.fromkeys(sent.marks, lifetime)) for sent in self.row]
        pairs = zip(self.requests, simulate(longer, rules), strict=True)
        saved = [one.cost - other.cost for one, other in pairs]
        prices = [self._price_of(number) for number in range(len(saved))]
        priced = [price.nano_dollars(s) for price, s in zip(prices, saved, strict=True) if price]
        nano = sum(priced) if len(priced) == len(saved) else None
        return (lifetime, sum(saved), nano) if sum(saved) > 0 else None

    def lost_nano(self, broken: BilledBreak) -> int | None:
        """Return the extra cost of not reading the lost tokens, in billionths of a dollar, by the
        billed model's price; None without a bill, or if the model has no rules or no price."""
        bill, rules, model = self.billed[broken.number], self.rules, self.model
        if self.row:
            model = self.row[broken.number].wire.model
        answered_by = facts_of(self.request_facts, broken.number).model
        if answered_by and is_other_model(answered_by, model):
            # the bill was for another model than the simulated one: its price counts
            model, rules = answered_by, known_rules("", answered_by)
        price = None if rules is None else price_under(rules, model)
        if price is None or rules is None or bill is None:
            return None
        paid = rules.write_permille(lifetime_of(bill, rules)) if bill.write else 1000
        return price.nano_dollars(broken.lost * max(0, paid - rules.read_permille(model)))

    def explanation(self, broken: BilledBreak) -> str:
        """Describe what changed in the session before a break that the bills show, or return "".
        Any change but the model's counts only if a break is predicted and no entry had expired."""
        since, number = broken.since, broken.number
        before, after = (facts_of(self.request_facts, each).model for each in (since, number))
        if is_other_model(before, after):
            return model_change(before, after)
        if number not in self.breaks or "had expired" in self.requests[number].reason:
            return ""
        changes = filter(None, self.differences[since + 1 : number + 1])
        return next(map(str, changes), "")

    @property
    def reach(self) -> MarkedPrefix:
        """The last request's marked prefix, and whether it is long enough."""
        rules = self.rules or known_rules(self.provider, self.model)
        return marked_prefix(self.row[-1], rules, self.model)

    def why(self, number: int) -> str:
        """Return the reason for the tokens that a request reads.

        For a break or a compaction, the first difference is added. For a break that only the bills
        show, facts that may explain the break are added.
        """
        reason, difference = self.requests[number].reason, self.differences[number]
        if number in self.breaks or number in self.compacted:
            explained = f"{reason}; {difference}" if difference else reason
            return f"{explained}{self._remedy(reason)}"
        return f"{reason}; look at: {where}" if (where := self.hints.get(number)) else reason

    def _remedy(self, reason: str) -> str:
        """Return what the longest lifetime saves, in words; "" if nothing expired or is saved."""
        if "had expired" not in reason or self.longer_life is None:
            return ""
        lifetime, saved, nano = self.longer_life
        money = f"{saved // 1000:,} tokens' full price" if nano is None else dollars(nano / 1e9)
        return f"; with marks of {lifetime} all of it would cost {money} less"

    @cached_property
    def hints(self) -> dict[int, str]:
        """Facts near each break that only bills show, by request. A fact may not be the cause."""
        hints: dict[int, str] = {}
        if self.rules is None or not self.row:
            return hints
        for broken in billed_breaks(self.billed):
            differs = any(self.differences[broken.since + 1 : broken.number + 1])
            if broken.number in self.breaks or differs:
                continue
            before = self.billed[broken.since]
            hour = before is not None and before.write_hour > 0
            text = hint(self.row, self.request_facts, broken.since, broken.number, self.rules, hour)
            hints |= {broken.number: text} if text else {}
        return hints

    def three_answers(self, number: int) -> tuple[str, str, str]:
        """Return the tokens read by prediction and by bill, and the provider's diagnosis."""
        outcome, bill = self.requests[number], self.billed[number] if any(self.billed) else None
        diagnosis = self.diagnoses[number] if any(self.diagnoses) else None
        sure = "" if outcome.state == "exact" else f", {outcome.sureness}"
        read = "" if bill is None else f"{bill.read:,} read" + ", a sum of rounds" * bill.summed
        return f"{outcome.read:,} read{sure}", read, str(diagnosis or "")

    def failures(
        self, max_cost_multiple: float | None = None, no_cache_break: bool = False
    ) -> list[str]:
        """Return a line for each reason why a request is refused, and for each exceeded limit.

        `max_cost_multiple` is relative to the cost without a cache; `no_cache_break` bans breaks.
        """
        failed = [f"the provider refuses a request: {reason}" for reason in self.errors]
        cost = self.cost_permille / 1000
        if max_cost_multiple is not None and cost > max_cost_multiple:
            limit = f"at most {max_cost_multiple} is allowed"
            failed.append(f"input costs {grouped(cost, 3)} of its full price; {limit}")
        if no_cache_break:
            breaks = {number: self._break_line(number) for number in self.breaks}
            for broken in self.unexplained:
                breaks.setdefault(broken.number, self._billed_break_line(broken))
            failed += [breaks[number] for number in sorted(breaks)]
        return failed

    def _break_line(self, number: int) -> str:
        before, after = self.requests[number - 1], self.requests[number]
        read = f"reads {after.read:,} of {before.cached_after:,} cached tokens"
        return f"request {number + 1} {read}: {self.why(number)}"

    def _billed_break_line(self, broken: BilledBreak) -> str:
        nano = self.lost_nano(broken)
        price = f", {dollars(nano / 1e9)} more" if nano is not None else ""
        cached = broken.cached_before
        read = f"was billed {broken.read:,} of {cached:,} cached tokens as read{price}"
        where = self.hints.get(broken.number)
        look = f"; look at: {where}" if where else ""
        return f"request {broken.number + 1} {read}: unexplained by the session{look}"

    @cached_property
    def findings(self) -> list[Finding]:
        """Findings about these requests, each with a remedy."""
        if self.rules is None:
            return list(self.notes)
        findings = lint(SentRow(self.row, self.requests, self.differences, self.rules, self.billed))
        if self.holds_less:  # the bill shows how long the prefix really was
            findings = [each for each in findings if each.code != "below-minimum"]
        return [*self.notes, *findings, *self._disagreements()]

    def _disagreements(self) -> Iterator[Finding]:
        """Yield a finding for each request whose prediction, bill and diagnosis disagree."""
        for number in range(1, min(len(self.diagnoses), len(self.billed))):
            diagnosis = self.diagnoses[number]
            before, bill = self.billed[number - 1], self.billed[number]
            if diagnosis is None or bill is None or before is None:
                continue
            outcome = self.requests[number]
            predicted = outcome.read if outcome.state == "exact" else None
            difference = self.differences[number] if self.differences else None
            cached = before.cached
            of_these = not self.dialect  # the bodies of a dialect were not sent
            answers = ThreeAnswers(predicted, bill.read, cached, diagnosis, difference, of_these)
            if finding := disagreement(answers, f"request {number + 1}"):
                yield finding

    @cached_property
    def holds_less(self) -> bool:
        """True if the billed requests were longer than the requests that the session holds.

        The session then lacks, for instance, the system prompt and the tools.
        """
        sized = zip(self.row, self.requests, self.billed, strict=False)
        tops = [(bill, sent.total_range[1] or inf) for sent, _, bill in sized if bill]
        totals = [(bill.total, most) for bill, most in tops if not bill.summed]
        return sum(total for total, _ in totals) > sum(most for _, most in totals)

    @cached_property
    def holds_more(self) -> bool:
        """True if a billed request did not send some of the session's text, as after a
        compaction."""
        sized = zip(self.row, self.requests, self.billed, strict=False)
        longer = any(
            bill is not None and not bill.summed and sent.total_range[0] > bill.total
            for sent, _, bill in sized
        )
        return longer or any(
            not self.requests[each.number].anchored
            and self.requests[each.number].total >= self.requests[each.since].total
            for each in self.shorter
        )

    @property
    def price(self) -> Price | None:
        """The model's list price; None if unknown, not `priced`, or not valid by these rules."""
        return self._price_of_model(self.model)

    def _price_of_model(self, model: str) -> Price | None:
        if not self.priced:
            return None
        return price_of(model) if self.rules is None else price_under(self.rules, model)

    @property
    def nano_dollars(self) -> int | None:
        """The cost of all input in billionths of a dollar; None if a request's price is unknown."""
        costs = [self.nano_of(number, one.cost) for number, one in enumerate(self.requests)]
        return None if None in costs or not self.price else sum(filter(None, costs))

    @property
    def uncached_nano_dollars(self) -> int | None:
        """The cost of all input if nothing were cached; None if a request's price is unknown."""
        costs = [self.nano_of(number, one.total * 1000) for number, one in enumerate(self.requests)]
        return None if None in costs else sum(filter(None, costs))

    def nano_of(self, number: int, cost: int) -> int | None:
        """Convert a cost in thousandths of an uncached token's price to billionths of a dollar, by
        the terms of a request; None if the request's price is unknown."""
        price, factor = self._price_of(number), self.terms[number].factor
        return None if price is None or factor is None else price.nano_dollars(cost, factor)

    def _price_of(self, number: int) -> Price | None:
        """Return the price of a request's own model, because the bodies may name several models."""
        own_model = self.row[number].wire.model if self.row else self.model
        return self.price if own_model == self.model else self._price_of_model(own_model)

    @cached_property
    def terms(self) -> list[Terms]:
        """The terms by which each request is priced."""
        return [self._terms_of(number) for number in range(len(self.requests))]

    def _terms_of(self, number: int) -> Terms:
        price, total = self._price_of(number), self.requests[number].total
        if price is None or self.rules is None:
            return Terms(None)
        if not self.row:
            return terms_of(price, self.rules, self.model, total)
        request = self.row[number]
        return terms_of(
            price, self.rules, request.wire.model, total, request.wire.settings, request.at
        )

    @property
    def assumed_as(self) -> str | None:
        """The known model whose figures are used if the rules do not name the model, or None."""
        return None if self.rules is None else stand_in(self.rules, self.model)

    @property
    def assumption(self) -> str:
        """A sentence on the rules that are assumed for an unknown model; "" for a known model."""
        return "" if self.rules is None else assumption_of(self.rules, self.model)

    @property
    def origins(self) -> list[str]:
        """Lines on the model's figures with sources, on guesses, and on the cost of all input."""
        if self.rules is None:
            return []
        if self.rules.match == "unknown":
            return [f"no caching rules are known for model {self.model!r}: all is counted in full"]
        lines = [
            _figure_line(figure, words, self.model)
            for name, words in _FIGURES
            if (figure := self.rules.figure(name, self.model))
            and (figure.value or name != "minimum_tokens")  # 0: no source gives a minimum
        ]
        writes_hour = any("1h" in request.written for request in self.requests)
        if writes_hour and any(bill and bill.write_hour for bill in self.billed):
            lines.append("what is written lives for 1h, as it was billed")
        if not all(request.anchored for request in self.requests):
            sent = next((one for one in self.row if one.billed is None), self.row[0])
            lines.append(sent.size_line)
        if any(sent.has_opaque and sent.billed is None for sent in self.row):
            lines.append(
                "the body does not show how long a picture, a file or a tool of the provider is: "
                "its tokens and its price are guesses"
            )
        if self.price and not self.errors:
            nano = self.nano_dollars
            cost = "not known" if nano is None else dollars(nano / 1e9)
            lines.append(f"all input, as predicted: {cost} ({self.price.source})")
            lines += dict.fromkeys(words for terms in self.terms for words in terms.words)
        return lines

    @property
    def errors(self) -> list[str]:
        """The reasons why the provider would refuse requests, each once."""
        return list(dict.fromkeys(r.reason for r in self.requests if r.state == "error"))


def _figure_line(figure: Figure, words: Callable[[int], str], model: str) -> str:
    """Return a line with a figure and its source, or that the figure is only assumed."""
    if figure.assumed:
        text = f"not known for {model!r}, assumed as for {figure.assumed}"
        return f"{words(figure.value)} ({text}: {figure.source})"
    if figure.others:
        others = "; ".join(f"{one.value:,} by {one.source}" for one in figure.others)
        text = f"{words(figure.value)} ({figure.source})"
        return f"{text}; sources disagree ({others}), and it is not known which is right"
    return f"{words(figure.value)} ({figure.source})"


READ_TOLERANCE: Final = 50  # tokens: a read that is lower by up to so many is no break


@dataclass(frozen=True, slots=True)
class BilledBreak:
    """A bill which shows that request `number` read less than the cache held.

    The cache held `cached_before` tokens: as many as the last billed request before this one
    (`since`) left there, or fewer if the simulated request reads fewer. `total` is the length of
    the whole request.
    """

    number: int
    since: int
    cached_before: int
    read: int
    total: int  # tokens of the whole request

    left = older_name("left", "cached_before")

    @property
    def lost(self) -> int:
        return self.cached_before - self.read

    @property
    def is_shorter(self) -> bool:
        """True if the whole request is shorter than the tokens left in the cache: no break."""
        return self.cached_before - self.total > READ_TOLERANCE


_IN_MESSAGES: Final = frozenset(("", "messages_changed", "compacted"))  # causes; "": no difference


def billed_breaks(billed: Sequence[Billed | None]) -> list[BilledBreak]:
    """Return the breaks that bills show by themselves, without a simulation."""
    return [each for each in _read_less(billed) if not each.is_shorter]


def shorter_contexts(
    billed: Sequence[Billed | None], differences: Sequence[FirstDifference | None]
) -> list[BilledBreak]:
    """Return the requests that read less only because their context was shorter.

    A request is a break, and is left out, if its tools, system prompt, model or parameters differ.
    """
    causes = [each.cause if each else "" for each in differences]
    return [
        each
        for each in _read_less(billed)
        if each.is_shorter and _IN_MESSAGES.issuperset(causes[each.since + 1 : each.number + 1])
    ]


def _read_less(billed: Sequence[Billed | None]) -> Iterator[BilledBreak]:
    bills = [(n, bill) for n, bill in enumerate(billed) if bill is not None and not bill.summed]
    for (since, before), (number, bill) in pairwise(bills):
        cached = before.cached
        if cached - bill.read > READ_TOLERANCE:
            yield BilledBreak(number, since, cached, bill.read, bill.total)


def contradicted(
    outcomes: Sequence[Simulated],
    row: Sequence[TimedRequest],
    billed: Sequence[Billed | None],
    rules: Rules,
    facts: Sequence[NotedRequest] = (),
) -> list[BilledBreak]:
    """Return the breaks that bills show, but the simulation does not, or shows as smaller.

    If a simulated request does not read all that the last billed request left, its bill is compared
    with the simulated read. A request without a bill may never have arrived (for example, because
    it was aborted): the next bill is compared with what the last billed request left, if that
    cannot have expired. Bills of two different models are never compared: each model has its own
    cache.
    """
    breaks: list[BilledBreak] = []
    for broken in billed_breaks(billed):
        outcome, before = outcomes[broken.number], outcomes[broken.since]
        request, request_before, bill = row[broken.number], row[broken.since], billed[broken.since]
        models = (facts_of(facts, number).model for number in (broken.since, broken.number))
        if request.wire.model == request_before.wire.model and is_other_model(*models):
            continue
        has_gap = broken.number - broken.since > 1
        if has_gap and request.at - request_before.at > rules.seconds(lifetime_of(bill, rules)):
            continue
        if not _goes_on(outcome, request, before, request_before):
            least = outcome.read if outcome.sized else token_range(outcome.read)[0]
            cached = 0 if has_gap else min(broken.cached_before, least)
            broken = replace(broken, cached_before=cached)
        if broken.lost > READ_TOLERANCE:
            breaks.append(broken)
    return breaks


def _goes_on(
    after: Simulated, request: TimedRequest, before: Simulated, request_before: TimedRequest
) -> bool:
    """Return True if a request reads all of an earlier request's last entry, and begins like it."""
    last = _last_entry(before)
    return (
        last is not None
        and reads_up_to(after, before)
        and request.begins_like(request_before, last)
    )


def reads_up_to(after: Simulated, before: Simulated) -> bool:
    """Return True if a request reads at least up to the end of its predecessor's last entry."""
    last = _last_entry(before)
    return after.hit is not None and last is not None and after.hit >= last


def _last_entry(outcome: Simulated) -> int | None:
    """Return the last block that a request writes, or else the last that it reads; or None."""
    points = outcome.breakpoints if outcome.written else ()
    return points[-1] if points else outcome.hit


class CacheMatrix(Listed[CacheSimulation], Drawn):
    """A session's simulations, ordered by dialect, and by policy within each dialect.

    The table has a row for each simulation; the figure is a map of the cost of input.
    """

    def _summary(self) -> str:
        names = [dict.fromkeys(getattr(c, n) for c in self) for n in ("dialect", "policy")]
        costs = sorted(c.cost_permille for c in self if not c.errors)
        span = " to ".join(map(_share, sorted({*costs[:1], *costs[-1:]}))) or "unknown"
        refused = f", {len(self) - len(costs)} refused" if len(costs) < len(self) else ""
        return f"cost {span} of the full price: {' under '.join(map(', '.join, names))}{refused}"
