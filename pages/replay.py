"""Replay: a recorded stream through a dialect's parser, chunk by chunk, and what else it gives."""

from __future__ import annotations

import streamlit as st

from playground.app import replay, state
from playground.app.shared import changes, components, readings, tables, which_dialect, widgets
from playground.show import frames

working = state.working_session()
controls = st.container(horizontal=True, vertical_alignment="bottom")
with controls:
    recording = replay.recording_select(working.session)
if recording is None:
    st.info("Nobody has answered in this session yet. Bring a model's reply: the button is above.")
    st.stop()
with controls:
    dialect = replay.reading_dialect(recording)
    server = replay.reading_server()
    switches = widgets.reading_switches(dialect)
reading = readings.Reading(recording, dialect, working.session.tools, switches, server)
timeline = reading.timeline
hint = replay.about(recording, timeline)
readings.show_findings(timeline)

last = len(timeline.steps) - 1
step = min(state.url_number("step", last), last)  # the end first: who asks what was said sees it
rests = changes.of(replay.PLAYER, replay.take_position, field="position")
components.player(reading.picture, step=step, key=replay.PLAYER, on_rest=rests)

widgets.show_findings(recording.findings, "about the stream")
events, so_far, handed, beside_it, which, other, every, out = st.tabs(
    [
        "All events",
        "Up to this step",
        replay.HANDED,
        "Two readings",
        "Which dialect is this?",
        "Experiments",
        "Every dialect",
        "Take it with you",
    ],
    key=replay.LISTED,
    on_change="rerun",
    bind="query-params",
)
if events.open:
    with events:
        tables.table(frames.timeline(timeline))
if so_far.open:
    with so_far:
        replay.show_result(timeline.until(step), timeline.steps[step].state)
if handed.open:
    with handed:
        replay.show_server(reading)
if beside_it.open:
    with beside_it:
        readings.two_readings(reading)
if which.open:
    with which:
        which_dialect.show_detections(reading)
if other.open:
    with other:
        replay.experiments(reading)
if every.open:
    with every:
        replay.every_dialect(reading)
if out.open:
    with out:
        replay.downloads(working, reading)
which_dialect.looks_like(reading, hint)  # last: it takes longer than all else
