"""Answers of a corpus as a table, a figure and a page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from numbers import Number
from typing import Any

import plotly.graph_objects as go

from playground.base.display import draws
from playground.base.wording import counted, grouped, seconds
from playground.plugins.corpus.answers import CorpusAnswer
from playground.show.kept_figures import FigureWithTable, plotly_text
from playground.show.markup import Markup, table
from playground.show.rows import AnswerRows

_MOST_BARS = 16  # the labels of more bars would be unreadable
_MOST_LINES = 40
_MOST_LABELLED_DAYS = 14  # if there are no more days than this, each has a label
# Columns that are preferred to counts of calls or breaks. The first one with values is drawn.
_PREFERRED_COLUMNS = ("malformed_percent", "failed_percent", "lost_dollars")
_MOST_ROWS = 200  # rows of a table on a page


@draws("rows", CorpusAnswer)
def corpus_rows(value: CorpusAnswer) -> AnswerRows:
    return AnswerRows(value.columns, [list(row.values()) for row in value.plain()["rows"]])


def column_title(column: str) -> str:
    """Return a column's name in words."""
    return column.replace("_percent", ", %").replace("_", " ")


@draws("figure", CorpusAnswer)
def corpus_figure(value: CorpusAnswer) -> go.Figure:
    """Draw one column of an answer: lines over time if there are dates, otherwise bars for rows.

    The column is the first of these that is anywhere above 0: the share of malformed calls, the
    share of failed calls, the lost money. If none is, it is the first share that the answer has, or
    else its first column of numbers. At most 16 bars or 40 lines are drawn.
    """
    figure = FigureWithTable()
    first = _first_column_of(value, Number)
    when = _first_column_of(value, date)
    if first is None:
        return figure
    candidates = [value.columns.index(name) for name in _PREFERRED_COLUMNS if name in value.columns]
    with_values = (index for index in candidates if any(row[index] for row in value.rows))
    # Of an answer about lost money, all dollars may be unknown: then a column of numbers is drawn.
    share = candidates[:1] if "lost_dollars" not in value.columns else []
    number = next(with_values, [*share, first][0])
    names = [i for i, name in enumerate(value.columns[:first]) if i != when]
    if when is None:
        rows = value.rows[:_MOST_BARS]
        labels = [row_label(value, row, names) for row in rows]
        figure.add_bar(x=labels, y=[row[number] for row in rows])
        figure.update_xaxes(type="category")  # a version such as 1.10 is not a number
    else:
        groups: dict[str, list[tuple[Any, Any]]] = {}
        dated = [row for row in value.rows if row[when] is not None]
        for row in sorted(dated, key=lambda row: str(row[when])):
            groups.setdefault(row_label(value, row, names), []).append((row[when], row[number]))
        for label, points in list(groups.items())[:_MOST_LINES]:
            x, y = zip(*points, strict=True)
            figure.add_scatter(x=list(x), y=list(y), name=label or value.columns[number])
        days = sorted({row[when] for row in dated})
        if len(days) <= _MOST_LABELLED_DAYS:  # for more days Plotly chooses the labels
            figure.update_xaxes(tickvals=days, tickformat="%b %-d\n%Y")
    figure.update_layout(
        height=280,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        yaxis={
            "title": column_title(value.columns[number]),
            "rangemode": "tozero",
            "separatethousands": True,
            "exponentformat": "none",
        },
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    return figure


@draws("picture", CorpusAnswer)
def corpus_page(value: CorpusAnswer) -> Markup:
    """Return a table of the first 200 rows for a page."""
    size = counted(len(value.rows), "row")
    line = f"{size} in {seconds(value.seconds)}{', and there are more' if value.cut else ''}"
    rows = [[_cell(item) for item in row.values()] for row in value.plain()["rows"][:_MOST_ROWS]]
    return Markup(f"Corpus: {value.question}", line, static=table(line, value.columns, rows))


def _first_column_of(value: CorpusAnswer, kind: type) -> int | None:
    """Return the index of the first column with values of this type, or None."""
    for number in range(len(value.columns)):
        first = next((row[number] for row in value.rows if row[number] is not None), None)
        if isinstance(first, kind) and not isinstance(first, bool):
            return number
    return None


def row_label(answer: CorpusAnswer, row: Sequence[Any], columns: Sequence[int]) -> str:
    """Return a row's label: its values in the columns with these indexes, with commas between;
    "no NAME" replaces an empty value of the column NAME."""
    values = (
        str(row[i]) if row[i] not in ("", None) else f"no {answer.columns[i]}" for i in columns
    )
    return plotly_text(", ".join(values))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return grouped(value) if isinstance(value, int) else str(value)
