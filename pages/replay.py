"""Replay: one stream through up to four parsers, chunk by chunk, with experiments and exports."""

from __future__ import annotations

import streamlit as st

from playground.app import replay, state
from playground.app.shared import (
    bring,
    components,
    readings,
    say,
    tables,
    which_dialect,
    widget_changes,
    widgets,
)
from playground.show import rows

working = state.working_session()
tools = working.session.tools
with st.container(horizontal=True, key="replay-tools", vertical_alignment="center", gap="small"):
    recording = replay.recording_select(working.session)
    if recording is not None:
        with st.popover("Columns", key="columns menu"):
            chosen = replay.columns(recording, tools)
            dialect = replay.reading_dialect(recording, chosen)
            switches = widgets.reading_switches(dialect)
        reading = readings.Reading(recording, dialect, tuple(tools), switches, tuple(chosen))
        state.rename_in_address("listed", replay.OLDER_VIEWS)
        view = st.selectbox(
            "View",
            replay.VIEWS,
            key="listed",
            bind="query-params",
            label_visibility="collapsed",
            width=125,
        )
        replay.export(working, reading)
if recording is None:
    st.info("No reply yet. Import one, or run the session.")
    bring.panel()
    st.stop()

timeline = reading.timeline
last = len(timeline.steps) - 1
step = min(state.url_number("step", last), last)  # by default the last step, with the whole reply
rests = widget_changes.of(replay.PLAYER, replay.take_position, field="position")
if timeline.text:
    components.player(reading.picture, step=step, key=replay.PLAYER, on_rest=rests)
elif recording.error is None:
    came = "What came is no stream of a reply" if recording.chunks else "Nothing came"
    say.info(f"{came}, so there is no text to read.")
hint = replay.about(recording, timeline)
replay.about_servers(reading)
if not timeline.text:  # the player lists them
    widgets.show_findings(recording.findings, "about the stream")
if view == "Events":
    tables.table(rows.timeline(timeline))
elif view == "Detect":
    which_dialect.show_detections(reading)
    replay.every_dialect(reading)
elif view == "Experiments":
    replay.experiments(reading)
which_dialect.looks_like(reading, hint, replay.read_first_as)  # last, because it takes longest
