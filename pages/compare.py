"""Compare: one session in any number of dialects, side by side, counted, and as a difference."""

from __future__ import annotations

import streamlit as st

from playground.app import compare, state
from playground.app.shared import changes, choosing, components, editor, grammars, widgets
from playground.show import payloads

working = state.working_session()
chosen = choosing.dialects()
editor.editors(working)

if not chosen:
    st.info("Choose a dialect above.")
    st.stop()

session = working.session
compared = compare.comparison(session, chosen)
side, counts, tools, grammar, difference, run = st.tabs(
    ["Side by side", "Counts", "Tools", "Grammar", "Difference", "Run"],
    key="view",
    on_change="rerun",
    bind="query-params",
)

if side.open:
    with side:
        columns = compared.columns
        left, right = st.columns([3, 2], vertical_alignment="bottom")
        with left:
            origin = compare.origin_select(payloads.origins(columns))
        with right:
            compare.take_along(compared, working.name)
        components.panes(
            compare.panes(session, chosen),
            selected=origin,
            notes=compare.notes(compared),
            key=compare.PANES,
            on_select=changes.of(compare.PANES, compare.take_origin, field="origin"),
        )
        st.caption("Characters are those of what is sent, tools included: the same on every page.")
        for column in columns:
            widgets.show_findings(column.findings, f"in {column.dialect.name}")

if counts.open:
    with counts:
        compare.counts_table(compared)

if tools.open:
    with tools:
        compare.schema_losses(compared)

if grammar.open:
    with grammar:
        grammars.show(chosen, session.tools)

if difference.open:
    with difference:
        left, right = st.columns(2)
        with left:
            first = widgets.dialect_select("From", "from", chosen[0])
        with right:
            second = widgets.dialect_select("To", "to", chosen[1] if len(chosen) > 1 else "json")
        page = widgets.message_page(len(session.messages))
        components.difference(compare.difference(session, first, second, page), key="diff")
        st.caption("↵ ends a line, ⇥ is a tab, · a blank at a line's end, ⟨U+…⟩ any other.")

if run.open:
    with run:
        compare.run_tab(working, chosen)
