"""The Replay page's parts: what is replayed, how it is read, what else can be tried with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from playground.app import state
from playground.app.shared import changes, components, readings, say, tables, widgets
from playground.app.shared.components import Picture
from playground.app.shared.kept import kept
from playground.app.shared.readings import Reading
from playground.app.state import WorkingSession
from playground.base.wording import counted
from playground.dialects import dialect_names
from playground.nouns.tools import ToolMetadata
from playground.parsing.result import ParseResult
from playground.parsing.state import ParserState
from playground.parsing.switches import Switches
from playground.questions.experiments import (
    CrossReading,
    CutSearch,
    EventChange,
    cross_read,
    difference,
    find_changing_cut,
    read_recording,
)
from playground.questions.restreaming import answers, restreamed, writing_dialect
from playground.questions.timeline import Timeline
from playground.recordings.recording import Recording
from playground.recordings.recutting import CUTTINGS, broken_off, corrupted, rechunked, without
from playground.servers import server_names
from playground.sessions.formats.atif import dump_atif
from playground.sessions.session import Session
from playground.show import frames, payloads

Tools = Sequence[ToolMetadata]
PLAYER: Final = "player"
LISTED: Final = "listed"  # the open tab's key
HANDED: Final = "What a server hands over"
_LONGEST_SHOWN: Final = 20_000  # characters of the test
_EVERY: Final = "every dialect"
_ROWS: Final = "every dialect's rows"


# what is computed


@kept(32)
def _restreamed(session: Session, name: str, dialect: str) -> Recording:
    return restreamed(session, name, dialect)


@kept(32, spinner="Cutting it everywhere …")
def _cut_search(recording: Recording, dialect: str, tools: Tools, switches: Switches) -> CutSearch:
    return find_changing_cut(recording, dialect, tools, switches)


@kept(32, spinner="Reading in every dialect …")
def _cross_readings(recording: Recording, tools: Tools, own: str) -> list[CrossReading]:
    return cross_read(recording, tools, own)


# An experiment's name → a function of the recording, the cutting, the seed and the chunk's number.
_CHANGES: Final[dict[str, Callable[[Recording, str, int, int], Recording]]] = {
    "cut otherwise": lambda recording, cutting, seed, _: rechunked(recording, cutting, seed),  # type: ignore[arg-type]
    "break off": lambda recording, _, __, chunk: broken_off(recording, chunk),
    "lose": lambda recording, _, __, chunk: without(recording, chunk - 1),
    "corrupt": lambda recording, _, seed, chunk: corrupted(recording, chunk - 1, seed),
}


@kept(64)
def _changes(
    recording: Recording,
    dialect: str,
    tools: Tools,
    switches: Switches,
    kind: str,
    given: tuple[str, int, int],
) -> list[EventChange]:
    """Return the events that an experiment changes; `given` is its cutting, seed and chunk."""
    before = read_recording(recording, dialect, tools, switches).events
    after = read_recording(_CHANGES[kind](recording, *given), dialect, tools, switches).events
    # Cut otherwise, the same text stands at the same offsets; after any other change it moves.
    return difference(before, after, spans=kind == "cut otherwise")


# what is chosen


def recording_select(session: Session) -> Recording | None:
    """Return the chosen recording, or an answer streamed anew; None for a session without
    either.
    """
    recorded = {recording.name: recording for recording in session.recordings}
    names = [*recorded, *(name for name in answers(session) if name not in recorded)]
    if not names:
        return None
    chosen = st.selectbox(
        "Recording",
        names,
        format_func=say.option,
        key="recording",
        bind="query-params",
        on_change=changes.of("recording", _from_its_end, shown=names[0]),
    )
    name = chosen if chosen in names else names[0]
    return recorded.get(name) or _restreamed(session, name, writing_dialect(session))


def _from_its_end(_: str) -> None:
    state.forget_step()


def reading_dialect(recording: Recording) -> str:
    """Return the dialect that reads: the recording's own unless another one is chosen."""
    names, own = dialect_names(), recording.dialect
    known = own in names
    usual = own if known else names[0]
    unknown = f"recorded as {own}, unknown here" if own else "nobody knows the reply's own"
    made = recording.timing == "synthetic"  # of a text: its dialect is told by its form
    recorded = (
        own if known and made else f"{own} (as recorded)" if known else f"{usual} ({unknown})"
    )
    chosen = st.selectbox(
        "Read as", names, index=None, key="as", bind="query-params", placeholder=say.shown(recorded)
    )
    return chosen or usual


