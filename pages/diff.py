"""Diff: two sessions or requests, in blocks, in tokens, in what a cache still reads."""

from __future__ import annotations

import streamlit as st

from playground.app import diff

asked, view = diff.asked()
found = diff.compared(asked)
if found is None:
    st.stop()
diff.headline(found)
left, right = st.columns([5, 3], gap="medium")
with left:
    shown = diff.filtered(found)
    if view == diff.VIEWS[0]:
        diff.texts(found, shown)
    else:
        diff.blocks(found, shown)
with right:
    diff.costs(found)
