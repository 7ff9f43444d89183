"""Find the terms under which a request is priced: its length, service tier, speed, place and hour.

A factor is in thousandths of the list price; it is None if no source gives the price.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from playground.base.wording import grouped
from playground.cache.prices import Price
from playground.cache.rules import Rules
from playground.cache.rules.names import plain_name

_USUAL_TIERS: Final = ("", "auto", "default", "standard", "standard_only", "on_demand")
_USUAL_VALUES: Final = (None, "standard", "default", {"latency": "standard"})
_AN_EPOCH: Final = 1_000_000_000  # a smaller time is not in seconds since 1970
_CHINA: Final = timedelta(hours=8)  # time zone of the days that are holidays


@dataclass(frozen=True, slots=True)
class Terms:
    """The factor of a request's price in thousandths (None if unknown), and the reason."""

    factor: int | None
    words: tuple[str, ...] = ()


def terms_of(
    price: Price,
    rules: Rules,
    model: str,
    tokens: int,
    settings: Mapping[str, Any] | None = None,
    at: float | None = None,
) -> Terms:
    """Return the terms of a request of so many tokens; `at` is its time in seconds since 1970."""
    settings = settings or {}
    tier = str(settings.get("service_tier") or settings.get("serviceTier") or "").lower()
    tier = "" if tier in _USUAL_TIERS else tier
    factor, words = price.factor(tokens, tier), list[str]()
    disputed = rules.of_model("disputed_above", model)
    if disputed is not None and tokens > disputed:
        reason = f"no price is known above {disputed:,} tokens: sources disagree"
        return Terms(None, (reason,))
    if factor is None:
        return Terms(None, (f"no price is known for service tier {tier}",))
    if factor != 1000:
        which = f"{tokens:,} tokens" + f", service tier {tier}" * bool(tier)
        words.append(f"{which}: {grouped(factor / 1000, 2)} times the list price")
    if at is not None and at >= _AN_EPOCH:
        start, then = price.since(datetime.fromtimestamp(at, UTC).date().isoformat())
        if then != 1000:
            factor = factor * then // 1000
            began = f"since {start}" if start else f"before {price.days[1][0]}"
            words.append(f"the price {began}: {grouped(then / 1000, 2)} times the list price")
    for name, factors in rules.get("price_factors", {}).items():
        value = settings.get(name)
        if value in _USUAL_VALUES:
            continue
        entry = factors.get(value) if isinstance(value, str) else None
        if entry is None or plain_name(model) not in entry.get("models", (plain_name(model),)):
            return Terms(None, (f"no price is known for {name} {value}",))
        permille = int(entry["permille"])
        factor = factor * permille // 1000
        words.append(f"{name} {value}: {grouped(permille / 1000, 2)} times the list price")
    return _by_hour(Terms(factor, tuple(words)), rules, at)


def _by_hour(terms: Terms, rules: Rules, at: float | None) -> Terms:
    off = rules.get("off_peak")
    if off is None or terms.factor is None:
        return terms
    share = grouped(off["permille"] / 1000, 2)
    if at is None or at < _AN_EPOCH:
        reason = f"the time is unknown: the peak price is taken (off-peak costs {share} of it)"
        return Terms(terms.factor, (*terms.words, reason))
    when = datetime.fromtimestamp(at, UTC)
    if when.date().isoformat() < off["since"] or _is_peak(when, off):
        return terms
    reason = f"off-peak: {share} times the list price"
    return Terms(terms.factor * int(off["permille"]) // 1000, (*terms.words, reason))


def _is_peak(when: datetime, off: Mapping[str, Any]) -> bool:
    if when.weekday() not in off["weekdays"]:
        return False
    if (when + _CHINA).date().isoformat() in off["holidays"]:
        return False
    return any(start <= when.hour < stop for start, stop in off["peak_hours"])
