"""Replay: a recorded stream through a dialect's parser, chunk by chunk."""

from __future__ import annotations

import streamlit as st

from playground.show import frames
from playground.ui import components, computed, state, widgets

working = state.working_session()
recordings = {recording.name: recording for recording in working.session.recordings}
if not recordings:
    st.info("This session has no recordings. Choose another one on the left.")
    st.stop()

left, right = st.columns(2)
with left:
    name = widgets.recording_select(list(recordings))
recording = recordings[name]
with right:
    dialect = widgets.reading_dialect(recording.dialect)

switches = widgets.reading_switches(dialect)
timeline = computed.timeline(working, name, dialect, switches)
calls = ", ".join(call.name for call in timeline.result.tool_calls) or "none"
st.text(
    f"{len(recording.chunks)} chunks, {len(timeline.text):,} characters. Complete calls: {calls}. "
    f"Aborted calls: {len(timeline.result.aborted)}."
)
if recording.note:
    st.text(recording.note)

content = f"{working.digest} {name} {dialect} {switches}"
components.player(
    computed.player_payload(content, timeline),
    content=content,
    step=state.url_number("step"),
    key="player",
    on_rest=widgets.take_position,
)

step = min(state.url_number("step"), len(timeline.steps) - 1)
widgets.show_findings(timeline.result.findings, "in the stream")
events, so_far, which = st.tabs(
    ["All events", "Up to this step", "Which dialect is this?"],
    key="listed",
    on_change="rerun",
    bind="query-params",
)
if events.open:
    with events:
        st.dataframe(frames.timeline(timeline), hide_index=True)
if so_far.open:
    with so_far:
        widgets.show_result(timeline.until(step), timeline.steps[step].state)
if which.open:
    with which:
        found, foreign = computed.detections(working, timeline)
        widgets.show_findings([foreign] if foreign else [], "about the chosen dialect")
        st.dataframe(frames.detections(found), hide_index=True)
