"""Shortened histories as markup: the policies, and what each saves by turn."""

from __future__ import annotations

from playground.base.display import draws
from playground.cache.answers.compacted import CompactionWhatIf
from playground.show import rows
from playground.show.markup import Markup, table

_POINTS = 12  # turns that the table by turn shows


@draws("picture", CompactionWhatIf)
def compaction(value: CompactionWhatIf) -> Markup:
    """Return the table of policies, and a table of what each has saved at some turns."""
    turns = len(value.everything.costs)
    step = max(1, turns // _POINTS)
    points = sorted({*range(step - 1, turns, step), turns - 1})
    points_of = [
        [row.policy.name, *(f"{value.saved(row)[point] // 1000:,}" for point in points)]
        for row in value.rows[1:]
    ]
    head = ["policy", *(f"turn {point + 1}" for point in points)]
    caption = "saved so far, in tokens at the full price"
    return Markup(
        "What if the history were shortened",
        value.headline,
        static=table("policies", *rows.compaction(value).texts()) + table(caption, head, points_of),
    )
