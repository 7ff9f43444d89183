"""Cluster errors with nearly the same words, and pair sessions that are nearly equal.

Only MOST_SIGNATURES signatures are compared, and groups of at most MOST_IN_A_BAND sessions with an
equal band (`signatures.py`); an answer's notes say what is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from playground.plugins.corpus.signatures import BANDS, ROWS, signature_of

MOST_SIGNATURES: Final = 2_000  # the commonest, which are put into clusters
MOST_IN_A_BAND: Final = 50  # sessions with an equal band; a larger group is left out
ALIKE: Final = 0.6  # the least share of words that two similar errors have in common
ERROR_COLUMNS: Final = ("errors", "sessions", "tools", "signatures", "example", "seen_in")
ERRORS: Final = """
SELECT signature, count(*) AS errors, count(DISTINCT session) AS sessions,
  list_sort(list(DISTINCT tool))[:5] AS tools, arg_min(error, session) AS example,
  format('{{:016x}}', min(session)) AS seen_in
FROM calls WHERE failed {and_where} GROUP BY signature
ORDER BY errors DESC, signature LIMIT $most"""
SESSIONS: Final = """
SELECT number, count(DISTINCT session) FROM calls
  JOIN (SELECT unnest($signatures) AS signature, unnest($numbers) AS number) USING (signature)
WHERE failed {and_where} GROUP BY number"""
TWIN_COLUMNS: Final = ("one", "other", "bands", "alike", "titles")
BAND: Final = """
SELECT list(session) AS found FROM (SELECT session, bands[{number}] AS band FROM sessions
  WHERE len(bands) > 0 {and_where}) GROUP BY band HAVING count(*) BETWEEN 2 AND $most"""


@dataclass
class Cluster:
    """Errors with nearly the same words.

    `words`, `sessions`, `example` and `seen_in` are those of the commonest signature.
    """

    words: frozenset[str]
    signatures: list[int]
    errors: int
    sessions: int
    tools: list[str]
    example: str
    seen_in: str

    def row(self, sessions: int) -> tuple[Any, ...]:
        """Return the values of ERROR_COLUMNS, given the number of `sessions` with any signature."""
        number = len(self.signatures)
        return self.errors, sessions, self.tools, number, self.example, self.seen_in


def cluster_errors(rows: Iterable[Sequence[Any]]) -> list[Cluster]:
    """Group the rows of ERRORS into clusters of similar words, the largest cluster first."""
    clusters: list[Cluster] = []
    for signature, errors, sessions, tools, example, seen_in in rows:
        words = frozenset(signature_of(example or "").split())
        match = next((cluster for cluster in clusters if _are_alike(cluster.words, words)), None)
        if match is None:
            fields = (words, [signature], errors, sessions, list(tools), example, seen_in)
            clusters.append(Cluster(*fields))
            continue
        match.errors += errors
        match.tools = sorted({*match.tools, *tools})[:5]
        match.signatures.append(signature)
    return sorted(clusters, key=lambda cluster: -cluster.errors)


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one and other) and len(one & other) >= ALIKE * len(one | other)


def find_twins(bands: Iterable[Iterable[Sequence[int]]]) -> list[tuple[int, int, int, float]]:
    """Return pairs of sessions that share bands: both ids, the number of shared bands, and a
    similarity estimated from that number. The pairs with the most shared bands come first. `bands`
    has, for each band, the groups of sessions in which it is equal."""
    shared: Counter[tuple[int, int]] = Counter()
    for band in bands:
        for sessions in band:
            shared.update(combinations(sorted(sessions), 2))
    pairs = sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(*pair, count, round((count / BANDS) ** (1 / ROWS), 3)) for pair, count in pairs]
