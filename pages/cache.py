"""Cache: what the cache will do with a session's requests, and the reason for every absence."""

from __future__ import annotations

import streamlit as st

from playground.app import cache
from playground.app.shared import choosing, shortened

chosen = choosing.dialects()
if not chosen:
    st.info("Choose a dialect above.")
    st.stop()
asked = cache.asked(chosen)

told = st.container()  # above the marks, and about them
asked = cache.marks(asked, chosen)
with told:
    cache.show_headline(asked)

drawn, table, simulated, shorter, sent = st.tabs(
    ["On the messages", "Table", "What it costs", "If it were shorter", "What is sent"],
    key="shown",
    on_change="rerun",
    bind="query-params",
)
if drawn.open:
    with drawn:
        cache.drawn(asked)
if table.open:
    with table:
        cache.table(asked)
if simulated.open:
    with simulated:
        cache.cache_costs(asked, chosen)
if shorter.open:
    with shorter:
        shortened.show(asked)
if sent.open:
    with sent:
        cache.what_is_sent(asked)
