"""The view Questions of the page Corpus: filters, a question, and the sessions of one row."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from threading import get_ident
from typing import Any, Final

import streamlit as st

from playground.app import state
from playground.app.serving import access
from playground.app.shared import opening, say, tables, waiting
from playground.app.shared.memoized import memoized
from playground.base.errors import InputFault
from playground.base.wording import counted, grouped, seconds
from playground.plugins.corpus import page_building as corpus_building
from playground.plugins.corpus.answers import CorpusAnswer
from playground.plugins.corpus.asking import Corpus, state_of
from playground.plugins.corpus.asking import corpus as opened
from playground.plugins.corpus.drawings import column_title, row_label
from playground.plugins.corpus.filters import row_filters
from playground.plugins.corpus.questions import COLUMNS, QUESTIONS, TABLE_OF_OTHERS, question_names

ANY: Final = "any"
_SIZE: Final = "corpus holds"
FACETS: Final = ("agent", "version", "model", "dialect", "tool", "code")
_TABLE_OF: Final = {"tool": "calls", "code": "findings"}  # the tables of these filters' columns
_COUNTED: Final = ("session", "request", "call", "finding", "break")  # each has a table of rows
_MOST_VALUES: Final = 200
_TITLE_CHARACTERS: Final = 80  # of an error that is shown in place of a session's title
_SECONDS: Final = 10.0
_MOST_ROWS: Final = 500
_STOPPED: Final = "corpus is stopped"
_QUIET_SECONDS: Final = 0.3  # after so long the page says that it is waiting for an answer


def show(row: Any) -> None:
    """Show the answer to one question about many recorded sessions. `row` holds the fields."""
    corpus = choose_corpus(row)
    if corpus is None:
        st.stop()
    with row:
        name, by = choose_question()
        with st.popover("Filter", icon=":material/filter_list:", key="corpus filter"):
            filters = choose_filters(corpus)
    show_size(corpus)
    if was_stopped():
        st.stop()
    answer = ask(corpus, name, by, filters)
    if answer is None:
        st.stop()
    show_answer(answer)
    if answer.rows:
        trend(corpus, name, filters)
        show_sessions(corpus, answer, by, filters)


def choose_corpus(row: Any) -> Corpus | None:
    """Let the user name a corpus, and open it; the page's address holds the name.

    Without a corpus, or if this user may not see it, show the reason and return None.
    """
    if not access.current().may_keep:
        st.info("This server shows nothing of its own machine's files.")
        return None
    corpus_building.choose_built()
    with row:
        path = st.text_input(
            "Corpus",
            key="corpus",
            bind="query-params",
            placeholder="my-corpus",
            help="The folder or address of a corpus.",
            width=360,
        )
    if not path:
        corpus_building.show_build()
        return None
    try:
        return _open_corpus(path, state_of(path))
    except InputFault as fault:
        st.error("This corpus cannot be opened.")
        say.text(str(fault))
        return None


@memoized(4)
def _open_corpus(path: str, built: str) -> Corpus:
    """Open a corpus. The result is cached until `built`, the state of the corpus, changes."""
    return opened(path)


def show_size(corpus: Corpus) -> None:
    """Show how much the corpus holds, whatever the filters; count it once per tab and build."""
    key = f"{_SIZE} {state.get('corpus')} {corpus.catalog.state}"
    if (size := state.get(key)) is None:
        counts = ", ".join(f"(SELECT count(*) FROM {thing}s)" for thing in _COUNTED)
        query = partial(corpus.sql, f"SELECT {counts}", seconds=_SECONDS)
        if (answer := wait_for(corpus, "what it holds", query)) is None:
            return
        size = ", ".join(map(counted, answer.rows[0], _COUNTED))
        state.put(key, size)
    say.caption(size)


def choose_filters(corpus: Corpus) -> dict[str, Any]:
    """Show the filters and return those that are set; the page's address holds them all."""
    filters: dict[str, Any] = {}
    for name in FACETS:
        values = [ANY, *_values(corpus, name)]
        label = "finding" if name == "code" else name
        state.follow_url(f"corpus {name}", values)
        value = st.selectbox(
            label.capitalize(),
            values,
            format_func=partial(_facet_option, label),
            key=f"corpus {name}",
            label_visibility="collapsed",
            width=126,
        )
        state.tell_url(f"corpus {name}", value, ANY)
        if value != ANY:
            filters[name] = value
    with st.popover("Time", icon=":material/event:", key="corpus time"):
        for name in ("since", "until"):
            filters[name] = st.text_input(
                name.capitalize(),
                key=f"corpus {name}",
                bind="query-params",
                placeholder="2026-11-01",
                width=140,
            )
    return filters


