"""Show answers as plotly figures, with a table of the numbers for viewers that run no scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import plotly.graph_objects as go

from playground.base.display import draws
from playground.cache.answers.cells import CacheMatrix, CacheSimulation
from playground.cache.answers.placement import CachePlacement
from playground.nouns.events import event_name
from playground.questions.comparison import Comparison
from playground.questions.timeline import Timeline
from playground.show.colours import EVENT_COLOURS, KIND_COLOURS, OUTCOME_COLOURS
from playground.show.kept_figures import LEGEND, FigureWithTable

if TYPE_CHECKING:
    from collections.abc import Sequence


_TRANSPARENT: Final = "rgba(0,0,0,0)"


@draws("figure", Comparison)
def comparison(value: Comparison) -> go.Figure:
    """Draw a horizontal stacked bar for each dialect: its characters by kind."""
    figure = FigureWithTable()
    names = [column.dialect.name for column in value.columns]
    for kind, colour in KIND_COLOURS.items():
        counts = [column.characters.get(kind, 0) for column in value.columns]
        if any(counts):
            figure.add_bar(
                y=names, x=counts, name=kind, orientation="h", marker_color=colour, meta=kind
            )
    return _laid_out(
        figure,
        barmode="stack",
        height=110 + 34 * len(names),
        yaxis={"autorange": "reversed", "automargin": True},
        xaxis={"title": "characters", "automargin": True},
        legend={**LEGEND, "traceorder": "normal"},
    )


def _laid_out(figure: go.Figure, *, top: int = 30, **layout: Any) -> go.Figure:
    """Return a figure with small margins on the page's background."""
    figure.update_layout(
        margin={"l": 10, "r": 10, "t": top, "b": 10},
        paper_bgcolor=_TRANSPARENT,
        plot_bgcolor=_TRANSPARENT,
        **layout,
    )
    return figure


@draws("figure", CacheMatrix)
def cache_matrix(cells: Sequence[CacheSimulation]) -> go.Figure:
    """Draw the cost of input as a share of its full price, dialects by policies; cheap is dark."""
    dialects = list(dict.fromkeys(cell.dialect for cell in cells))
    policies = list(dict.fromkeys(cell.policy for cell in cells))
    costs = {(c.dialect, c.policy): c.cost_permille / 1000 for c in cells if not c.errors}
    rows = [[costs.get((dialect, policy)) for policy in policies] for dialect in dialects]
    figure = FigureWithTable(
        go.Heatmap(
            x=policies,
            y=dialects,
            z=rows,
            zmin=0,
            zmax=1.25,  # the cost at Anthropic if all input is written and nothing is read
            colorscale="Viridis",
            texttemplate="%{z:.2f}",
            hovertemplate="%{y}, %{x}: %{z:.2f} of the full price<extra></extra>",
            colorbar={"title": "cost"},
        )
    )
    return _laid_out(
        figure,
        top=10,
        height=170 + 34 * len(dialects),
        yaxis={"autorange": "reversed", "automargin": True},
        xaxis={"automargin": True, "tickangle": -40},
    )


@draws("figure", CacheSimulation)
def simulation(value: CacheSimulation) -> go.Figure:
    """Draw a stacked bar for each request: its tokens read, written and at full price."""
    numbers = list(range(1, len(value.requests) + 1))
    tokens = (
        [one.read for one in value.requests],
        [sum(one.written.values()) for one in value.requests],
        [one.uncached for one in value.requests],
    )
    figure = FigureWithTable()
    for (name, colour), sizes in zip(OUTCOME_COLOURS.items(), tokens, strict=True):
        figure.add_bar(x=numbers, y=sizes, name=name, marker_color=colour)
    return _laid_out(
        figure,
        barmode="stack",
        height=280,
        xaxis={"title": "request", "automargin": True},
        yaxis={"title": "tokens", "automargin": True},
    )


@draws("figure", CachePlacement)
def threshold(value: CachePlacement) -> go.Figure:
    """Draw a gauge of the limit that marks must reach: for Gemini the characters of text against
    the threshold, for any other model the tokens up to the last mark against the minimum."""
    reach = value.reach
    size, needed, title = value.text_characters, value.threshold, "characters of text (Gemini"
    if value.family != "gemini":
        size, needed = reach.tokens, reach.minimum
        where = "" if reach.is_whole else " up to the last mark"
        title = f"tokens{where} ({reach.probably}{'enough' if reach.is_enough else 'too few'}"
        title = title if needed else f"tokens{where} (no minimum is known"
    figure = FigureWithTable(
        go.Indicator(
            mode="gauge+number",
            value=size,
            number={"valueformat": ",d"},
            title={
                "text": f"{title}{f': {needed:,} are needed' if needed else ''})",
                "font": {"size": 14},
            },
            gauge={
                "axis": {"range": [0, max(needed * 2, size * 1.1)]},
                "bar": {"color": EVENT_COLOURS["argument" if size >= needed else "finding"]},
                "threshold": {
                    "line": {"color": EVENT_COLOURS["call named"], "width": 4},
                    "value": needed,
                },
            },
        )
    )
    figure.update_layout(
        height=230, margin={"l": 30, "r": 30, "t": 60, "b": 10}, paper_bgcolor=_TRANSPARENT
    )
    return figure


@draws("figure", Timeline)
def timeline(value: Timeline) -> go.Figure:
    """Draw cumulative characters over time, or over chunks if the recording has no times: a line
    for each kind of event."""
    figure = FigureWithTable()
    timed = value.timing != "none"
    for name, colour in EVENT_COLOURS.items():
        times, totals, total = [], [], 0
        for number, step in enumerate(value.steps):
            owned = sum(e.span.stop - e.span.start for e in step.events if event_name(e) == name)
            total += owned
            times.append(step.at if timed else number)
            totals.append(total)
        if total:
            figure.add_scatter(x=times, y=totals, name=name, line={"shape": "hv", "color": colour})
    return _laid_out(
        figure,
        height=280,
        xaxis={"title": f"seconds ({value.timing})" if timed else "chunk", "automargin": True},
        yaxis={"title": "characters", "automargin": True},
    )
