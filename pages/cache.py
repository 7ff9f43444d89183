"""Cache: every request's tokens read and written, its cost, and the reasons, in one picture."""

from __future__ import annotations

import streamlit as st

from playground.app import cache
from playground.app.shared import frame

question, view = cache.draw_controls()
if not frame.has_request(question.session):
    st.stop()
if view == "Strip":
    cache.show_strip(question)
elif view == "Table":
    cache.show_table(question)
elif view == cache.COMPACTION:
    cache.show_compaction(question)
elif view == "All policies":
    cache.show_every_policy(question)
else:
    cache.what_is_sent(question)
