"""Answers as pandas tables: the rows of `rows.py`, with a type for each column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from playground.base.display import Shown, draw, draws
from playground.dialects.schema_losses import kept_by_kind
from playground.nouns.tool_formats.portability import INSTEAD, schema_targets
from playground.questions.carry import CarryMatrix
from playground.questions.comparison import Comparison
from playground.questions.tool_schemas import ToolCosts
from playground.show.glossary import is_number
from playground.show.rows import AnswerRows, rows_of
from playground.tokens.count import TokenCount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playground.cache.answers.cells import CacheSimulation as Cell

_WHOLE = "Int64"  # a column of whole numbers that may have gaps


def frame(rows: AnswerRows) -> pd.DataFrame:
    """Return rows as a table. A column of whole numbers with gaps has the type Int64."""
    cells = [[_utf8(cell) if isinstance(cell, str) else cell for cell in row] for row in rows.cells]
    table = pd.DataFrame(cells, columns=list(rows.columns))
    for at, name in enumerate(rows.columns):
        values = [row[at] for row in rows.cells]
        is_whole = all(isinstance(each, int) for each in values if each is not None)
        if None in values and (is_number(name) or is_whole):
            table = table.astype({name: _WHOLE if is_whole else "float64"})
    return table


def _utf8(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()  # pandas refuses lone surrogates


def with_tokens(frame: pd.DataFrame, counts: Sequence[TokenCount | None]) -> pd.DataFrame:
    """Return a comparison's table with tokens, their kind and their range.

    `counts` has a count for each row, or None if it is not known yet.
    """
    shown = frame.copy()
    place = list(frame.columns).index("characters") + 1
    sizes = pd.Series([count.tokens if count else None for count in counts], dtype="Int64")
    ranges = [count.range if count else (None, None) for count in counts]
    shown.insert(place, "tokens", sizes)
    shown.insert(place + 1, "tokens_kind", [count.kind if count else "" for count in counts])
    shown.insert(place + 2, "tokens_low", pd.Series([low for low, _ in ranges], dtype="Int64"))
    shown.insert(place + 3, "tokens_high", pd.Series([high for _, high in ranges], dtype="Int64"))
    return shown


@draws("frame", Shown)
def frame_of(value: Any) -> pd.DataFrame:
    """Return the table of an answer that has rows."""
    return frame(draw("rows", value))


def schema_losses(value: Comparison) -> pd.DataFrame:
    """Return a row for each dialect, and a column for each kind of fact in the tools' schemas: the
    number of facts that the dialect keeps, as in `3/4`."""
    return pd.DataFrame(
        [{"dialect": c.dialect.name, **kept_by_kind(c.schema_facts)} for c in value.columns]
    )


def carry(value: CarryMatrix) -> pd.DataFrame:
    """Return a row for each value and a column for each dialect: "carried", or a finding's code."""
    cells = [
        [
            name,
            *(
                value.cells[dialect, name][0].code if value.cells[dialect, name] else "carried"
                for dialect in value.dialects
            ),
        ]
        for name in value.values
    ]
    return pd.DataFrame(cells, columns=["value", *value.dialects])


def tool_costs(value: ToolCosts) -> pd.DataFrame:
    """Return the tokens of each tool, and the total: by model, by dialect, with smaller schemas."""
    rows = [
        {"tool": each.tool, **each.by_model, **each.by_dialect, **each.shorter}
        for each in [*value.tools, value.total]
    ]
    return pd.DataFrame(rows)


def schema_rules() -> pd.DataFrame:
    """Return a row for each documented rule of a target (a provider's interface for tools)."""
    cells = [
        (
            target.title,
            rule.keyword,
            rule.effect,
            INSTEAD[rule.instead],
            rule.note,
            rule.source,
            rule.date,
        )
        for target in schema_targets().values()
        for rule in target.rules
    ]
    return frame(rows_of("target keyword effect instead note source date", cells))


def cost_matrix(cells: Sequence[Cell]) -> pd.DataFrame:
    """Return the cost of all input as a share of its full price: a row for each dialect, a column
    for each policy.

    The cost is NaN if the provider would refuse the requests.
    """
    costs: dict[str, dict[str, float]] = {}
    for cell in cells:
        cost = float("nan") if cell.errors else cell.cost_permille / 1000
        costs.setdefault(cell.policy, {})[cell.dialect] = cost
    return pd.DataFrame(costs)
