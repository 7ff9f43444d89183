"""Guide: what a dialect is, its use cases as a model sees them, and what is read from a reply."""

from __future__ import annotations

import streamlit as st

from playground.app import guide, state
from playground.app.shared import grammars, say, tables, widgets
from playground.lab.guides import NoGuide, guide_for
from playground.show import frames

left, right = st.columns([2, 1], vertical_alignment="bottom")
with left:
    name = widgets.dialect_select("Dialect", "guide", widgets.model_dialect())
shown = guide_for(name)
if isinstance(shown, NoGuide):
    say.text(shown.reason)
    st.stop()
with right:
    arrows = st.toggle("Line breaks as ↵", key="arrows", bind="query-params")

tables.table(frames.guide_summary(shown), height="content")
if shown.llama:
    with st.expander("Special tokens"):
        tables.table(frames.special_tokens(shown.llama), height="content")
cases, grammar = st.tabs(
    ["Use cases", "Grammar"], key="guide_view", on_change="rerun", bind="query-params"
)
if cases.open:
    with cases:
        guide.show_case(shown, guide.case_choice(shown), arrows)
        if shown.variants():
            with st.expander("Other forms that are read too"):
                tables.table({"form": shown.variants()})
if grammar.open:
    with grammar:
        grammars.show([name], state.working_session().session.tools)
st.link_button("Open in Compare", f"compare?dialects={name}", icon=":material/view_column:")
