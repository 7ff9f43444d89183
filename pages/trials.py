"""Trials: expected calls, asked again and again of dialects and models, and counted."""

from __future__ import annotations

import streamlit as st

from playground.app import state, trials

working = state.working_session()
trials.expected_calls(working)
if not working.session.expected:
    st.stop()

recorded, live = st.tabs(
    [trials.RECORDED, "Live"], key="trial view", on_change="rerun", bind="query-params"
)
if recorded.open:
    with recorded:
        trials.from_recordings(working)
if live.open:
    with live:
        trials.live(working)
