"""The figures in a column's head: the size of a request, and its losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from playground.base.wording import grouped
from playground.questions.comparison import Column
from playground.show.board import Figure
from playground.tokens.count import TokenCount

PENDING: Final = "…"  # shown until a figure is known


def heads(
    columns: Sequence[Column], counts: Sequence[TokenCount | None], checked: Sequence[bool]
) -> list[list[Figure]]:
    """Return the figures of each column: characters, tokens, schema facts lost, findings, and
    images if there are any.

    The fewest characters and tokens are marked as good if no other column can have as few. PENDING
    is shown for a count that is None, and for the findings of a column that is not `checked`.
    """
    sizes = [sum(column.characters.values()) for column in columns]
    ranges = [count.range for count in counts if count]
    best_size = _clear_minimum([(size, size) for size in sizes])
    best_count = _clear_minimum(ranges) if len(ranges) == len(counts) else None
    return [
        _head(column, count, is_checked, number == best_size, number == best_count)
        for number, (column, count, is_checked) in enumerate(
            zip(columns, counts, checked, strict=True)
        )
    ]


def _clear_minimum(ranges: Sequence[tuple[int, int | None]]) -> int | None:
    """Return the index of the range that ends before all others begin; None if none does."""
    order = sorted(range(len(ranges)), key=lambda number: ranges[number][0])
    if len(order) < 2:
        return None
    most = ranges[order[0]][1]
    return order[0] if most is not None and most < ranges[order[1]][0] else None


def _head(
    column: Column, count: TokenCount | None, is_checked: bool, is_shortest: bool, has_fewest: bool
) -> list[Figure]:
    size, facts = sum(column.characters.values()), column.schema_facts
    lost = sum(not fact.kept for fact in facts)
    mark = "" if count and count.kind == "exact" else "~"
    tokens = f"{mark}{grouped(count.tokens)}" if count else PENDING
    findings = column.findings if is_checked else []
    sent, images = column.images
    of_images = (f"{sent} of {images}", "images sent", "bad" if sent < images else "")
    return [
        (grouped(size), "characters", "good" if is_shortest else ""),
        (tokens, "tokens", "good" if has_fewest else ""),
        (f"{lost} of {len(facts)}" if lost else "none", "facts lost", "bad" if lost else ""),
        (grouped(len(findings)) if is_checked else PENDING, "findings", "bad" if findings else ""),
        *([of_images] if images else []),
    ]
