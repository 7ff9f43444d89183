"""A recording as it is read: kept by its content, its findings, and beside another reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import streamlit as st

from playground.app.shared import choosing, components, say, tables, widgets
from playground.app.shared.components import Picture
from playground.app.shared.kept import kept
from playground.base.fixes import with_fix
from playground.dialects import dialect_names
from playground.nouns.events import Event, FindingEvent
from playground.nouns.tools import ToolMetadata
from playground.parsing.switches import Switches
from playground.questions.experiments import difference
from playground.questions.timeline import Timeline
from playground.questions.timeline import replay as replay_recording
from playground.recordings.recording import Recording
from playground.servers import server_names
from playground.sessions.entries import without_secrets
from playground.show import exports, frames, payloads

Tools = Sequence[ToolMetadata]
_MOST_FINDINGS: Final = 3  # above the player; the others are one click away
_ABOUT: Final = 120  # characters of the text that a finding is about


@dataclass(frozen=True)
class Reading:
    """A recording, and how it is read: all that this page asks anything of."""

    recording: Recording
    dialect: str
    tools: tuple[ToolMetadata, ...]
    switches: Switches
    server: str = ""

    @property
    def timeline(self) -> Timeline:
        return _timeline(self.recording, self.dialect, self.tools, self.switches, self.server)

    @property
    def picture(self) -> Picture:
        return _picture(self.recording, self.dialect, self.tools, self.switches)

    def file(self, form: Literal["pytest", "html", "json"]) -> str:
        """Return the replay as a test that passes, a page of its own, or its events; without
        secrets.
        """
        server = self.server if form == "json" else ""
        return _file(form, self.recording, self.dialect, self.tools, self.switches, server)


@kept(32)
def _timeline(
    recording: Recording, dialect: str, tools: Tools, switches: Switches, server: str = ""
) -> Timeline:
    return replay_recording(recording, dialect, tools, switches, server)


@kept(16)
def _picture(recording: Recording, dialect: str, tools: Tools, switches: Switches) -> Picture:
    return Picture(payloads.player(_timeline(recording, dialect, tools, switches)))


@kept(16)
def _file(
    form: str, recording: Recording, dialect: str, tools: Tools, switches: Switches, server: str
) -> str:
    recording, tools, _ = without_secrets(recording, tools)
    timeline = replay_recording(recording, dialect, tools, switches, server)
    if form == "html":
        return timeline.html()
    if form == "json":
        return exports.replay_json(timeline)
    return exports.pytest_file(recording, timeline, tools)


def show_findings(timeline: Timeline) -> None:
    """Show the reply's findings, each with its text, which the player lights."""
    found = [event for event in timeline.result.events if isinstance(event, FindingEvent)]
    for event in found[:_MOST_FINDINGS]:
        _finding(event)
    if len(found) > _MOST_FINDINGS:
        with say.expander(f"{len(found) - _MOST_FINDINGS} more findings"):
            for event in found[_MOST_FINDINGS:]:
                _finding(event)


def _finding(event: FindingEvent) -> None:
    about = f" It is about: {event.text[:_ABOUT]!r}" if event.text.strip() else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        say.badge(event.finding.code, color=_COLOURS[event.finding.severity], width="content")
        # a message may quote the model's text: plain, never Markdown
        say.text(f"at {event.span.start:,}: {with_fix(event.finding)}.{about}")


_COLOURS: Final[dict[str, Literal["gray", "orange", "red"]]] = {
    "info": "gray",
    "warning": "orange",
    "error": "red",
}


def two_readings(reading: Reading) -> None:
    """The same stream read twice, by two dialects or two servers, and the events that differ."""
    given = [*dialect_names(), *(f"{_SERVER}{name}" for name in server_names())]
    halves = []
    for column, label, usual in zip(
        st.columns(2),
        ("Reading one", "And the other"),
        (reading.dialect, _other(reading)),
        strict=True,
    ):
        with column:
            index = given.index(usual) if usual in given else 0
            chosen = st.selectbox(
                label, given, index=index, key=label.lower().split()[-1], bind="query-params"
            )
            halves.append(_half(reading, str(chosen), label))
    changed = difference(*halves)
    if changed:
        say.text(f"{len(changed)} events differ.")
        tables.table(frames.changes(changed))
    else:
        st.success("Both read the same events.")


_SERVER: Final = "server: "


def _other(reading: Reading) -> str:
    """Return the other reading to show: the chosen server's, or that of the model's dialect."""
    if reading.server:
        return f"{_SERVER}{reading.server}"
    own = widgets.model_dialect()
    return own if own != reading.dialect else choosing.DEFAULT_DIALECTS[1]


def _half(reading: Reading, chosen: str, key: str) -> Sequence[Event]:
    """One of two readings: its player from the end, and its events."""
    server = chosen.removeprefix(_SERVER) if chosen.startswith(_SERVER) else ""
    dialect = reading.dialect if server else chosen
    given = (reading.recording, dialect, reading.tools, reading.switches)
    timeline = _timeline(*given, server)
    shown = timeline.handed if server and timeline.handed else timeline
    picture = Picture(payloads.player(shown))
    components.player(picture, step=len(shown.steps) - 1, key=f"player of {key}", on_rest=stay)
    return shown.result.events


def stay() -> None:
    """The step in the URL is that of our own reading."""
