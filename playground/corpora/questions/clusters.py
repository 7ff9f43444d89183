"""What is alike: errors whose words are nearly the same, sessions that were told nearly twice.

Both are bounded: so many signatures, so many sessions in one band. What a bound leaves out is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, Final

from playground.corpora.signatures import BANDS, ROWS, signature_of

MOST_SIGNATURES: Final = 2_000
MOST_IN_A_BAND: Final = 50
ALIKE: Final = 0.6  # of two errors' words, shared of all
ERROR_COLUMNS: Final = ("errors", "sessions", "tools", "signatures", "example", "seen_in")
ERRORS: Final = """
SELECT signature, count(*) AS errors, count(DISTINCT session) AS sessions,
  list_sort(list(DISTINCT tool))[:5] AS tools, arg_min(error, session) AS example,
  format('{{:016x}}', min(session)) AS seen_in
FROM calls WHERE failed {and_where} GROUP BY signature
ORDER BY errors DESC, signature LIMIT $most"""
TWIN_COLUMNS: Final = ("one", "other", "bands", "alike", "titles")
BAND: Final = """
SELECT list(session) AS found FROM (SELECT session, bands[{number}] AS band FROM sessions
  WHERE len(bands) > 0 {and_where}) GROUP BY band HAVING count(*) BETWEEN 2 AND $most"""


def clustered(rows: Iterable[Sequence[Any]], limit: int) -> list[tuple[Any, ...]]:
    """Signatures put together whose words are nearly the same, the largest cluster first."""
    clusters: list[tuple[frozenset[str], list[Any]]] = []
    for _, errors, sessions, tools, example, seen_in in rows:
        words = frozenset(signature_of(example or "").split())
        home = next((held for known, held in clusters if _alike(known, words)), None)
        if home is None:
            clusters.append((words, [errors, sessions, list(tools), 1, example, seen_in]))
            continue
        home[0] += errors
        home[1] += sessions
        home[2] = sorted({*home[2], *tools})[:5]
        home[3] += 1
    found = sorted((tuple(held) for _, held in clusters), key=lambda row: -row[0])
    return found[:limit]


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one and other) and len(one & other) >= ALIKE * len(one | other)


def twins(
    bands: Iterable[Iterable[Sequence[int]]], limit: int
) -> list[tuple[int, int, int, float]]:
    """Pairs of sessions that share bands, those that share most first; and how alike they are,
    as many bands as they share would tell."""
    shared: Counter[tuple[int, int]] = Counter()
    for band in bands:
        for sessions in band:
            shared.update(combinations(sorted(sessions), 2))
    found = sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]
    return [(*pair, count, round((count / BANDS) ** (1 / ROWS), 3)) for pair, count in found]
