"""Versions: the differences of two sessions or requests, in blocks, tokens and cache reads."""

from __future__ import annotations

import streamlit as st

from playground.app import diff

asked = diff.asked()
found = diff.compared(asked)
if found is None:
    st.stop()
diff.headline(found)
shown = diff.filtered(found)

blocks, texts, costs = st.tabs(
    ["Blocks", "Word by word", "What it costs"], key="diff view", on_change="rerun"
)
if blocks.open:
    with blocks:
        diff.blocks(found, shown)
if texts.open:
    with texts:
        diff.texts(found, shown)
if costs.open:
    with costs:
        diff.costs(found)
