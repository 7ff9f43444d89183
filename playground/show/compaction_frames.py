"""Shortened histories as pandas tables and as curves, by policy and by turn."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from playground.base.display import draws
from playground.cache.answers.compacted import CompactionWhatIf, Shorter
from playground.show.kept_figures import LEGEND, FigureWithTable


@draws("frame", CompactionWhatIf)
def compaction(value: CompactionWhatIf) -> pd.DataFrame:
    """Return a row for each policy: its cuts, what they cost and save, and when they pay off.

    The relative cost of keeping everything is 1.
    """
    frame = pd.DataFrame([_row(value, row) for row in value.rows])
    return frame.astype({"pays from turn": "Int64"})


def _row(value: CompactionWhatIf, row: Shorter) -> dict[str, object]:
    back = value.pays_back(row)
    saved = value.saved(row)[-1]
    marks = sum(cut.marks for cut in row.cuts)
    return {
        "policy": row.policy.name,
        "cuts": len(row.cuts),
        "prefix lost, tokens": sum(cut.lost for cut in row.cuts),
        "marks that survive": f"{sum(cut.survive for cut in row.cuts)} of {marks}" if marks else "",
        "tokens sent": sum(row.tokens),
        "last request": row.tokens[-1],
        "relative cost": row.total / max(1, value.everything.total),
        "costs, $": value.dollars(row.total),
        "saved, $": value.dollars(saved),
        "pays from turn": None if back is None else back + 1,
    }


def cuts(row: Shorter) -> pd.DataFrame:
    """Return a row for each cut of a policy."""
    head = ["turn", "prefix lost, tokens", "request is shorter by", "marks", "of them survive"]
    rows = [[c.turn + 1, c.lost, c.shorter, c.marks, c.survive] for c in row.cuts]
    return pd.DataFrame(rows, columns=head)


@draws("figure", CompactionWhatIf)
def curve(value: CompactionWhatIf) -> go.Figure:
    """Draw what each policy has saved by every turn, in full-price tokens; a loss is negative."""
    figure = FigureWithTable()
    turns = [turn + 1 for turn in range(len(value.everything.costs))]
    for row in value.rows[1:]:
        saved = [each / 1000 for each in value.saved(row)]
        figure.add_scatter(x=turns, y=saved, name=row.policy.name, mode="lines")
        marked = [cut.turn for cut in row.cuts] if len(row.cuts) <= 10 else []
        if marked:
            figure.add_scatter(
                x=[turn + 1 for turn in marked],
                y=[saved[turn] for turn in marked],
                mode="markers",
                showlegend=False,
                name=f"{row.policy.name}, cut",
            )
    figure.add_hline(y=0, line_width=1)
    figure.update_layout(
        height=320,
        margin={"t": 10, "b": 10, "l": 10, "r": 10},
        xaxis_title="turn",
        yaxis={"title": "saved so far, tokens at the full price", "tickformat": ",d"},
        legend=LEGEND,
    )
    return figure
