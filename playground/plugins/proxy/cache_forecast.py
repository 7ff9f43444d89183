"""Forecast a request's cache reads and cost, given its session's earlier requests.
`session_matching.py` finds the session. A request's bill replaces its forecast."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict, deque
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from playground.base.findings import Finding
from playground.cache.answers.known_rules import known_rules
from playground.cache.diagnosis import Diagnosis, ThreeAnswers, disagreement
from playground.cache.differences import FirstDifference, first_difference
from playground.cache.lint import SentRow, lint
from playground.cache.prefixes import Billed, TimedRequest
from playground.cache.prices import Price, price_of
from playground.cache.rules import Rules
from playground.cache.simulated import Simulated
from playground.cache.usage import billed_of, cost_of
from playground.dialects.marks.providers import rules_and_model
from playground.nouns.wire_blocks import WireReader
from playground.plugins.proxy.exchange import Opened
from playground.plugins.proxy.live_cache import LiveCache, Prediction
from playground.plugins.proxy.session_matching import SessionMatch, Sessions
from playground.sessions.building import SessionBuilder
from playground.sessions.checks import check
from playground.sessions.last_resort import UNEXPECTED_ERRORS
from playground.sessions.places import Place
from playground.sessions.shapes.requests import read_request

_MOST_CACHES: Final = 64  # each is for one model at one address
_MOST_REQUESTS: Final = 4  # the last ones of a session, which are stored; the lint needs three
_MOST_FINDINGS: Final = 6  # the most findings about a request that are reported


@dataclass(frozen=True, slots=True)
class Expected:
    """The prediction for one request, in tokens and in billionths of a dollar (None if no price is
    known).

    If the request `breaks` the cache, `cause` is the code of a finding, `place` says where the
    request differs from the session's last one, and `lost` is the number of tokens that the last
    request left in the cache and this one does not read.
    """

    session: str
    title: str
    number: int  # number of the request in its session, from 1
    provider: str
    model: str
    state: str  # the certainty of the prediction, as in Simulated
    read: int
    written: int
    total: int
    nano: int | None
    reason: str
    sized: bool = False  # True if `read` is exact, by an earlier bill or because it is 0
    breaks: bool = False
    cause: str = ""
    place: str = ""
    lost: int = 0
    lost_nano: int | None = None
    findings: tuple[Finding, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Bill:
    """The bill for a request's input, in the units of Expected. `summed` is True if the bill covers
    several rounds."""

    read: int
    written: int
    total: int
    nano: int | None
    summed: bool = False

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(slots=True)
class _Row:
    """The last requests of a session, with which its next request is compared. `sent` has each with
    its outcome and its difference from the request before it."""

    reader: WireReader
    rules: Rules
    model: str
    sent: deque[tuple[TimedRequest, Simulated, FirstDifference | None]] = field(
        default_factory=lambda: deque(maxlen=_MOST_REQUESTS)
    )
    prefix_size: tuple[int, int] = (0, 0)  # (estimated, billed) tokens of a prefix that was read
    last_size: tuple[int, int] = (0, 0)  # the same two sizes of the last billed request
    known_codes: frozenset[str] = frozenset()  # codes of the findings about the last request
    cached_tokens: int = 0  # tokens that the last request left in the cache

    def learn(self, hit: int | None, sent: TimedRequest, billed: Billed) -> None:
        """Store the billed sizes of a request, and of the prefix that was read (up to block
        `hit`). A prefix replaces a shorter one only if it is at most half of the request."""
        if sent.estimates and sent.estimates[-1] and billed.total:
            self.last_size = (sent.estimates[-1], billed.total)
        if hit is None or not billed.read or self.rules.match == "best effort":
            return
        size = sent.estimates[hit]
        if not self.prefix_size[0] or size <= self.prefix_size[0] or 2 * size <= sent.estimates[-1]:
            self.prefix_size = (size, billed.read)


@dataclass(slots=True)
class Underway:
    """A request that is predicted but not billed yet, with the values to compare its bill with."""

    expected: Expected
    prediction: Prediction
    row: _Row
    cache: LiveCache
    match: SessionMatch[_Row]
    difference: FirstDifference | None
    price: Price | None
    codes: frozenset[str]  # codes of all its findings
    cached_before: int = 0  # tokens that the previous request left in the cache


class CacheForecast:
    """The forecasts of one run of the proxy, with the last requests of the newest sessions."""

    def __init__(self) -> None:
        self._sessions: Sessions[_Row] = Sessions()
        self._caches: OrderedDict[tuple[str, str, str], LiveCache] = OrderedDict()

    def forecast(self, opened: Opened, body: dict[str, Any]) -> Underway:
        """Forecast a request. Raises one of UNEXPECTED_ERRORS if the body's shape is unknown."""
        provider, model = rules_and_model(opened.url, str(body.get("model") or opened.model))
        rules = known_rules(provider, model)
        match = self._sessions.match_request(opened, body, model)
        row = match.value
        if row is None or (row.rules.provider, row.model) != (rules.provider, model):
            previous_row = row
            row = _Row(WireReader(model, rules.value("default_ttl")), rules, model)
            if previous_row is not None:  # earlier requests to another model are linted, too
                row.sent, row.cached_tokens = previous_row.sent, previous_row.cached_tokens
        previous = row.sent[-1] if row.sent else None
        wire = row.reader.read(body)
        previous_request = previous[0] if previous else None
        sent = TimedRequest(
            wire, opened.at, rules, None, previous_request, [row.prefix_size, row.last_size]
        )
        difference = first_difference(previous[0], sent, rules) if previous else None
        cache = self._cache(opened.url, rules, model)
        prediction = cache.predict(sent)
        price = price_of(model)
        findings = [*_lint_findings(row, prediction, difference), *_pairing_findings(body)]
        expected = _make_expected(match, row, prediction, difference, findings, price)
        codes = frozenset(finding.code for finding in findings)
        cached = row.cached_tokens if row.sent else 0
        return Underway(expected, prediction, row, cache, match, difference, price, codes, cached)

    def record_sent(self, underway: Underway) -> None:
        """Record that the request is forwarded, so that later requests are compared with it."""
        row, prediction = underway.row, underway.prediction
        underway.cache.record_sent(prediction)
        row.sent.append((prediction.request, prediction.outcome, underway.difference))
        row.cached_tokens = _cached_tokens(prediction.request, prediction.outcome, row.rules)
        row.known_codes = underway.codes
        self._sessions.keep(underway.match, row)

    def record_answer(self, underway: Underway, at: float) -> None:
        """Record when a successful answer began, because the cache can be read from then on."""
        underway.cache.record_first_token(underway.prediction, at)

    def end_request(
        self, underway: Underway, status: int, usage: dict[str, Any] | None
    ) -> Bill | None:
        """Record that the answer has ended, and return its bill if it has one.

        A refused request is removed from its session.
        """
        billed = billed_of(usage)
        if not 200 <= status < 300:
            underway.cache.undo(underway.prediction)
            _remove_refused(underway)
            return None
        if billed is None:
            return None
        row, prediction = underway.row, underway.prediction
        request = prediction.request
        sent = TimedRequest(request.wire, request.at, row.rules, billed, request, [row.prefix_size])
        if not billed.summed:
            underway.cache.record_bill(prediction, sent)
            row.learn(prediction.outcome.hit, sent, billed)
            self._apply_bill(row, prediction, sent, billed)
        return Bill(
            billed.read,
            billed.write,
            billed.total,
            _billed_nano(billed, row.rules, underway.expected.model, underway.price),
            billed.summed,
        )

    def disagreement(self, underway: Underway, bill: Bill, diagnosis: Diagnosis | None) -> str:
        """Return in words how prediction, bill and diagnosis disagree, and which is wrong; "" if
        they agree or cannot be compared."""
        outcome, expected = underway.prediction.outcome, underway.expected
        if diagnosis is None or bill.summed or not underway.cached_before:
            return ""
        predicted = outcome.read if outcome.state == "exact" else None
        answers = ThreeAnswers(
            predicted, bill.read, underway.cached_before, diagnosis, underway.difference
        )
        finding = disagreement(answers, f"{expected.session} #{expected.number}")
        return finding.message if finding else ""

    def _apply_bill(
        self, row: _Row, prediction: Prediction, sent: TimedRequest, billed: Billed
    ) -> None:
        """Replace a request's prediction in its row by the bill."""
        for index, (request, predicted, difference) in enumerate(row.sent):
            if request is not prediction.request:
                continue
            ttl = next(iter(predicted.written), row.rules.value("default_ttl"))
            outcome = replace(
                predicted,
                read=billed.read,
                written={ttl: billed.write} if billed.write else {},
                uncached=billed.uncached,
                anchored=True,
            )
            row.sent[index] = (sent, outcome, difference)
            if index == len(row.sent) - 1:
                row.cached_tokens = _cached_tokens(sent, outcome, row.rules)

    def _cache(self, url: str, rules: Rules, model: str) -> LiveCache:
        origin = "/".join(url.split("/", 3)[:3])
        key = (origin, rules.provider, model)
        if key not in self._caches:
            self._caches[key] = LiveCache(rules)
        self._caches.move_to_end(key)
        while len(self._caches) > _MOST_CACHES:
            self._caches.popitem(last=False)
        return self._caches[key]