def reading_server() -> str:
    """Return the server whose reading stands beside ours; "" for none."""
    chosen = st.selectbox(
        "Handed over by",
        server_names(),
        index=None,
        key="server",
        bind="query-params",
        placeholder="no server: nothing is lost",
        on_change=changes.of("server", _see_server),
    )
    return chosen or ""


def _see_server(name: str | None) -> None:
    """Show what a server hands over, once one is chosen."""
    if name:
        state.choose(LISTED, HANDED)


def _about_server(timeline: Timeline) -> None:
    """Show in a line how the chosen server reads the reply, beside our reading."""
    server = timeline.server
    if server is None:
        return
    calls = ", ".join(call.name for call in server.tool_calls) or "none"
    dropped = sum(len(event.text) for event in server.dropped)
    lost = f" It drops {counted(dropped, 'character')}." if dropped else ""
    hands = "is assumed to hand over (not known)" if server.assumed else "hands over"
    say.text(f"{server.name} {hands} calls: {calls}.{lost}")


def show_server(reading: Reading) -> None:
    """Show what a server hands over of the same recording, step by step, and what it drops."""
    handed, server = reading.timeline.handed, reading.timeline.server
    if server is None or handed is None:
        st.info("Choose a server above: what it hands to its client stands here, step by step.")
        return
    if server.view.source:
        say.text(f"Read in its code: {server.view.source}")
    widgets.show_findings(server.server_findings, "about the server")
    picture = Picture(payloads.player(handed))
    last = len(handed.steps) - 1
    components.player(picture, step=last, key="player-server", on_rest=readings.stay)


def take_position(position: float | None) -> None:
    """The player came to rest: the step goes into the URL."""
    if position is not None:
        state.set_url_number("step", int(position))


def show_result(result: ParseResult, parser: ParserState) -> None:
    """Show what is known at a step: calls, aborted calls, text."""
    held = f", held back: {parser.held!r}" if parser.held else ""
    say.text(f"parser: {parser.mode}{held}")
    calls = frames.calls(result)
    if not calls.empty:
        tables.table(calls)
    for title, text in (("reasoning", result.reasoning), ("content", result.content)):
        if text.strip():
            say.caption(title)
            components.verbatim(text, title, key=f"so far {title}")


def about(recording: Recording, timeline: Timeline) -> DeltaGenerator:
    """Show the recording in a line or two: counts, how it ended, its cost, a server's reading.

    Return a place below it, for what takes longer to compute.
    """
    calls = ", ".join(call.name for call in timeline.result.tool_calls) or "none"
    say.text(
        f"{counted(len(recording.chunks), 'chunk')}, {counted(len(timeline.text), 'character')}. "
        f"Complete calls: {calls}. Aborted calls: {len(timeline.result.aborted)}."
    )
    known = [recording.api, recording.model]
    if recording.api:
        end = "an error" if recording.error is not None else recording.stop_reason or "no end"
        known.append(f"ended: {end}")
    if recording.usage:
        known += [f"{key} {value:,}" for key, value in recording.usage.items() if _is_count(value)]
    if any(known):
        say.text(" · ".join(filter(None, known)))
    if recording.error is not None:
        st.error("The provider sent an error during the stream.")
        say.text(json.dumps(recording.error, ensure_ascii=False))
    if recording.note:
        say.text(recording.note)
    _about_server(timeline)
    return st.container()


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# what is tried

