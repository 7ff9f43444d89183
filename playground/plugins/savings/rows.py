"""Savings as rows of plain values, for commands and pages, without pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from playground.show.rows import AnswerRows, rows_of

if TYPE_CHECKING:
    from playground.plugins.savings.compacted import CompactionWhatIf, Shorter
    from playground.plugins.savings.tool_plan import ToolPlan


def compaction_rows(value: CompactionWhatIf) -> AnswerRows:
    """Return a row for each policy: its cuts, their cost and savings, and when they pay off. The
    relative cost of keeping everything is 1.
    """
    head = (
        "policy cuts lost_prefix_tokens marks surviving_marks sent_tokens last_request_tokens "
        "relative_cost dollars saved_tokens saved_dollars pays_from_turn"
    )
    return rows_of(head, [_shorter(value, row) for row in value.rows])


def _shorter(value: CompactionWhatIf, row: Shorter) -> Sequence[Any]:
    paid_back_at, saved = value.pays_back(row), value.saved(row)[-1]
    return (
        row.policy.name,
        len(row.cuts),
        sum(cut.lost for cut in row.cuts),
        sum(cut.marks for cut in row.cuts),
        sum(cut.survive for cut in row.cuts),
        sum(row.tokens),
        row.tokens[-1],
        row.total / max(1, value.everything.total),
        value.dollars(row.total),
        saved / 1000,
        value.dollars(saved),
        None if paid_back_at is None else paid_back_at + 1,
    )


def cut_rows(row: Shorter) -> AnswerRows:
    """Return a row for each cut of a policy."""
    cells = [(c.turn + 1, c.lost, c.shorter, c.marks, c.survive) for c in row.cuts]
    return rows_of("turn lost_prefix_tokens shorter_tokens marks surviving_marks", cells)


def plan_rows(value: ToolPlan) -> AnswerRows:
    """Return a row for each way of sending the tools. The relative cost is 1 if all are sent in the
    prefix."""
    own = max(1, value.rows[0].cost)
    head = (
        "way kept_tools first_prompt_tokens sent_tokens read_tokens cache_breaks searches "
        "relative_cost dollars"
    )
    cells = [
        (
            row.name,
            len(value.tools) if row.cut is None else len(row.cut.keep),
            row.prefix_tokens,
            row.tokens,
            row.read,
            len(row.simulation.breaks),
            row.searches,
            row.cost / own,
            value.dollars(row),
        )
        for row in value.rows
    ]
    return rows_of(head, cells)


def tool_rows(value: ToolPlan) -> AnswerRows:
    """Return a row for each tool: its tokens, its use, and the cheapest way's `keep` or `defer`."""
    deferred = set(value.deferred)
    cells = [
        (
            tool.name,
            tool.tokens,
            tool.calls,
            None if tool.first is None else tool.first + 1,
            "defer" if tool.name in deferred else "keep",
        )
        for tool in value.tools
    ]
    return rows_of("tool tokens calls first_request cheapest", cells)