def _remove_refused(underway: Underway) -> None:
    """Remove a refused request from its row, so that later requests are not compared with it."""
    row, request = underway.row, underway.prediction.request
    remaining = [entry for entry in row.sent if entry[0] is not request]
    row.sent.clear()
    row.sent.extend(remaining)
    row.cached_tokens = _cached_tokens(*remaining[-1][:2], row.rules) if remaining else 0


def _make_expected(
    match: SessionMatch[_Row],
    row: _Row,
    prediction: Prediction,
    difference: FirstDifference | None,
    findings: list[Finding],
    price: Price | None,
) -> Expected:
    outcome, rules = prediction.outcome, row.rules
    new = tuple(each for each in findings if each.code not in row.known_codes)[:_MOST_FINDINGS]
    lost = max(0, row.cached_tokens - outcome.read) if row.sent else 0
    breaks = lost > 0 and outcome.state not in ("error", "unknown-provider")
    return Expected(
        session=match.name,
        title=match.title,
        number=match.number,
        provider=rules.provider,
        model=row.model,
        state=outcome.state,
        read=outcome.read,
        written=sum(outcome.written.values()),
        total=outcome.total,
        nano=price.nano_dollars(outcome.cost) if price else None,
        reason=outcome.reason,
        sized=outcome.sized or not outcome.read,
        breaks=breaks,
        cause=_cause(prediction, difference, findings) if breaks else "",
        place=_place_of_difference(prediction.request, difference) if breaks else "",
        lost=lost if breaks else 0,
        lost_nano=_lost_nano(lost, outcome, rules, row.model, price) if breaks else None,
        findings=new,
    )


