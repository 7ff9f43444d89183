"""Replay: a recorded stream through a dialect's parser, chunk by chunk, and what else it gives."""

from __future__ import annotations

import streamlit as st

from playground.show import frames
from playground.ui import components, computed, replaying, state, widgets

working = state.working_session()
recordings = {recording.name: recording for recording in working.session.recordings}
if not recordings:
    st.info("This session has no recordings. Choose another one, or upload a stream, on the left.")
    st.stop()

left, right = st.columns(2)
with left:
    name = replaying.recording_select(list(recordings))
recording = recordings[name]
with right:
    dialect = replaying.reading_dialect(recording.dialect)

switches = replaying.reading_switches(dialect)
timeline = computed.timeline(working, name, dialect, switches)
replaying.about(recording, timeline)

content = f"{working.digest} {name} {dialect} {switches}"
components.player(
    computed.player_payload(content, timeline),
    content=content,
    step=state.url_number("step"),
    key="player",
    on_rest=replaying.take_position,
)

step = min(state.url_number("step"), len(timeline.steps) - 1)
widgets.show_findings(timeline.result.findings, "in the reply")
widgets.show_findings(recording.findings, "about the stream")
events, so_far, which, other, every, out = st.tabs(
    [
        "All events",
        "Up to this step",
        "Which dialect is this?",
        "Experiments",
        "Every dialect",
        "Take it with you",
    ],
    key="listed",
    on_change="rerun",
    bind="query-params",
)
if events.open:
    with events:
        st.dataframe(frames.timeline(timeline), hide_index=True)
if so_far.open:
    with so_far:
        replaying.show_result(timeline.until(step), timeline.steps[step].state)
if which.open:
    with which:
        found, foreign = computed.detections(working, timeline)
        widgets.show_findings([foreign] if foreign else [], "about the chosen dialect")
        st.dataframe(frames.detections(found), hide_index=True)
if other.open:
    with other:
        replaying.experiments(working, name, dialect, switches, len(recording.chunks))
if every.open:
    with every:
        replaying.every_dialect(working, name, dialect)
if out.open:
    with out:
        replaying.downloads(working, recording, timeline, content)
