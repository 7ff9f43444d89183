"""The Replay page's parts: the recording, its columns, experiments, and exports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from playground.app import state
from playground.app.shared import readings, say, tables, widget_changes, widgets
from playground.app.shared.memoized import memoized
from playground.app.shared.readings import Reading
from playground.app.state import WorkingSession
from playground.base.wording import counted
from playground.dialects import dialect_names
from playground.nouns.tools import ToolMetadata
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
from playground.recordings.recutting import CUTTINGS, break_off, corrupt_chunk, drop_chunk, recut
from playground.servers import ServerReading
from playground.sessions.formats.atif import dump_atif
from playground.sessions.session import Session
from playground.show import rows
from playground.show.glossary import NO_PARSER

Tools = Sequence[ToolMetadata]
PLAYER: Final = "player"
COLUMNS: Final = "columns"
VIEWS: Final = ("Text", "Events", "Detect", "Experiments")
OLDER_VIEWS: Final = {
    "All events": "Events",
    "Which dialect is this?": "Detect",
    "Every dialect": "Detect",
}
_OF: Final = "recording of the columns"
_EVERY: Final = "every dialect"
_ROWS: Final = "every dialect's rows"


# computing


@memoized(32)
def _restreamed(session: Session, name: str, dialect: str) -> Recording:
    return restreamed(session, name, dialect)


@memoized(32, spinner="Cutting it everywhere …")
def _cut_search(recording: Recording, dialect: str, tools: Tools, switches: Switches) -> CutSearch:
    return find_changing_cut(recording, dialect, tools, switches)


@memoized(32, spinner="Reading in every dialect …")
def _cross_readings(recording: Recording, tools: Tools, own: str) -> list[CrossReading]:
    return cross_read(recording, tools, own)


# An experiment's name -> a function of the recording, the cutting, the seed and a chunk's number.
_CHANGES: Final[dict[str, Callable[[Recording, str, int, int], Recording]]] = {
    "cut otherwise": lambda recording, cutting, seed, _: recut(recording, cutting, seed),  # type: ignore[arg-type]
    "break off": lambda recording, _, __, chunk: break_off(recording, chunk),
    "lose": lambda recording, _, __, chunk: drop_chunk(recording, chunk - 1),
    "corrupt": lambda recording, _, seed, chunk: corrupt_chunk(recording, chunk - 1, seed),
}


@memoized(64)
def _changes(
    recording: Recording,
    dialect: str,
    tools: Tools,
    switches: Switches,
    kind: str,
    settings: tuple[str, int, int],
) -> list[EventChange]:
    """Return the events that an experiment changes; `settings` are its cutting, seed and chunk."""
    before = read_recording(recording, dialect, tools, switches).events
    after = read_recording(_CHANGES[kind](recording, *settings), dialect, tools, switches).events
    # spans are compared only if every text keeps its offsets
    return difference(before, after, spans=kind == "cut otherwise")


# controls


def recording_select(session: Session) -> Recording | None:
    """Return the chosen recording or re-streamed answer of the session; None if it has neither."""
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
        label_visibility="collapsed",
        width=170,
        on_change=widget_changes.of("recording", _from_its_end, shown=names[0]),
    )
    name = chosen if chosen in names else names[0]
    return recorded.get(name) or _restreamed(session, name, writing_dialect(session))


def _from_its_end(_: str) -> None:
    state.forget_url("step")  # another recording is shown at its last step


def columns(recording: Recording, tools: Tools) -> list[str]:
    """Return the names of the columns, each a dialect or a server: those that the user chose for
    this recording, or else the usual ones."""
    known, own = readings.options(), recording.dialect
    first = own if own in known else dialect_names()[0]
    of_model = widgets.model_dialect() if state.working_session().session.named_model else ""
    usual = readings.usual_columns(recording, first, tools, of_model)
    values = state.url_values()
    named = _columns_in_address(values)
    say.unknown("column", [name for name in named if name not in known], known)
    from_address = [name for name in named if name in known][: readings.MOST_COLUMNS]
    if state.get(_OF) != recording.name and (state.get(_OF) is not None or not from_address):
        state.choose(COLUMNS, usual)
    elif from_address and (state.get(COLUMNS) is None or state.went_back()):
        state.choose(COLUMNS, from_address)
    elif not state.get(COLUMNS):
        state.choose(COLUMNS, usual)
    state.put(_OF, recording.name)
    chosen = st.multiselect(
        "Columns",
        known,
        format_func=_column_name,
        key=COLUMNS,
        max_selections=readings.MOST_COLUMNS,
        select_all=False,
        help="Up to four readings of the stream: dialects, and the parsers of servers.",
    )
    state.tell_url(COLUMNS, ",".join(chosen), ",".join(usual))
    return chosen or usual


def _columns_in_address(values: Mapping[str, str]) -> list[str]:
    """Return the columns in the address. Older addresses have a dialect and a server instead."""
    if COLUMNS in values:
        return values[COLUMNS].split(",")
    named = [values.get("as", ""), values.get("server") and readings.SERVER + values["server"]]
    return [str(each) for each in named if each]


def _column_name(column: str) -> str:
    server = column.removeprefix(readings.SERVER)
    return f"{server} (server)" if server != column else column


def reading_dialect(recording: Recording, chosen: Sequence[str]) -> str:
    """Return the first column that is a dialect, or else the recording's own dialect."""
    own = recording.dialect if recording.dialect in dialect_names() else dialect_names()[0]
    return next((each for each in chosen if not each.startswith(readings.SERVER)), own)