def _cached_tokens(sent: TimedRequest, outcome: Simulated, rules: Rules) -> int:
    """Return the number of tokens that a request leaves in the cache for its continuation. A cache
    without promises ("best effort") stores complete steps of the request."""
    if rules.match != "best effort":
        return outcome.cached_after
    model = sent.wire.model
    step = rules.of_model("granularity_of", model) or rules.value("granularity")
    read: int = sent.total // step * step
    return read if read >= rules.minimum(model) else 0


def _lint_findings(
    row: _Row, prediction: Prediction, difference: FirstDifference | None
) -> list[Finding]:
    """Return the cache lint's findings about the predicted request, as the last one of its row."""
    members = [*row.sent, (prediction.request, prediction.outcome, difference)]
    members[0] = (*members[0][:2], None)  # its previous request is not stored any more
    requests, outcomes, differences = zip(*members, strict=True)
    findings = lint(SentRow(requests, outcomes, differences, row.rules))
    last = str(len(members))  # `where` ends with a request's number
    return [
        replace(each, where="the request") for each in findings if each.where.split()[-1] == last
    ]


def _pairing_findings(body: dict[str, Any]) -> list[Finding]:
    """Return the warnings and errors of the session checks (of calls and results) on a request."""
    builder = SessionBuilder()
    try:
        read_request(builder, body, Place())
        return [finding for finding in check(builder.finish()) if finding.severity != "info"]
    except UNEXPECTED_ERRORS:  # the body's shape is unknown, but the provider may accept it
        return []


def _cause(
    prediction: Prediction, difference: FirstDifference | None, findings: list[Finding]
) -> str:
    """Return the code of the finding that explains a cache break: by the difference from the last
    request, or else by the lint's findings, or else by the entry's age; "not-found" if none.
    """
    if difference is not None:
        return difference.rule
    codes = [finding.code for finding in findings]
    for code in ("in-flight", "lookback-overflow", "no-anchor", "no-breakpoint"):
        if code in codes:
            return code
    return "expired" if "expired" in prediction.outcome.reason else "not-found"


def _place_of_difference(sent: TimedRequest, difference: FirstDifference | None) -> str:
    """Describe the place where a request differs from the previous one; "" if there is none."""
    if difference is None:
        return ""
    if difference.block is None:
        return difference.cause.removesuffix("_changed").replace("_", " ")
    tier = difference.cause.removesuffix("_changed")
    if tier == "tools":
        return f"tool {difference.block + 1}"
    if tier == "system":
        return "the system prompt"
    return f"message {max(1, bisect_right(sent.wire.starts, difference.block))}"


def _lost_nano(
    lost: int, outcome: Simulated, rules: Rules, model: str, price: Price | None
) -> int | None:
    """Return the extra cost of `lost` tokens that are not read; None if no price is known."""
    if price is None:
        return None
    write_price = max((rules.write_permille(ttl) for ttl in outcome.written), default=1000)
    return price.nano_dollars(lost * (max(write_price, 1000) - rules.read_permille(model)))


def _billed_nano(billed: Billed, rules: Rules, model: str, price: Price | None) -> int | None:
    return None if price is None else price.nano_dollars(cost_of(billed, rules, model))
