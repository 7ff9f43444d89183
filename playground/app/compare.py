"""The Compare page's parts: what is shown, counted and lost; the Run tab asks a model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future, wait

import streamlit as st

from playground.app import navigation, state
from playground.app.navigation import VIEW
from playground.app.pages import page_entry, views
from playground.app.serving import access
from playground.app.shared import (
    components,
    say,
    tables,
    tool_schemas,
    waiting,
)
from playground.app.shared.components import Picture
from playground.app.shared.memoized import memoized
from playground.app.shared.runs import Runs
from playground.app.state import WorkingSession
from playground.base import paths
from playground.base.errors import PlaygroundError
from playground.base.wording import grouped
from playground.dialects import get_dialect
from playground.dialects.preflight import checks_from
from playground.dialects.schema_losses import MOST_FACTS
from playground.llm.endpoint import asked_again
from playground.llm.runs import Run
from playground.questions.comparison import Column, Comparison
from playground.questions.comparison import compare as compare_session
from playground.recordings.scrubbing import starred_out
from playground.sessions.loading import load_session
from playground.sessions.session import Session
from playground.show import exports, frames, payloads
from playground.show.grid import grid
from playground.show.token_frames import in_short, with_tokens
from playground.tokens import TokenCount

_SHOWN = 4_000  # characters of the answer, while it comes
_MOMENT = 0.1  # seconds
Figure = tuple[str, str, str]  # a value, what of, and whether it is good or bad
PANES = "compare panes"
VIEWS = ("As sent", "Counts", "Tools", "Grammar", "Lines", "Run")
PARTS = {entry.view: entry for entry in views(page_entry("compare"))[1:]}
_OLDER_VIEWS = {"Side by side": "As sent", "Difference": "Lines"}
COUNTING = f"Tokens are being counted. {waiting.LOADING}"


def prepare() -> None:
    """The first count of tokens waits for a vocabulary: it is read before somebody asks."""
    _tokens(load_session(next(iter(paths.samples().values()))), "xml").result()


# what is computed


@memoized(24)
def column(session: Session, dialect: str) -> Column:
    """Return a session in one dialect."""
    return compare_session(session, [dialect]).columns[0]


def comparison(session: Session, dialects: Sequence[str]) -> Comparison:
    """Return a session in several dialects, each kept by itself."""
    return Comparison(session, [column(session, name) for name in dialects])


@memoized(16)
def panes(session: Session, dialects: list[str]) -> Picture:
    """Return the session in each dialect, side by side."""
    columns = comparison(session, dialects).columns
    return Picture(grid([payloads.comparison_pane(column) for column in columns]))


@memoized(32)
def difference(session: Session, first: str, second: str, page: int) -> Picture:
    """Show how a page of messages differs between two dialects, line by line."""
    compared = comparison(session, [first, second])
    pages = payloads.page_count(len(session.messages))
    shown = payloads.page_origins(compared.columns, page, pages)
    return Picture({"lines": payloads.difference(compared.diff(first, second, shown))})


@memoized(256)
def _tokens(session: Session, dialect: str) -> Future[TokenCount]:
    asked = column(session, dialect)
    return waiting.background().submit(lambda: asked.tokens)


def token_count(session: Session, dialect: str) -> TokenCount | None:
    """Return the count, or None as long as it is being counted."""
    future = _tokens(session, dialect)
    return future.result() if future.done() else None


def token_counts(compared: Comparison) -> list[TokenCount | None]:
    """Return the count in each dialect; None as long as it is being counted."""
    return [token_count(each.session, each.dialect.name) for each in compared.columns]


def figures(compared: Comparison) -> list[list[Figure]]:
    """Return the figures in each pane's head: characters, tokens, schema facts lost, findings; the
    best of the first two is marked.

    A count is waited for only a moment, and never drawn by a run of its own, which would close a
    dialog: a slow one appears after the next change, and under Counts at once.
    """
    wait([_tokens(each.session, each.dialect.name) for each in compared.columns], _MOMENT)
    counts = token_counts(compared)
    sizes = [sum(column.characters.values()) for column in compared.columns]
    known = [count.tokens for count in counts if count]
    found: list[list[Figure]] = []
    for column, count, size in zip(compared.columns, counts, sizes, strict=True):
        facts = column.schema_facts
        lost = sum(not fact.kept for fact in facts)
        told = f"{lost} of {len(facts)}" if lost else "none"
        tokens = in_short(count).removesuffix(" tokens") if count else "…"
        fewest = count is not None and len(known) == len(counts) and count.tokens == min(known)
        found.append(
            [
                (grouped(size), "characters", "good" if size == min(sizes) else ""),
                (tokens, "tokens", "good" if fewest else ""),
                (told, "facts lost", "bad" if lost else ""),
                (grouped(len(column.findings)), "findings", "bad" if column.findings else ""),
            ]
        )
    return found


# what is shown


def view_select() -> str:
    """Return the view: one of this page's own, or one with parts of its own."""
    options = [*VIEWS, *PARTS]
    state.lead_on(VIEW, _OLDER_VIEWS | {view.lower(): view for view in options})
    chosen = st.selectbox(
        "View",
        options,
        key=VIEW,
        bind="query-params",
        label_visibility="collapsed",
        width=140,
    )
    return str(chosen)