_FIND_A_CUT: Final = "find a cut that changes anything"
_EXPERIMENTS: Final = ("cut otherwise", _FIND_A_CUT, "break off", "lose", "corrupt")
_CHUNK_LABELS: Final = {"break off": "After chunk", "lose": "Chunk", "corrupt": "Chunk"}


def experiments(reading: Reading) -> None:
    """Change the recording in one way and see which events change."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.selectbox(
            "Experiment", _EXPERIMENTS, key="experiment", bind="query-params", width=280
        )
        given = _given(str(kind), len(reading.recording.chunks))
    read_by = reading.dialect, reading.tools, reading.switches
    if kind == _FIND_A_CUT:
        _show_cut_search(_cut_search(reading.recording, *read_by))
        return
    changes = _changes(reading.recording, *read_by, str(kind), given)
    if changes:
        say.text(f"{len(changes)} events differ from the original's.")
        tables.table(frames.changes(changes))
    else:
        st.success("The events are the same as the original's.")


def _given(kind: str, chunks: int) -> tuple[str, int, int]:
    """Return the cutting, the seed and the chunk's number; a control is there where the kind needs
    it.
    """
    cutting, seed, chunk = str(CUTTINGS[0]), 0, 0
    if kind == "cut otherwise":
        cutting = str(st.selectbox("Into pieces of", CUTTINGS, key="cutting", bind="query-params"))
    if cutting == "random" or kind == "corrupt":
        seed = int(st.number_input("Seed", 0, 10**6, 0, key="seed", bind="query-params"))
    if label := _CHUNK_LABELS.get(kind):
        last = max(1, chunks)
        chunk = int(st.number_input(label, 1, last, last, key="chunk", bind="query-params"))
    return cutting, seed, chunk


def _show_cut_search(found: CutSearch) -> None:
    if found.found:
        say.error(f"A cut changes the events: {found.cutting}.")
        tables.table(frames.changes(found.changes))
    else:
        say.success(f"None of {found.tried:,} cuttings (of {found.of:,}) changes any event.")


def every_dialect(reading: Reading) -> None:
    """The recording read by every dialect: who reads it, who loses what."""
    rows = _cross_readings(reading.recording, reading.tools, reading.dialect)
    same = sum(row.same_calls and row.calls > 0 for row in rows)
    say.text(
        f"{same} of {len(rows)} dialects read the same calls as {reading.dialect}. "
        "Choose a row to read the reply so."
    )
    state.hold(_ROWS, [row.dialect for row in rows])
    tables.table(
        frames.cross_readings(rows),
        key=_EVERY,
        selection_mode="single-row",
        on_select=changes.of(_EVERY, _read_as_row, field="selection"),
    )


def _read_as_row(selection: Mapping[str, Any] | None) -> None:
    """A row was chosen: its dialect reads the recording from now on."""
    for row in (selection or {}).get("rows", ())[:1]:
        state.choose("as", state.held(_ROWS)[row])


# what is taken along


def downloads(working: WorkingSession, reading: Reading) -> None:
    """The replay as a test, a page or JSON, without secrets; the session as ours or as ATIF."""
    name = reading.recording.name
    stem = "".join(c if c.isalnum() else "_" for c in name).strip("_") or "recording"
    test = reading.file("pytest")
    events = reading.file("json")
    session = working.session
    files = (
        ("Test (pytest)", test, f"test_{stem}.py", "save test"),
        ("Page (HTML)", reading.file("html"), f"{stem}.html", "save page"),
        ("Events (JSON)", events, f"{stem}.json", "save events"),
        ("Session", state.session_file(working), f"{working.name}.json", "save session"),
        ("Session (ATIF)", dump_atif(session), f"{working.name}.atif.json", "save atif"),
    )
    with st.container(horizontal=True):
        for label, text, file_name, key in files:
            say.download_button(label, text, file_name, key=key)
    st.text("The test holds the chunks and the events, and passes as it is:")
    more = "\n…" if len(test) > _LONGEST_SHOWN else ""
    components.verbatim(test[:_LONGEST_SHOWN] + more, "test", key="test")
