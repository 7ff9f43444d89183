"""Shortened histories as curves, by policy and by turn."""

from __future__ import annotations

import plotly.graph_objects as go

from playground.plugins.savings.compacted import CompactionWhatIf
from playground.show.kept_figures import LEGEND, FigureWithTable


def curve(value: CompactionWhatIf) -> go.Figure:
    """Draw the savings of each policy up to every turn, in full-price tokens; losses are
    negative."""
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
