"""Carry: hostile values, tried in every dialect: carried, or refused with a finding."""

from __future__ import annotations

import streamlit as st

from playground.app import carry
from playground.app.shared import choosing, tables
from playground.show import frames

chosen = choosing.dialects()
if not chosen:
    st.info("Choose a dialect above.")
    st.stop()

matrix = carry.matrix(chosen)
tables.table(frames.carry_totals(matrix), height="content")
only = st.toggle("Only values that do not arrive everywhere", key="hurting", bind="query-params")
frame = frames.carry(matrix)
if only:
    frame = frame[(frame[chosen] != "carried").any(axis=1)]
tables.table(frame, height="content" if len(frame) < 25 else 900)
st.caption(
    "Each value was written as a call and read back. What a dialect cannot carry is a finding, "
    "never sent silently."
)