def origin_select(origins: list[str]) -> str:
    """Return the tool, message or part of the prompt that every pane shows."""
    chosen = st.selectbox(
        "Jump to",
        origins,
        index=None,
        format_func=say.option,
        key="origin",
        bind="query-params",
        placeholder="Jump to",
        label_visibility="collapsed",
        width=170,
    )
    return chosen or ""


def take_origin(origin: str | None) -> None:
    """A block was clicked: the choice follows, and the URL with it."""
    state.choose("origin", origin or None)


def counts_table(compared: Comparison) -> None:
    """Characters by kind, and tokens as soon as the background has counted them."""
    place = st.empty()
    frame = frames.comparison(compared)
    most = int(frame["characters"].max())
    bars = st.column_config.ProgressColumn(format=tables.WHOLE, min_value=0, max_value=most)

    def shown() -> bool:
        counts = token_counts(compared)
        tables.table(
            with_tokens(frame, counts),
            place,
            width="stretch",
            height="content",
            columns={"characters": bars},
        )
        return None not in counts

    waiting.until_loaded(shown, COUNTING)
    model = compared.session.task.model_name
    counted_first = token_count(compared.session, compared.columns[0].dialect.name)
    source = f": {counted_first.source}" if counted_first else ""
    say.text(f"Tokens of the whole request for {model}{source}.")
    for note in counted_first.notes if counted_first else ():
        say.text(f"Not exact: {note}.")
    st.caption("The Cache page, which sizes single blocks, estimates them by kinds of characters.")


def schema_losses(compared: Comparison) -> None:
    """Show which facts of the tools' schemas each dialect tells the model, and which it drops."""
    if not compared.session.tools:
        st.info("This session has no tools.")
        return
    tables.table(frames.schema_losses(compared), height="content")
    say.caption(
        "How many of the facts in the tools' schemas the model is told. Each fact was removed in "
        "turn: where the prompt stays the same, the dialect drops it. Only the first "
        f"{MOST_FACTS} facts of a tool are looked at."
    )
    for column in compared.columns:
        dropped = frames.dropped_facts(column)
        if dropped.empty:
            continue
        with say.expander(f"{column.dialect.name} drops {len(dropped)}"):
            tables.table(dropped, height="content")
    tool_schemas.show(compared.session, [column.dialect.name for column in compared.columns])


def take_along(compared: Comparison, name: str) -> None:
    """A dialect's whole request, all pages of it: to copy and to save, exactly as it is sent."""
    chosen = [column.dialect.name for column in compared.columns]
    with st.popover(
        "Copy", icon=":material/content_copy:", key="take along", on_change="rerun"
    ) as place:
        if not place.open:
            return
        dialect = st.selectbox("Dialect", chosen, key="taken dialect")
        texts = exports.request_texts(compared.column(str(dialect)))
        form = st.segmented_control(
            "As", list(texts), default="JSON", required=True, key="taken as"
        )
        ending, text = texts[str(form)]
        say.download_button("Save", text, f"{name} {dialect}.{ending}", icon=":material/download:")
        components.verbatim(text, "request", key="taken text", height=300)


