"""The figures in a column's head: what a request takes, and what it loses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from playground.base.wording import grouped
from playground.questions.comparison import Column
from playground.show.token_frames import short_count
from playground.tokens import TokenCount

Figure = tuple[str, str, str]  # a value, its label, and "good", "bad" or ""
PENDING: Final = "…"  # shown until a figure is known


def heads(
    columns: Sequence[Column], counts: Sequence[TokenCount | None], checked: Sequence[bool]
) -> list[list[Figure]]:
    """Return the figures of each column: characters, tokens, schema facts lost, findings, and
    images if there are any; the best of the first two is marked.

    PENDING is shown for a count that is None, and for findings of a column that is not `checked`
    yet.
    """
    least = min((sum(column.characters.values()) for column in columns), default=0)
    known = [count.tokens for count in counts if count]
    fewest = min(known) if known and len(known) == len(counts) else None
    return [
        _head(column, count, is_checked, least, fewest)
        for column, count, is_checked in zip(columns, counts, checked, strict=True)
    ]


def _head(
    column: Column, count: TokenCount | None, is_checked: bool, least: int, fewest: int | None
) -> list[Figure]:
    size, facts = sum(column.characters.values()), column.schema_facts
    lost = sum(not fact.kept for fact in facts)
    tokens = short_count(count).removesuffix(" tokens") if count else PENDING
    findings = column.findings if is_checked else []
    sent, images = column.images
    of_images = (f"{sent} of {images}", "images sent", "bad" if sent < images else "")
    return [
        (grouped(size), "characters", "good" if size == least else ""),
        (tokens, "tokens", "good" if count and count.tokens == fewest else ""),
        (f"{lost} of {len(facts)}" if lost else "none", "facts lost", "bad" if lost else ""),
        (grouped(len(findings)) if is_checked else PENDING, "findings", "bad" if findings else ""),
        *([of_images] if images else []),
    ]
