"""Compare: one session in any number of dialects, side by side, counted, and as a difference."""

from __future__ import annotations

import streamlit as st

from playground.app import compare, navigation, state
from playground.app.shared import (
    choosing,
    components,
    editor,
    frame,
    grammars,
    widget_changes,
    widgets,
)
from playground.show import payloads

working = state.working_session()
session = working.session
origin = ""
with frame.toolbar() as row:
    place = st.container(horizontal=True, key="first")
    view = compare.view_select()
if part := compare.PARTS.get(view):
    navigation.show(part, row)
    st.stop()
with row:
    with place:
        chosen = choosing.dialects()
    compared = compare.comparison(session, chosen)
    if chosen and view == compare.VIEWS[0]:
        origin = compare.origin_select(payloads.origins(compared.columns))
    st.toggle("Edit", key=editor.EDIT)
    if chosen:
        compare.take_along(compared, working.name)
editor.editors(working)

if not chosen:
    st.info("Add a dialect above.")
    st.stop()

if view == "Counts":
    compare.counts_table(compared)
elif view == "Tools":
    compare.schema_losses(compared)
elif view == "Grammar":
    grammars.show(chosen, session.tools)
elif view == "Lines":
    left, right = st.columns(2)
    with left:
        first = widgets.dialect_select("From", "from", chosen[0])
    with right:
        second = widgets.dialect_select("To", "to", chosen[1] if len(chosen) > 1 else "json")
    page = widgets.message_page(len(session.messages))
    components.difference(compare.difference(session, first, second, page), key="diff")
    st.caption("↵ ends a line, ⇥ is a tab, · a blank at a line's end, ⟨U+…⟩ any other.")
elif view == "Run":
    compare.run_tab(working, chosen)
else:
    components.panes(
        compare.panes(session, chosen),
        selected=origin,
        figures=compare.figures(compared),
        key=compare.PANES,
        on_select=widget_changes.of(compare.PANES, compare.take_origin, field="origin"),
    )
    st.caption("Characters of the whole request, tools included: the same on every page.")
    for column in compared.columns:
        widgets.show_findings(column.findings, f"in {column.dialect.name}")
