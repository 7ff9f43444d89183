"""Compare predictions with bills, for every request of recorded exchanges.

A request is *predictable* if the rules alone decide. Every other request has a reason why it is
not, for example: it is the first of a record, the cache was already warm, tools ran on the server,
the cache is best-effort, the request failed, or there is no bill.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import Any, Final

from playground.base.arguments import older_name, with_older_keys
from playground.base.findings import Finding
from playground.cache.bounds import read_bounds
from playground.cache.diagnosis import ThreeAnswers, diagnosis_of, disagreement
from playground.cache.differences import first_difference
from playground.cache.lint import usage_lost
from playground.cache.prefixes import Billed, TimedRequest
from playground.cache.rules import rules_of
from playground.cache.simulated import Simulated
from playground.cache.simulator import CacheSimulator
from playground.cache.usage import as_count, billed_of
from playground.dialects.marks.providers import UNKNOWN, rules_and_model
from playground.nouns.wire_blocks import read_wire
from playground.sessions.shapes.requests import usage_of
from playground.sessions.times import instant

_APART: Final = 20.0  # seconds between requests without noted times


@dataclass(frozen=True, slots=True)
class ValidationRow:
    """One request: its prediction, its bill, and whether they agree."""

    file: str
    index: int
    provider: str
    model: str
    state: str  # "predictable", or why it is not
    predicted_read: int = 0
    predicted_write: int = 0
    billed_read: int = 0
    billed_write: int = 0
    billed_write_hour: int = 0  # the part of billed_write with a lifetime of an hour
    size_known: bool = False  # True if an earlier bill gives the read entry's size, or none is read
    reason: str = ""
    diagnosis: str = ""  # the provider's own diagnosis
    least_read: int = 0  # the least tokens that it can read
    most_read: int | None = None  # None if unknown
    verdict: str = ""  # verdict on the bill by these two bounds; "" without a bill

    told = older_name("told", "diagnosis")

    @property
    def hit_right(self) -> bool:
        return (self.predicted_read > 0) == (self.billed_read > 0)

    @property
    def tokens_exact(self) -> bool:
        return self.predicted_read == self.billed_read

    def as_json(self) -> dict[str, Any]:
        """Return the row as JSON; hit_right and tokens_exact are null if nothing was predicted."""
        right = {"hit_right": self.hit_right, "tokens_exact": self.tokens_exact}
        is_predicted = self.state == "predictable"
        row = with_older_keys(asdict(self), diagnosis="told")
        return row | (right if is_predicted else dict.fromkeys(right))


@dataclass(frozen=True, slots=True)
class Validation:
    """All rows of some files, with counts. `findings` are about recorded usages that lack tokens
    which the response counts, and requests whose prediction, bill and diagnosis disagree."""

    rows: list[ValidationRow]
    findings: list[Finding]
    left_out: list[str] = field(default_factory=list)

    @property
    def predictable(self) -> list[ValidationRow]:
        return [row for row in self.rows if row.state == "predictable"]

    @property
    def hit_right(self) -> int:
        return sum(row.hit_right for row in self.predictable)

    @property
    def tokens_exact(self) -> int:
        return sum(row.tokens_exact for row in self.predictable)

    @property
    def providers(self) -> dict[str, dict[str, int]]:
        """For each provider, count predictable, right and exact requests, and others by reason."""
        counters: dict[str, Counter[str]] = {}
        for row in self.rows:
            counts = counters.setdefault(row.provider or "no rules", Counter())
            counts[row.state] += 1
            if row.state == "predictable":
                counts["right"] += row.hit_right
                counts["exact"] += row.tokens_exact
        return {name: dict(counts) for name, counts in sorted(counters.items())}

    @property
    def verdicts(self) -> dict[str, dict[str, int]]:
        """For each provider, count the verdicts on bills with cached tokens."""
        counters: dict[str, Counter[str]] = {}
        for row in self.rows:
            if row.verdict and row.billed_read:
                counters.setdefault(row.provider or "no rules", Counter())[row.verdict] += 1
        return {name: dict(counts) for name, counts in sorted(counters.items())}

    @property
    def unpredictable(self) -> dict[str, int]:
        """Count unpredictable requests by reason."""
        return dict(Counter(row.state for row in self.rows if row.state != "predictable"))

    def as_json(self) -> dict[str, Any]:
        return {
            "predictable": len(self.predictable),
            "hit_right": self.hit_right,
            "tokens_exact": self.tokens_exact,
            "unpredictable": self.unpredictable,
            "providers": self.providers,
            "verdicts": self.verdicts,
            "left_out": self.left_out,
            "findings": [asdict(finding) for finding in self.findings],
            "rows": [row.as_json() for row in self.rows],
        }


def validation_of(
    files: Iterable[tuple[str, list[dict[str, Any]]]], left_out: list[str]
) -> Validation:
    """Validate the exchanges of `files`: pairs of a name, and exchanges in the order of sending.

    An exchange is an object with `request` and, if known, `uri`, `response`, `usage`, `status` and
    `date`. `left_out` says why other files are not among `files`.
    """
    rows: list[ValidationRow] = []
    findings: list[Finding] = []
    for name, exchanges in files:
        rows += _rows(name, exchanges, findings)
        findings += _usage_findings(name, exchanges)
    return Validation(rows, findings, left_out)


def _usage_findings(file: str, exchanges: list[dict[str, Any]]) -> Iterator[Finding]:
    for index, exchange in enumerate(exchanges):
        response = exchange.get("response")
        billed = response.get("usage") if isinstance(response, dict) else None
        recorded = exchange.get("usage")  # if the record has no usage, the response's is used
        if recorded and (found := usage_lost(recorded, billed, f"{file}, request {index}")):
            yield found


def _rows(
    file: str, exchanges: list[dict[str, Any]], findings: list[Finding]
) -> Iterator[ValidationRow]:
    """Yield a file's rows, and add to `findings` where prediction, bill and diagnosis disagree."""
    before: dict[str, tuple[TimedRequest, Billed]] = {}  # by provider
    simulators: dict[str, CacheSimulator] = {}
    begun: set[str] = set()
    resources: dict[str, int] = {}  # Gemini: explicit caches by name
    record = _Record()
    at = 0.0
    for index, exchange in enumerate(exchanges):
        at = max(_time(exchange.get("date")) or at + _APART, at + 1)
        uri, body = str(exchange.get("uri") or ""), exchange.get("request")
        model_name = str(body.get("model") or "") if isinstance(body, dict) else ""
        provider, model = rules_and_model(uri, model_name)
        diagnosis = diagnosis_of(exchange.get("response"))
        in_words = str(diagnosis) if diagnosis else ""
        base = ValidationRow(file, index, provider, model, "no body", diagnosis=in_words)
        if not isinstance(body, dict):
            yield base
            continue
        billed = _billed(exchange)
        if provider == "gemini":
            row = _gemini(base, body, exchange, billed, resources)
            yield record.with_verdict(row, body, at, billed)
            continue
        why_not = _unusable(exchange, uri, provider, billed)
        if why_not or billed is None:
            row = _with(base, state=why_not or "no usage", billed=billed)
            yield record.with_verdict(row, body, at, billed)
            continue
        simulator = simulators.setdefault(provider, CacheSimulator(rules_of(provider)))
        ttl = simulator.rules.value("default_ttl")
        wire = read_wire(body, model, ttl)
        request = TimedRequest(wire, at, simulator.rules, billed)
        outcome = simulator.send(request)
        key = f"{provider} {model}"
        first = key not in begun
        begun.add(key)
        state = _state(first, outcome, billed)
        if diagnosis and provider in before:
            earlier, bill = before[provider]
            difference = first_difference(earlier, request, simulator.rules)
            predicted = outcome.read if state == "predictable" else None
            cached = bill.cached
            answers = ThreeAnswers(predicted, billed.read, cached, diagnosis, difference)
            if found := disagreement(answers, f"{file}, request {index}"):
                findings.append(found)
        before[provider] = request, billed
        row = replace(
            _with(base, state, billed),
            predicted_read=outcome.read,
            predicted_write=sum(outcome.written.values()),
            size_known=outcome.sized or outcome.read == 0,
            reason=outcome.reason,
        )
        yield record.with_verdict(row, body, at, billed)


