"""Compare: one session in any number of dialects, side by side, counted, and as a difference."""

from __future__ import annotations

import streamlit as st

from playground.show import figures, frames, payloads
from playground.ui import components, computed, running, state, widgets

working = state.working_session()
chosen = widgets.dialect_multiselect()
widgets.editors(working)
working = state.working_session()  # with what the editors say now

if not chosen:
    st.info("Choose a dialect above.")
    st.stop()

comparison = computed.comparison(working, chosen)
side, counts, tools, difference, run = st.tabs(
    ["Side by side", "Counts", "Tools", "Difference", "Run"],
    key="view",
    on_change="rerun",
    bind="query-params",
)

if side.open:
    with side:
        columns = comparison.columns
        left, right = st.columns([3, 1], vertical_alignment="bottom")
        with left:
            origin = widgets.origin_select(payloads.origins(columns))
        with right:
            pages = payloads.page_count(len(working.session.messages))
            page = widgets.message_page(pages, origin)
        components.panes(
            [payloads.comparison_pane(column, page, pages) for column in columns],
            content=f"{working.digest} {chosen} {page}",
            selected=origin,
            key="compare panes",
            on_select=widgets.take_origin,
        )
        for column in columns:
            widgets.show_findings(column.findings, f"in {column.dialect.name}")

if counts.open:
    with counts:
        st.plotly_chart(figures.comparison(comparison), key="shares")
        widgets.counts_table(working, comparison, frames.comparison(comparison))

if tools.open:
    with tools:
        widgets.schema_losses(comparison, frames.schema_losses(comparison))

if difference.open:
    with difference:
        left, right = st.columns(2)
        with left:
            first = widgets.dialect_select("From", "from", chosen[0])
        with right:
            second = widgets.dialect_select("To", "to", chosen[1] if len(chosen) > 1 else "json")
        page = widgets.message_page(payloads.page_count(len(working.session.messages)), "")
        rows = computed.difference(working, first, second, page)
        components.difference(rows, content=f"{working.digest} {first} {second} {page}", key="diff")
        st.caption("↵ ends a line, ⇥ is a tab, · a blank at a line's end, ⟨U+…⟩ any other.")

if run.open:
    with run:
        running.run_tab(working, chosen)
