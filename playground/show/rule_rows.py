"""The rules of a provider's cache, and the counts of a receipt, as rows."""

from __future__ import annotations

import json

from playground.cache.rules import Rules
from playground.sessions.receipts.receipt import Receipt
from playground.show.rows import AnswerRows, rows_of


def rules(value: Rules) -> AnswerRows:
    """Return a row for each rule: its value, its source with the date, and other statements."""
    cells = [
        (
            name.replace("_", " "),
            json.dumps(rule.value, ensure_ascii=False),
            rule.note,
            rule.source,
            rule.seen,
            "; ".join(
                f"{json.dumps(other.value, ensure_ascii=False)} ({other.source}, {other.seen})"
                for other in rule.conflicts
            ),
        )
        for name, rule in value.rules.items()
    ]
    return rows_of("rule value note source date other_statements", cells)


def receipt_counts(value: Receipt) -> AnswerRows:
    """Return a row for each count of a receipt: the number in the file, and in its sessions."""
    return rows_of("kind in_file in_sessions", value.counts)