def _facet_option(label: str, value: str) -> str:
    return f"Any {label}" if value == ANY else say.option(value)


def _values(corpus: Corpus, name: str) -> list[str]:
    """Return the commonest values of a filter's column. If there is no answer, return only the
    value that the user chose, if any."""
    table = _TABLE_OF.get(name, "sessions")
    sql = f"SELECT {name} FROM {table} WHERE {name} <> '' GROUP BY 1 ORDER BY count(*) DESC, 1"
    query = partial(corpus.sql, sql, limit=_MOST_VALUES, seconds=_SECONDS)
    answer = wait_for(corpus, f"values of {name}", query)
    if answer is None:
        key = f"corpus {name}"
        chosen_value = state.get(key) or state.url_values().get(key)
        return [chosen_value] if chosen_value and chosen_value != ANY else []
    return [str(row[0]) for row in answer.rows]


def choose_question() -> tuple[str, list[str]]:
    """Let the user choose a question, and the columns that it is grouped by; return both."""
    questions = question_names()
    # Most corpora have only one analysis, and a served page may not read input files.
    names = [name for name in questions if name not in ("analyses", "receipts")]
    state.follow_url("asks", names)
    name = st.selectbox(
        "Question", names, format_func=lambda each: questions[each], key="asks", width=420
    )
    state.tell_url("asks", name, names[0])
    definition = QUESTIONS.get(name)
    by: list[str] = []
    if definition is not None and definition.is_grouped:
        key = f"by for {name}"
        by = st.multiselect("By", definition.names, list(definition.by), key=key, width=320)
    return name, by


def was_stopped() -> bool:
    """Return True if the user stopped the last question; if so, show a button that asks again."""
    if not state.get(_STOPPED):
        return False
    state.forget(_STOPPED)
    st.info("Stopped: nothing was answered.")
    st.button("Ask again", icon=":material/refresh:", key="corpus again")
    return True


def ask(corpus: Corpus, name: str, by: list[str], filters: dict[str, Any]) -> CorpusAnswer | None:
    """Ask a question with a time limit. If there is no answer, show the reason and return None.

    Filters by columns that the question's table lacks are left out, and the page says so.
    """
    applied, ignored = applied_filters(name, filters)
    if ignored:
        say.caption(f"Not filtered by {', '.join(ignored)}: this question has no such column.")
    query = partial(corpus.ask, name, by, limit=_MOST_ROWS, seconds=_SECONDS, **applied)
    return wait_for(corpus, f"{name} by {by}", query)