# Run: send the session in a dialect, watch the answer come, replay it


@st.cache_resource(show_spinner=False)
def _runs() -> Runs[Run]:
    return Runs()


def run_tab(working: WorkingSession, dialects: Sequence[str]) -> None:
    """Choose a model and a dialect, run, stop, and go on to Replay."""
    if not access.current().may_run:
        st.info(access.NO_RUNS)
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dialect = st.selectbox("Dialect", dialects, key="run dialect", width=220)
        own = working.session.task.model_name
        model = st.text_input("Model", own, key="run model", help="As LiteLLM names it.")
        base_url = st.text_input(
            "Server",
            key="run server",
            disabled=access.current().public,
            placeholder="the provider's own",
            help="An OpenAI-compatible address. `playground demo-server` prints one: model "
            "openai/demo, or openai/demo-hermes for a call written in that dialect.",
        )
    base_url = "" if access.current().public else base_url  # no visitor chooses whom we ask
    keeps = access.current().may_keep
    run = _runs().get(state.run_id())
    busy = run is not None and run.under_way
    if st.button("Run", icon=":material/send:", key="run", disabled=busy, type="primary"):
        _start(working, str(dialect), model, base_url)
        st.rerun()  # for a button that cannot be pressed twice
    say.text(
        "Keys are read from the environment of this machine and never stored. "
        + (f"The answer is kept in {paths.recordings()} while it comes. " if keeps else "")
        + "Closing this tab ends the request."
    )
    if run is None:
        return
    if busy:
        _watch(run)
    else:
        _outcome(working, run)


def _start(working: WorkingSession, dialect: str, model: str, base_url: str) -> None:
    data = working.session.with_model(model).prompt_data()
    run = Run(model, dialect)
    name = f"{working.name} {dialect}"
    try:
        rendering = get_dialect(dialect).with_preflight(*checks_from(os.environ)).render(data)
    except PlaygroundError as error:  # a pre-flight check says no: nothing is sent
        run.fault = str(error)
    else:
        run.start(
            rendering.messages,
            rendering.tools or (),
            name=name,
            base_url=base_url,
            parameters=asked_again(working.session.parameters, {}, rendering.tools),
            folder=paths.recordings() if access.current().may_keep else None,
            alive=waiting.tab_is_open(),
        )
    state.set_run_id(_runs().add(run, waiting.tab_is_open(), state.run_id()))


def _watch(run: Run) -> None:
    status = say.status(_progress(run), state="running")
    st.button("Stop", icon=":material/stop:", on_click=run.stop, key="stop")
    text = st.empty()

    def show() -> None:
        status.update(label=_progress(run))
        if run.text:
            text.text(run.text[-_SHOWN:])

    waiting.until(lambda: not run.under_way, show)
    st.rerun()


def _progress(run: Run) -> str:
    if run.chunks:
        return f"{run.chunks:,} chunks, {len(run.text):,} characters so far"
    return f"Waiting for the first chunk. {waiting.LOADING}"


def _outcome(working: WorkingSession, run: Run) -> None:
    if run.recorded is None:
        st.error("Nothing was recorded.")
        say.text(run.fault)
        return
    recording = run.recorded.recording
    end = "an error" if recording.error else recording.stop_reason or "no end"
    say.text(f"{len(recording.chunks)} chunks from {recording.model}: {end}.")
    if recording.error:
        say.text(str(recording.error.get("message", recording.error)))
    if run.recorded.starred:
        say.text(f"{starred_out(run.recorded.starred)}.")
    state.add_recording(working.name, recording)
    with st.container(horizontal=True, vertical_alignment="center"):
        navigation.link("replay", "Open in Replay", recording=say.option(recording.name))
        say.download_button(
            "Recording", run.recorded.text(), f"{run.dialect}.jsonl", key="save recording"
        )
    components.verbatim(run.text[-_SHOWN:], "answer", key="answer text")
