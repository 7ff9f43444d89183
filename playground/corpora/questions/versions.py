"""What changed between two versions of an agent: rates side by side, and how likely by chance."""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, sqrt
from typing import Any, Final

COLUMNS: Final = ("figure", "first", "second", "change", "p")
SQL: Final = """
WITH s AS (SELECT version, count(*) AS sessions FROM sessions {where} GROUP BY 1),
  r AS (SELECT version, count(*) AS requests, count(cost_nano) AS priced,
    sum(cost_nano) AS cost, sum(read) AS read, sum(read + written + uncached) AS input
    FROM requests {where} GROUP BY 1),
  c AS (SELECT version, count(*) AS calls, count(*) FILTER (NOT ok) AS malformed,
    count(failed) AS answered, count(*) FILTER (failed) AS failed FROM calls {where} GROUP BY 1),
  f AS (SELECT version, count(*) AS findings FROM findings {where} GROUP BY 1),
  b AS (SELECT version, count(*) AS breaks, sum(lost_nano) AS lost FROM breaks {where} GROUP BY 1)
SELECT version, sessions, requests, calls, malformed, answered, failed, findings, breaks,
  priced, cost, read, input, lost
FROM s FULL JOIN r USING (version) FULL JOIN c USING (version) FULL JOIN f USING (version)
  FULL JOIN b USING (version) ORDER BY version"""
_SHARES: Final = (  # of each: what of it, of what
    ("malformed calls", "malformed", "calls"),
    ("failed calls", "failed", "answered"),
    ("input read from the cache", "read", "input"),
)
_RATES: Final = (
    ("requests a session", "requests", "sessions"),
    ("calls a session", "calls", "sessions"),
    ("findings a request", "findings", "requests"),
    ("cache breaks a request", "breaks", "requests"),
    ("nano-dollars a priced request", "cost", "priced"),
    ("nano-dollars lost by a break", "lost", "breaks"),
)


def compared(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[Any, ...]]:
    """A row for each figure: in both versions, the change, and for shares of calls the chance of
    such a difference where there is none (two-sided, of two proportions)."""
    rows: list[tuple[Any, ...]] = [
        (name, first.get(name) or 0, second.get(name) or 0, None, None)
        for name in ("sessions", "requests", "calls")
    ]
    for name, part, whole in (*_SHARES, *_RATES):
        pairs = [(int(each.get(part) or 0), int(each.get(whole) or 0)) for each in (first, second)]
        values = [hits / of if of else None for hits, of in pairs]
        before, after = values
        change = None if before is None or after is None else round(after - before, 6)
        chance = _chance(pairs) if whole in ("calls", "answered") and part != whole else None
        shown = (None if value is None else round(value, 6) for value in values)
        rows.append((name, *shown, change, chance))
    return rows


def _chance(pairs: Sequence[tuple[int, int]]) -> float | None:
    (hits, of), (others, whole) = pairs
    if not of or not whole or hits > of or others > whole:
        return None
    pooled = (hits + others) / (of + whole)
    spread = sqrt(pooled * (1 - pooled) * (1 / of + 1 / whole))
    if not spread:
        return 1.0
    return round(erfc(abs(hits / of - others / whole) / spread / sqrt(2)), 6)
