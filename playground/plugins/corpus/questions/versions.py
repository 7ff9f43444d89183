"""Compare two versions of an agent: their rates, and how likely each difference is by chance."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import erfc, sqrt
from typing import Any, Final

from playground.base.errors import InputFault

COLUMNS: Final = ("figure", "first", "second", "change", "p")
SQL: Final = """
WITH s AS (SELECT agent, version, count(*) AS sessions FROM sessions {where} GROUP BY ALL),
  r AS (SELECT agent, version, count(*) AS requests, count(cost_nano) AS priced,
    sum(cost_nano) AS cost, sum(read) AS read, sum(read + written + uncached) AS input
    FROM requests {where} GROUP BY ALL),
  c AS (SELECT agent, version, count(*) AS calls, count(*) FILTER (NOT ok) AS malformed,
    count(failed) AS answered, count(*) FILTER (failed) AS failed
    FROM calls {where} GROUP BY ALL),
  f AS (SELECT agent, version, count(*) AS findings FROM findings {where} GROUP BY ALL),
  b AS (SELECT agent, version, count(*) AS breaks, sum(lost_nano) AS lost
    FROM breaks {where} GROUP BY ALL)
SELECT agent, version, sessions, requests, calls, malformed, answered, failed, findings, breaks,
  priced, cost, read, input, lost
FROM s FULL JOIN r USING (agent, version) FULL JOIN c USING (agent, version)
  FULL JOIN f USING (agent, version) FULL JOIN b USING (agent, version)
ORDER BY agent, version"""
_SHARES: Final = (  # (name of the figure, part, whole)
    ("malformed calls", "malformed", "calls"),
    ("failed calls", "failed", "answered"),
    ("input read from the cache", "read", "input"),
)
_RATES: Final = (  # (name of the figure, sum, count by which it is divided)
    ("requests a session", "requests", "sessions"),
    ("calls a session", "calls", "sessions"),
    ("findings a request", "findings", "requests"),
    ("cache breaks a request", "breaks", "requests"),
    ("dollars a priced request", "cost", "priced"),
    ("dollars lost by a break", "lost", "breaks"),
)


def choose_versions(rows: Sequence[dict[str, Any]], wanted: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the rows of two versions of one agent: the `wanted` versions, or the newest two.

    If several agents have two such versions, the agent with most sessions is chosen. Raises
    InputFault if no agent has two such versions.
    """
    agents: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        if row["version"]:
            agents.setdefault(row["agent"] or "", {})[row["version"]] = row
    pairs = {
        agent: list(wanted) or sorted(by_version, key=_sort_key)[-2:]
        for agent, by_version in agents.items()
    }
    eligible = [
        agent
        for agent, names in pairs.items()
        if len(names) == 2 and all(name in agents[agent] for name in names)
    ]
    if not eligible:
        by_agent = {
            agent or "no agent": sorted(by_version, key=_sort_key)
            for agent, by_version in agents.items()
        }
        listed = "; ".join(f"{agent} {', '.join(names)}" for agent, names in by_agent.items())
        problem = f"no agent has {' and '.join(map(str, wanted)) if wanted else 'two versions'}"
        raise InputFault(
            problem, where="versions", expected=f"two of one agent: {listed or 'none'}"
        )
    agent = max(eligible, key=lambda name: sum(r["sessions"] or 0 for r in agents[name].values()))
    return [agents[agent][name] for name in pairs[agent]]


def _sort_key(version: str) -> list[tuple[int, int, str]]:
    """Return a version's sort key: 2.1.80 comes between 2.1.9 and 2.1.112, 1.0-beta before 1.0.

    Numbers are texts, compared by length and then by digits, because some are too long for `int`.
    """
    parts = re.findall(r"[0-9]+|[^0-9.]+", version)
    numbers = [part.lstrip("0") if part[0] in "0123456789" else None for part in parts]
    key = [
        (-1, 0, part) if number is None else (1, len(number), number)
        for part, number in zip(parts, numbers, strict=True)
    ]
    return [*key, (0, 0, "")]


def compare_versions(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return a row for each figure: its value in both versions, the change, and a probability.

    The probability that chance alone gives such a difference (two-sided test of two proportions) is
    given only for shares of calls.
    """
    rows: list[tuple[Any, ...]] = [
        (name, first.get(name) or 0, second.get(name) or 0, None, None)
        for name in ("sessions", "requests", "calls")
    ]
    for name, part, whole in (*_SHARES, *_RATES):
        pairs = [(int(row.get(part) or 0), int(row.get(whole) or 0)) for row in (first, second)]
        unit = 1_000_000_000 if name.startswith("dollars") else 1
        values = [hits / of / unit if of else None for hits, of in pairs]
        old, new = values
        change = None if old is None or new is None else round(new - old, 6)
        probability = _chance(pairs) if whole in ("calls", "answered") and part != whole else None
        rounded = (None if value is None else round(value, 6) for value in values)
        rows.append((name, *rounded, change, probability))
    return rows


def _chance(pairs: Sequence[tuple[int, int]]) -> float | None:
    (part, whole), (other_part, other_whole) = pairs
    if not whole or not other_whole or part > whole or other_part > other_whole:
        return None
    pooled = (part + other_part) / (whole + other_whole)
    spread = sqrt(pooled * (1 - pooled) * (1 / whole + 1 / other_whole))
    if not spread:
        return 1.0
    return round(erfc(abs(part / whole - other_part / other_whole) / spread / sqrt(2)), 6)
