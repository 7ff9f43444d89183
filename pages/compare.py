"""Compare: one session in any number of dialects, side by side; edit it, and send it to a model."""

from __future__ import annotations

import streamlit as st

from playground.app import answers, compare, navigation, state
from playground.app.shared import choosing, components, frame, grammars, in_place, widgets
from playground.show import payloads

working = state.working_session()
session = working.session
origin, counted = "", True
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
        in_place.add_menu(working)
    if chosen:
        compare.take_along(compared, working.name)
        answers.run_button(working, chosen)

if not chosen:
    st.info("Add a dialect above.")
    st.stop()

if not frame.has_request(session):
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
    st.caption("↵ ends a line, ⇥ is a tab, · a blank at a line's end, ⟨U+…⟩ any other invisible.")
else:
    counted = compare.side_by_side(working, chosen, origin)
    for column in compared.columns:
        widgets.show_findings(column.findings, f"in {column.dialect.name}")
answers.show(working, chosen)
if not counted:
    compare.late_figures(compared)
