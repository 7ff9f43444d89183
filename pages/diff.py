"""Diff: two sessions or requests by blocks and tokens, and what a cache still reads."""

from __future__ import annotations

import streamlit as st

from playground.app import diff

question, view, place = diff.draw_controls()
found = diff.compared(question)
if found is None:
    st.stop()
diff.headline(found)
left, right = st.columns([11, 4], gap="small")
with left:
    diff.strips(found)
    shown = diff.filtered(found, view, place)
    if view == diff.VIEWS[2]:
        diff.blocks(found, shown)
    else:
        diff.texts(found, shown)
with right:
    diff.side(found, question)
