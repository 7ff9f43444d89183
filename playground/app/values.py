"""Dialects' view Values: difficult values, written as calls in every dialect and read back."""

from __future__ import annotations

from typing import Any

import streamlit as st

from playground.app.shared import choosing, tables
from playground.app.shared.memoized import memoized
from playground.questions.carry import CarryMatrix
from playground.questions.carry import carry as carry_values
from playground.show import frames, rows


def show(row: Any) -> None:
    """Show which values arrive unchanged in each chosen dialect, and which are refused."""
    with row:
        chosen = choosing.dialects()
        only = st.toggle("Only those that get lost", key="hurting", bind="query-params")
    if not chosen:
        st.info("Choose a dialect above.")
        st.stop()
    found = matrix(chosen)
    tables.table(rows.carry_totals(found), height="content")
    frame = frames.carry(found)
    if only:
        frame = frame[(frame[chosen] != "carried").any(axis=1)]
    tables.table(frame, height="content" if len(frame) < 25 else 900)
    st.caption(
        "Each value was written as a call and read back. What a dialect cannot carry is a finding, "
        "never sent silently."
    )


@memoized(16, spinner="Writing and reading back …")
def matrix(dialects: list[str]) -> CarryMatrix:
    """Return every difficult value in each of these dialects."""
    return carry_values(dialects)
