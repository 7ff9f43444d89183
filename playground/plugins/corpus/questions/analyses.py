"""Compare the counts of two versions of our own analysis in the same sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

COLUMNS: Final = ("what", "which", "first", "second", "change")
SQL: Final = """
SELECT 'calls' AS what, CASE WHEN ok THEN 'ok' ELSE finding END AS which, count(*) AS rows
  FROM calls {where} GROUP BY ALL
UNION ALL SELECT 'dialects', dialect, count(*) FROM sessions {where} GROUP BY ALL
UNION ALL SELECT 'findings', code, count(*) FROM findings {where} GROUP BY ALL
UNION ALL SELECT 'breaks', cause, count(*) FROM breaks {where} GROUP BY ALL"""

Counted = Mapping[tuple[str, str], int]


def counts_by_key(rows: Sequence[Sequence[Any]]) -> Counted:
    """Return the counts in an answer to SQL, by the answer's first two columns."""
    return {(str(what), str(which)): int(count) for what, which, count in rows}


def changed_counts(first: Counted, second: Counted) -> list[tuple[Any, ...]]:
    """Return a row for each count that differs, the greatest change first."""
    rows = [
        (*key, first.get(key, 0), second.get(key, 0), second.get(key, 0) - first.get(key, 0))
        for key in sorted(first.keys() | second.keys())
    ]
    return sorted((row for row in rows if row[-1]), key=lambda row: -abs(row[-1]))