def take_position(position: float | None) -> None:
    """Write the step at which the player came to rest into the URL."""
    if position is not None:
        state.tell_url("step", str(int(position)), "")


def about(recording: Recording, timeline: Timeline) -> DeltaGenerator:
    """Show the recording in a few lines: counts, its end, its usage, its error.

    Return a place below, for parts that take longer.
    """
    calls = ", ".join(call.name for call in timeline.result.tool_calls) or "none"
    say.text(
        f"{counted(len(recording.chunks), 'chunk')}, {counted(len(timeline.text), 'character')}. "
        f"Complete calls: {calls}. Aborted calls: {len(timeline.result.aborted)}."
    )
    known = [recording.api, recording.model]
    if recording.api:
        error = None if recording.error is None else "an error"
        end = "stopped" if recording.was_stopped else error or recording.stop_reason or "no end"
        known.append(f"ended: {end}")
    if recording.usage:
        known += [f"{key} {value:,}" for key, value in recording.usage.items() if _is_count(value)]
    if any(known):
        say.text(" · ".join(filter(None, known)))
    if recording.error is not None:
        if recording.was_stopped:
            st.warning("The recording breaks off here: it was stopped before its end.")
        else:
            where = "during the stream" if timeline.text else "in place of a reply"
            say.error(f"The provider sent an error {where}.")
            say.text(json.dumps(recording.error, ensure_ascii=False))
    if recording.note:
        say.text(recording.note)
    if recording.timing == "synthetic" and recording.dialect not in dialect_names():
        unknown = f"recorded as {recording.dialect}, unknown here"
        say.text(unknown if recording.dialect else "The reply's own dialect is not known.")
    return st.container()


def about_servers(reading: Reading) -> None:
    """Show which calls each server delivers, how much it drops, and how this is known."""
    for each in reading.timelines:
        server = each.result
        if not isinstance(server, ServerReading):
            continue
        if server.has_no_parser:
            say.text(f"{server.server} has no parser for {reading.dialect}: calls stay text.")
            continue
        names = [call.name for call in server.tool_calls]
        calls = f"{'the calls' if names[1:] else 'the call'} {', '.join(names)}"
        calls = calls if names else "no call"
        dropped = counted(server.dropped_characters, "character")
        lost = f" It drops {dropped}." if server.dropped else ""
        hands = "is assumed, not known, to hand over" if server.assumed else "hands over"
        source = f" Read in its code: {server.view.source}." if server.view.source else ""
        source += " Its parser was run on such replies." if server.proven else ""
        other = " It may read a stream differently." if server.reads != "stream" else ""
        say.text(f"{server.name} {hands} {calls} of a {server.reads}.{lost}{other}{source}")


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# experiments

_FIND_A_CUT: Final = "find a cut that changes anything"
_EXPERIMENTS: Final = ("cut otherwise", _FIND_A_CUT, "break off", "lose", "corrupt")
_CHUNK_LABELS: Final = {"break off": "After chunk", "lose": "Chunk", "corrupt": "Chunk"}


