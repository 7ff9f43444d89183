"""Plotly figures with their numbers as a table, for viewers that run no scripts.

Sites that show saved notebooks, nbconvert and mail remove scripts, and with them plotly's figures.
Where plotly can draw the figure, the table below it is folded.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from html import escape, unescape
from typing import Any, Final

import plotly.graph_objects as go

from playground.base.display import Bundle
from playground.base.wording import grouped, visible
from playground.show.markup import table

LEGEND: Final = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
"""A legend above the figure: below the figure it would cover the title of the axis."""
_MOST_ROWS: Final = 200
# Figures are transparent; this grey is readable in light and in dark notebooks.
_TEXT: Final = "#7d828a"
_LINES: Final = "rgba(128,128,128,0.3)"
_AXIS: Final = {"gridcolor": _LINES, "zerolinecolor": _LINES, "linecolor": _LINES}
_NEUTRAL: Final = {
    "layout": {
        "font": {"color": _TEXT},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": _AXIS,
        "yaxis": _AXIS,
    }
}
_OPEN: Final = "<details open><summary>As a table</summary>{table}</details>"
_FOLDING: Final = """
<script>document.currentScript.previousElementSibling.open = false</script>"""


class FigureWithTable(go.Figure):  # type: ignore[misc]
    """A figure of plotly with its numbers as a table."""

    _ipython_display_ = None  # plotly's own method would leave out the table

    def _repr_mimebundle_(self, *args: Any, **named: Any) -> Bundle:
        bundle: Bundle = self._for_any_background()._repr_mimebundle_(*args, **named)
        html = bundle.get("text/html", "")  # if empty, viewers draw plotly's JSON
        return {**bundle, "text/html": html + self.table_markup() + (_FOLDING if html else "")}

    def _for_any_background(self) -> go.Figure:
        """Return the figure for light and dark notebooks, unless it has its own template."""
        if self.layout.template != go.Figure().layout.template:
            return go.Figure(self)
        return go.Figure(self).update_layout(template=_NEUTRAL)

    def table_markup(self) -> str:
        """Return the figure's numbers as markup."""
        head, rows = _numbers(self.data)
        hidden = len(rows) - _MOST_ROWS
        caption = f"the first {_MOST_ROWS} of {len(rows):,}" if hidden > 0 else ""
        return _OPEN.format(table=table(caption, head, rows[:_MOST_ROWS]))


def plotly_text(text: str) -> str:
    """Escape a text of a session for plotly, which would turn `<a href=…>` into a link. Escape
    hidden characters, too."""
    return escape(visible(text), quote=False)


def _numbers(traces: Sequence[Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head of the table and its rows: one for each place of the bars, each line, each
    row of a heat map, or one for the value of a gauge."""
    first: Any = traces[0] if traces else None
    match first.type if first else "":
        case "bar":
            places = first.y if first.orientation == "h" else first.x
            names = [unescape(str(each)) for each in places]
            sizes = ((t.x if t.orientation == "h" else t.y) for t in traces)
            rows = zip(names, *(map(_number_text, each) for each in sizes), strict=True)
            return ["", *(str(trace.name) for trace in traces)], [list(row) for row in rows]
        case "heatmap":
            cells = zip(first.y, first.z, strict=True)
            return ["", *map(str, first.x)], [[str(y), *map(_number_text, z)] for y, z in cells]
        case "indicator":
            return ["", "value"], [[str(first.title.text), _number_text(first.value)]]
        case "scatter":
            ends = (
                [unescape(str(t.name)), _number_text(t.x[-1]), _number_text(t.y[-1])]
                for t in traces
            )
            return ["", "last at", "in all"], list(ends)
        case _:
            return [], []


def _number_text(value: float | date | None) -> str:
    if value is None or isinstance(value, date):
        return str(value or "")
    return grouped(value, 0 if float(value).is_integer() else 2)