_JUDGED_STATES: Final = ("predictable", "first", "warm start", "best effort", "unpredictable")


class _Record:
    """The earlier requests of a file, which may have left cache entries, by provider and model."""

    def __init__(self) -> None:
        self._sent: dict[tuple[str, str], list[TimedRequest]] = {}

    def with_verdict(
        self, row: ValidationRow, body: dict[str, Any], at: float, billed: Billed | None
    ) -> ValidationRow:
        """Return the row with the bounds of its read, and the verdict on its bill."""
        if billed is None or row.state not in _JUDGED_STATES or body.get("cachedContent"):
            return row
        rules = rules_of(row.provider)
        wire = read_wire(body, row.model, rules.value("default_ttl"))
        request = TimedRequest(wire, at, rules, billed)
        earlier = self._sent.setdefault((row.provider, row.model), [])
        sure = row.predicted_read if row.state == "predictable" and row.size_known else 0
        bounds = read_bounds(request, earlier, billed, sure)
        earlier.append(request)
        return replace(
            row, least_read=bounds.least, most_read=bounds.most, verdict=bounds.verdict(billed.read)
        )


def _billed(exchange: Mapping[str, Any]) -> Billed | None:
    """Return the bill, marked as summed if a tool ran on the server; None without a bill."""
    billed = billed_of(_usage(exchange))
    if billed is None:
        return None
    return replace(billed, summed=billed.summed or _used_server_tools(exchange))