def experiments(reading: Reading) -> None:
    """Change the recording in one way, and show the events that change."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.selectbox(
            "Experiment", _EXPERIMENTS, key="experiment", bind="query-params", width=280
        )
        settings = _experiment_controls(str(kind), len(reading.recording.chunks))
    read_by = reading.dialect, reading.tools, reading.switches
    if kind == _FIND_A_CUT:
        _show_cut_search(_cut_search(reading.recording, *read_by))
        return
    changes = _changes(reading.recording, *read_by, str(kind), settings)
    if changes:
        verb = "differs" if len(changes) == 1 else "differ"
        say.text(f"{counted(len(changes), 'event')} {verb} from the original's.")
        tables.table(rows.changes(changes))
    else:
        st.success("The events are the same as the original's.")


def _experiment_controls(kind: str, chunks: int) -> tuple[str, int, int]:
    """Draw the controls of this experiment; return the cutting, the seed and the chunk's number."""
    cutting, seed, chunk = str(CUTTINGS[0]), 0, 0
    if kind == "cut otherwise":
        cutting = str(st.selectbox("Into pieces of", CUTTINGS, key="cutting", bind="query-params"))
    if cutting == "random" or kind == "corrupt":
        seed = int(st.number_input("Seed", 0, 10**6, 0, key="seed", bind="query-params"))
    if label := _CHUNK_LABELS.get(kind):
        last = max(1, chunks)
        chunk = int(st.number_input(label, 1, last, last, key="chunk", bind="query-params"))
    return cutting, seed, chunk


def _show_cut_search(search: CutSearch) -> None:
    if search.found:
        say.error(f"A cut changes the events: {search.cutting}.")
        tables.table(rows.changes(search.changes))
    else:
        say.success(f"None of {search.tried:,} cuttings (of {search.of:,}) changes any event.")


def every_dialect(reading: Reading) -> None:
    """Show the recording as every dialect reads it: calls, text and losses."""
    found = _cross_readings(reading.recording, reading.tools, reading.dialect)
    same = sum(row.same_calls and row.calls > 0 for row in found)
    like = f"{same} of {len(found)} dialects read the same calls as {reading.dialect}."
    if not any(row.calls for row in found):
        like = f"None of {len(found)} dialects reads a call."
    say.text(f"{like} Choose a row for a column of its own.")
    state.put(_ROWS, [row.dialect for row in found])
    tables.table(
        rows.cross_readings(found),
        empty=NO_PARSER,
        key=_EVERY,
        selection_mode="single-row",
        on_select=widget_changes.of(_EVERY, _read_as_row, field="selection"),
    )


def _read_as_row(selection: Mapping[str, Any] | None) -> None:
    """Add the dialect of a chosen row as a column; if all columns are taken, replace the last."""
    for row in (selection or {}).get("rows", ())[:1]:
        add_column(state.get(_ROWS)[row])


def add_column(name: str) -> None:
    kept = [each for each in state.get(COLUMNS) or [] if each != name]
    state.choose(COLUMNS, [*kept[: readings.MOST_COLUMNS - 1], name])


def read_first_as(name: str) -> None:
    """Replace the first column by this dialect."""
    kept = [each for each in (state.get(COLUMNS) or [])[1:] if each != name]
    state.choose(COLUMNS, [name, *kept])


# exports


def export(working: WorkingSession, reading: Reading) -> None:
    """Offer the replay as a test, a page or JSON, without secrets, and the session as files."""
    name = reading.recording.name
    stem = "".join(c if c.isalnum() else "_" for c in name).strip("_") or "recording"
    session = working.session
    files = (
        ("Test (pytest)", reading.file("pytest"), f"test_{stem}.py", "save test"),
        ("Page (HTML)", reading.file("html"), f"{stem}.html", "save page"),
        ("Events (JSON)", reading.file("json"), f"{stem}.json", "save events"),
        ("Session", state.session_file(working), f"{working.name}.json", "save session"),
        ("Session (ATIF)", dump_atif(session), f"{working.name}.atif.json", "save atif"),
    )
    with st.popover("Export", key="export", on_change="rerun") as place:
        if place.open:
            for label, text, file_name, key in files:
                say.download_button(label, text, file_name, key=key)
            st.caption("Page and events hold the columns that are shown.")
