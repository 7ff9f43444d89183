"""Cache: where `cache_control` lands in a session's request, and the reason for every absence."""

from __future__ import annotations

import streamlit as st

from playground.show import frames, payloads
from playground.ui import cache_lab, components, computed, state, widgets

chosen = widgets.dialect_multiselect()
if not chosen:
    st.info("Choose a dialect above.")
    st.stop()
working = widgets.with_cache_settings(state.working_session())
placements = {name: computed.placement(working, name) for name in chosen}

left, right = st.columns([3, 2])
with left:
    name = widgets.drawn_dialect(chosen)
    placement = cache_lab.own_marks(working, placements[name])
    st.dataframe(
        [
            {
                "dialect": p.dialect,
                "marks": len(p.marks),
                "characters": p.characters,
                "nothing marked because": p.refusal.explanation if p.refusal else "",
            }
            for p in placements.values()
        ],
        hide_index=True,
        height="content",
    )
with right:
    components.gauge(placement.characters, placement.threshold, key="threshold")
    st.text(placement.thresholds)

if placement.refusal:
    st.info(f"Nothing is marked: {placement.refusal.explanation} ({placement.refusal.reason}).")
else:
    places = ", ".join(f"message {p.message} part {p.part}" for p in placement.marks)
    st.success(f"{len(placement.marks)} marks, policy {placement.policy}: {places}.")

messages = placement.parts[-1].message + 1 if placement.parts else 1
page = widgets.message_page(payloads.page_count(messages), "")
drawn, table, simulated, sent = st.tabs(
    ["On the messages", "Table", "What it costs", "What is sent"],
    key="shown",
    on_change="rerun",
    bind="query-params",
)
if drawn.open:
    with drawn:
        components.panes(
            [payloads.placement_pane(placement, page)],
            content=f"{working.digest} {working.session.dynamic} {placement.decisions} {page}",
            key="cache panes",
        )
if table.open:
    with table:
        st.dataframe(frames.placement(placement), hide_index=True)
if simulated.open:
    with simulated:
        cache_lab.cache_costs(working, chosen, name)
if sent.open:
    with sent:
        cache_lab.what_is_sent(working, name)
