"""Cache: what the cache will do with a session's requests, and the reason for every absence."""

from __future__ import annotations

import streamlit as st

from playground.show import frames, payloads
from playground.show.grid import grid
from playground.ui import cache
from playground.ui.shared import choosing, components

chosen = choosing.dialects()
if not chosen:
    st.info("Choose a dialect above.")
    st.stop()
asked = cache.asked(chosen)

told = st.container()  # above the marks, and about them
left, right = st.columns([3, 2])
with left:
    asked = cache.own_marks(asked)
with right:
    placements = [cache.placement(asked.session, each, asked.policy) for each in chosen]
    st.dataframe(
        frames.placements(placements),
        hide_index=True,
        height="content",
        column_config={"characters": st.column_config.NumberColumn(format="localized")},
    )
placement = asked.placement
with told:
    cache.show_headline(asked)
    if placement.family == "gemini":
        components.gauge(placement.characters, placement.threshold, key="threshold")

drawn, table, simulated, sent = st.tabs(
    ["On the messages", "Table", "What it costs", "What is sent"],
    key="shown",
    on_change="rerun",
    bind="query-params",
)
if drawn.open:
    with drawn:
        pane = payloads.placement_pane(placement)
        picture = components.Picture({**grid([pane]), "marks": True})
        components.panes(picture, key=cache.PANES, on_mark=cache.take_mark)
        st.caption("A click on a part sets a mark there, or clears it.")
if table.open:
    with table:
        st.dataframe(frames.placement(placement), hide_index=True)
if simulated.open:
    with simulated:
        cache.cache_costs(asked, chosen)
if sent.open:
    with sent:
        cache.what_is_sent(asked)