def _usage(exchange: Mapping[str, Any]) -> Any:
    response = exchange.get("response")
    return usage_of(response if isinstance(response, dict) else None, exchange.get("usage"))


def _with(row: ValidationRow, state: str, billed: Billed | None) -> ValidationRow:
    if billed is None:
        return replace(row, state=state)
    return replace(
        row,
        state=state,
        billed_read=billed.read,
        billed_write=billed.write,
        billed_write_hour=billed.write_hour,
    )


def _state(first: bool, outcome: Simulated, billed: Billed) -> str:
    """Return "predictable", or the reason why the request is not. `first` is True for the first
    request to a provider and model."""
    if first and billed.read:
        return "warm start"
    if billed.summed:
        return "server tools"
    if outcome.state == "eligible":
        return "best effort"
    if outcome.state in ("error", "unpredictable"):
        return outcome.state
    return "first" if first or outcome.begins else "predictable"


def _unusable(exchange: Mapping[str, Any], uri: str, provider: str, billed: Billed | None) -> str:
    """Return why no prediction can be compared with the bill of this exchange, or ""."""
    status = exchange.get("status")
    if isinstance(status, int) and status >= 400:
        return "failed"
    if "count_tokens" in uri:
        return "only counts tokens"
    if provider in ("", UNKNOWN):
        return "no rules for this provider"
    if rules_of(provider).match == "best effort":
        return "best effort"
    return "" if billed is not None else "no usage"


def _used_server_tools(exchange: Mapping[str, Any]) -> bool:
    response = exchange.get("response")
    content = response.get("content") if isinstance(response, dict) else None
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") == "server_tool_use" for part in content
    )


def _gemini(
    row: ValidationRow,
    body: Mapping[str, Any],
    exchange: Mapping[str, Any],
    billed: Billed | None,
    resources: dict[str, int],
) -> ValidationRow:
    """Return the row of a Gemini request: its prediction, or why it is not predictable. A request
    reads the complete explicit cache that it names; the implicit cache promises nothing."""
    response = exchange.get("response")
    name = response.get("name") if isinstance(response, dict) else None
    usage = _usage(exchange) or {}
    if isinstance(name, str) and name.startswith("cachedContents/"):
        resources[name] = as_count(usage.get("totalTokenCount"))
        return _with(row, "creates a cache", billed)
    cached = body.get("cachedContent")
    if billed is None:
        return _with(row, "no usage", billed)
    if not isinstance(cached, str):
        return _with(row, "best effort", billed)
    if cached not in resources:
        return _with(row, "a cache from before", billed)
    size = resources[cached]
    reason = f"reads {cached.partition('/')[0]} whole"
    return replace(_with(row, "predictable", billed), predicted_read=size, reason=reason)


def _time(date: Any) -> float | None:
    """Return a date of a header, or in ISO 8601, in seconds since 1970; None for anything else."""
    if not isinstance(date, str):
        return None
    if (at := instant(date)) is not None:
        return at
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError):
        return None
