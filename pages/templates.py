"""Templates: a conversation template, step by step: source, text, variables, request, answer."""

from __future__ import annotations

import streamlit as st

from playground.app.shared import say
from playground.base.errors import PlaygroundError
from playground.plugins.systems.pages import templates

chosen = templates.settings()
if chosen is None:
    st.info("Choose a set of templates above, or upload one.")
    st.stop()
try:
    run = templates.current_run(chosen)
except PlaygroundError as fault:
    st.error("This cannot be run; nothing else has changed.")
    say.text(str(fault))
    st.stop()
if run is None:
    st.info("Press Run to ask the model.")
    st.stop()
seen = templates.steps_so_far(run)  # before anything is drawn: what comes later is drawn anew
if run.fault:
    st.error("The run broke off, and the history is as it was before it.")
    say.text(run.fault)
progress = st.container()  # above what is there so far, but waited for when that is drawn
templates.steps(run)
templates.results(chosen, run)
if seen is not None:
    with progress:
        templates.watch(run, seen)
