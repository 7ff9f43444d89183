"""The matrix of costs on the Cache page: dialects by policies, each cell a choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan
from typing import Any, Final

import streamlit as st

from playground.counts import grouped
from playground.questions.cache.cells import CacheSimulation
from playground.show import frames
from playground.ui import state
from playground.ui.shared import changes
from playground.ui.shared.cache_asked import CLICKED, title

_MATRIX: Final = "cost matrix"
_CELLS: Final = "cost matrix cells"  # the names of its rows, and of its columns by their titles


def show(cells: Sequence[CacheSimulation], policy_key: str) -> None:
    """What each policy costs in each dialect; a click on a cell makes the page about that cell."""
    costs = frames.cost_matrix(cells)
    titles = {title(policy): policy for policy in costs.columns}
    state.hold(_CELLS, [list(costs.index), titles])
    st.dataframe(
        costs.rename(columns=title)
        .style.format(partial(grouped, places=2), na_rep="refused")
        .map(_by_cost),
        key=_MATRIX,
        height="content",
        selection_mode="single-cell",
        on_select=changes.of(_MATRIX, _take_cell, policy_key, field="selection"),
    )


def _by_cost(cost: object) -> str:
    """Greener is cheaper; the full price has no colour, more than that is red."""
    if not isinstance(cost, float) or isnan(cost):  # refused
        return ""
    strength = min(abs(1 - cost), 0.9) * 0.45
    return f"background-color: rgba({'0, 158, 115' if cost < 1 else '213, 94, 0'}, {strength:.2f})"


def _take_cell(chosen: Mapping[str, Any] | None, policy_key: str) -> None:
    dialects, policies = state.held(_CELLS)
    for row, column in (chosen or {}).get("cells", ())[:1]:
        policy = policies[column]
        state.choose("drawn", dialects[row])
        if policy != CLICKED:  # which is no choice of its own
            state.choose(policy_key, policy)
