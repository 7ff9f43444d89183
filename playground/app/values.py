"""The view Values of the page Dialects: difficult values, written in calls and read back."""

from __future__ import annotations

from typing import Any, Final

import streamlit as st

from playground.app import state
from playground.app.shared import choosing, components, tables
from playground.app.shared.components import Picture
from playground.app.shared.memoized import memoized
from playground.questions.carry import CarryMatrix
from playground.questions.carry import carry as carry_values
from playground.show import dialect_board, frames

_VALUE: Final = "difficult value"


def show(row: Any) -> None:
    """Show which values arrive unchanged in each chosen dialect, and which are refused."""
    with row:
        chosen = choosing.dialects()
        only = st.toggle("Only refused values", key="hurting", bind="query-params")
    if not chosen:
        st.info("Choose a dialect above.")
        st.stop()
    found = matrix(chosen)
    value = str(state.get(_VALUE) or "")
    data = Picture(dialect_board.values_board(found, value))
    components.board(data, key="values", on_choose=_choose)
    frame = frames.carry(found)
    if value:
        frame = frame[frame["value"] == value]
    elif only:
        frame = frame[(frame[chosen] != "carried").any(axis=1)]
    frame[chosen] = frame[chosen].replace(r"^(?!carried$)", "refused: ", regex=True)
    if len(frame):
        tables.table(frame, height="content" if len(frame) < 25 else 900)
    else:
        st.text("No value is refused.")


def _choose() -> None:
    """Show only the clicked value; after a second click, show all values."""
    value = components.chosen_of("values")[1]
    state.put(_VALUE, "" if value == state.get(_VALUE) else value)


@memoized(16, spinner="Writing and reading back …")
def matrix(dialects: list[str]) -> CarryMatrix:
    """Return every difficult value in each of these dialects."""
    return carry_values(dialects)
