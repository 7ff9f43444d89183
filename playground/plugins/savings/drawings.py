"""Savings as tables, figures and HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from playground.base.display import draws
from playground.plugins.savings.compacted import CompactionWhatIf
from playground.plugins.savings.rows import compaction_rows, plan_rows, tool_rows
from playground.plugins.savings.tool_plan import ToolPlan
from playground.show.frames import frame_of
from playground.show.markup import Markup, table

if TYPE_CHECKING:
    import plotly.graph_objects as go

_POINTS: Final = 12  # the table of savings shows at least this many turns, if there are so many

draws("rows", CompactionWhatIf)(compaction_rows)
draws("rows", ToolPlan)(plan_rows)
draws("frame", CompactionWhatIf)(frame_of)
draws("frame", ToolPlan)(frame_of)


@draws("figure", CompactionWhatIf)
def compaction_figure(value: CompactionWhatIf) -> go.Figure:
    """Return the curves of the policies."""
    from playground.plugins.savings.curves import curve

    return curve(value)


@draws("picture", CompactionWhatIf)
def compaction_picture(value: CompactionWhatIf) -> Markup:
    """Return HTML: a table of the policies, and a table of their savings at some turns."""
    turns = len(value.everything.costs)
    step = max(1, turns // _POINTS)
    points = sorted({*range(step - 1, turns, step), turns - 1})
    points_of = [
        [row.policy.name, *(f"{value.saved(row)[point] // 1000:,}" for point in points)]
        for row in value.rows[1:]
    ]
    head = ["policy", *(f"turn {point + 1}" for point in points)]
    caption = "saved so far; unit: the full price of a token"
    return Markup(
        "What if the history were shortened",
        value.headline,
        static=table("policies", *compaction_rows(value).texts()) + table(caption, head, points_of),
    )


@draws("picture", ToolPlan)
def plan_picture(value: ToolPlan) -> Markup:
    """Return HTML: tables of the ways to send the tools, of the tools, and of the assumptions."""
    shown = [
        table("ways to send the tools", *plan_rows(value).texts()),
        table("tools", *tool_rows(value).texts()),
    ]
    assumed = table("assumed", ["assumption"], [[each] for each in value.assumed])
    static = "".join(shown) + (assumed if value.assumed else "")
    return Markup("What deferring tools would cost", value.headline, static=static)