def applied_filters(name: str, filters: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the filters that a question can apply, and the names of the others, if set."""
    table = QUESTIONS[name].table if name in QUESTIONS else TABLE_OF_OTHERS[name]
    applied = {key: filters[key] for key in filters if _has_column(table, key)}
    if name == "tools":
        applied.pop("tool", None)
    return applied, [key for key in filters if filters[key] and key not in applied]


def _has_column(table: str, column: str) -> bool:
    return column in COLUMNS[table] or column in ("since", "until")


def show_answer(answer: CorpusAnswer) -> None:
    """Show an answer: its size and time, a figure, and the table."""
    more = ", and there are more" if answer.cut else ""
    say.caption(f"{counted(len(answer.rows), 'row')} in {seconds(answer.seconds)}{more}")
    if not answer.rows:
        st.info("No data for this question.")
        return
    if answer.question in QUESTIONS and answer.question != "sessions":
        st.plotly_chart(answer.figure(), key="corpus figure")
    for note in answer.notes:
        say.caption(note)
    tables.table(answer.frame().rename(columns=column_title), key="corpus answer")


def trend(corpus: Corpus, name: str, filters: dict[str, Any]) -> None:
    """Show the same question week by week, if it can be grouped, except `drift` and `shapes`."""
    if name in ("drift", "shapes") or name not in QUESTIONS or not QUESTIONS[name].is_grouped:
        return
    answer = ask(corpus, name, ["week"], filters)
    if answer is not None and len(answer.rows) > 1:
        st.subheader("Week by week", anchor=False)
        st.plotly_chart(answer.figure(), key="corpus trend")


def show_sessions(
    corpus: Corpus, answer: CorpusAnswer, by: list[str], chosen: dict[str, Any]
) -> None:
    """Show the sessions that one row of the answer counts, and buttons that open one of them. `by`
    and `chosen` are the columns and filters with which the answer's question was asked."""
    if answer.question == "twins":
        pairs = ((row["one"], row["other"], row["titles"]) for row in answer.records())
        _choose_session(
            corpus, {id: title for *ids, both in pairs for id, title in zip(ids, both, strict=True)}
        )
        return
    if answer.question == "errors":  # each row names a session that has the error
        _choose_session(
            corpus, {row["seen_in"]: row["example"][:_TITLE_CHARACTERS] for row in answer.records()}
        )
        return
    if answer.question not in QUESTIONS:
        return
    definition = QUESTIONS[answer.question]
    if definition.name == "sessions":  # the answer lists them already
        _show_openers(corpus, answer)
        return
    st.subheader("Sessions behind a row", anchor=False)
    # a row's label: the columns that group it, or the first; for `shapes` the shape, too
    label_columns = max(1, len(by)) + (definition.name == "shapes")
    labels = [
        f"{number}. {row_label(answer, row, range(label_columns))}"
        for number, row in enumerate(answer.rows[:_MOST_VALUES], 1)
    ]
    key = f"row of {definition.name} {by}"
    label = st.selectbox("Row", labels, format_func=say.shown, key=key)
    row = answer.records()[labels.index(label)]
    applied = {key: chosen[key] for key in chosen if _has_column(definition.table, key)}
    filters = row_filters(definition, by, row, applied)
    sessions = wait_for(
        corpus,
        "sessions behind",
        partial(corpus.behind, definition.table, seconds=_SECONDS, **filters),
    )
    if sessions is None:
        return
    if not sessions.rows:
        st.info("No sessions match.")
        return
    say.caption(
        f"{grouped(len(sessions.rows))} shown{', and there are more' if sessions.cut else ''}"
    )
    tables.table(sessions.frame().rename(columns=column_title), key="corpus sessions")
    _show_openers(corpus, sessions)


def _show_openers(corpus: Corpus, sessions: CorpusAnswer) -> None:
    """Show a choice of the answer's sessions, and buttons that open the chosen one."""
    _choose_session(corpus, {str(row["id"]): str(row["title"]) for row in sessions.records()})


def _choose_session(corpus: Corpus, titles: dict[str, str]) -> None:
    """Show a choice of sessions, by id and title, and buttons that open the chosen one."""
    ids = list(titles)

    def label(id: str) -> str:
        return str(say.shown(f"{id}: {titles[id]}" if titles[id] else id))

    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen_id = st.selectbox("Session", ids, format_func=label, key=f"session of {ids[0]}")
        opening.buttons("corpus", partial(import_session, corpus, chosen_id))
    opening.fault("corpus", "This session cannot be opened.")


def import_session(corpus: Corpus, id: str) -> str:
    session = corpus.session(id)
    return state.keep_session(session.title or id, session)


def wait_for(corpus: Corpus, what: str, ask: Callable[[], CorpusAnswer]) -> CorpusAnswer | None:
    """Call `ask` in another thread, wait for the answer, and return it. *Stop*, or the use of any
    other widget, interrupts the question. `what` names the question in the key of *Stop*.

    If there is no answer, show the reason and return None.
    """
    if state.get(_STOPPED):
        return None
    asking = ThreadPoolExecutor(max_workers=1)
    thread = asking.submit(get_ident).result()
    answer = asking.submit(ask)
    place = st.empty()
    try:
        wait([answer], timeout=_QUIET_SECONDS)
        if not answer.done():
            with place.container(horizontal=True, vertical_alignment="center"):
                st.button("Stop", icon=":material/stop:", key=f"stop {what}", on_click=_stop)
                status = st.empty()
            began = time.monotonic()
            message = "The corpus is being asked"
            waiting.until(
                answer.done,
                lambda: status.caption(f"{message}: {grouped(time.monotonic() - began)} s"),
            )
    finally:
        if not answer.done():
            corpus.interrupt(thread)
        asking.shutdown(wait=False)
    place.empty()
    try:
        return answer.result()
    except InputFault as fault:
        st.error("There is no answer to this question.")
        say.text(str(fault))
        return None


def _stop() -> None:
    state.put(_STOPPED, True)
