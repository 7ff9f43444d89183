"""The Corpus page's parts: which corpus, what of it, one question, and the sessions behind it."""

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
from playground.app.shared.kept import kept
from playground.base.errors import InputFault
from playground.base.wording import counted, grouped, seconds
from playground.plugins.corpus import page_building as corpus_building
from playground.plugins.corpus.answers import CorpusAnswer
from playground.plugins.corpus.asking import Corpus, state_of
from playground.plugins.corpus.asking import corpus as opened
from playground.plugins.corpus.drawings import row_label, titled
from playground.plugins.corpus.filters import behind_row
from playground.plugins.corpus.questions import COLUMNS, QUESTIONS, TABLE_OF_OTHERS, question_names

ANY: Final = "any"
_HOLDS: Final = "corpus holds"
_FACETS: Final = ("agent", "version", "model", "dialect", "tool", "code")
_TABLE_OF: Final = {"tool": "calls", "code": "findings"}  # where a facet's values are listed
_COUNTED: Final = ("session", "request", "call", "finding", "break")  # a table of each
_MOST_VALUES: Final = 200
_TITLE: Final = 80  # characters of an error that stand for a session which has it
_SECONDS: Final = 10.0
_ROWS: Final = 500
_STOPPED: Final = "corpus is stopped"
_AT_ONCE: Final = 0.3  # seconds without a word that it takes a while


def chosen() -> Corpus | None:
    """Return the corpus that the page's address names; None where there is none to be seen."""
    if not access.current().may_keep:
        st.info("This server shows nothing of its own machine's files.")
        return None
    corpus_building.take_built()
    path = st.text_input(
        "Folder or address of a corpus",
        key="corpus",
        bind="query-params",
        placeholder="my-corpus",
    )
    if not path:
        corpus_building.offer()
        return None
    try:
        return _open_corpus(path, state_of(path))
    except InputFault as fault:
        st.error("This is no corpus that can be asked.")
        say.text(str(fault))
        return None


@kept(4)
def _open_corpus(path: str, built: str) -> Corpus:
    """Return an open corpus; one that was built anew is opened anew."""
    return opened(path)


def holds(corpus: Corpus) -> None:
    """Show the corpus' size, whatever is chosen below; counted once in a tab for each build."""
    key = f"{_HOLDS} {state.held('corpus')} {corpus.catalog.state}"
    if (told := state.held(key)) is None:
        counts = ", ".join(f"(SELECT count(*) FROM {thing}s)" for thing in _COUNTED)
        asked = partial(corpus.sql, f"SELECT {counts}", seconds=_SECONDS)
        if (found := _waited(corpus, "what it holds", asked)) is None:
            return
        told = ", ".join(map(counted, found.rows[0], _COUNTED))
        state.hold(key, told)
    say.caption(told)


def facets(corpus: Corpus) -> dict[str, Any]:
    """Return the filters of the answer; every choice stands in the address."""
    found: dict[str, Any] = {}
    with st.container(horizontal=True):
        for name in _FACETS:
            values = [ANY, *_values(corpus, name)]
            label = "finding" if name == "code" else name
            state.follow_url(f"corpus {name}", values)
            value = st.selectbox(
                label.capitalize(), values, format_func=say.option, key=f"corpus {name}"
            )
            state.tell_url(f"corpus {name}", value, ANY)
            if value != ANY:
                found[name] = value
    with st.container(horizontal=True):
        for name in ("since", "until"):
            found[name] = st.text_input(
                name.capitalize(),
                key=f"corpus {name}",
                bind="query-params",
                placeholder="2026-11-01",
                width=140,
            )
    return found


def _values(corpus: Corpus, name: str) -> list[str]:
    """Return the commonest values of a facet."""
    table = _TABLE_OF.get(name, "sessions")
    sql = f"SELECT {name} FROM {table} WHERE {name} <> '' GROUP BY 1 ORDER BY count(*) DESC, 1"
    asked = partial(corpus.sql, sql, limit=_MOST_VALUES, seconds=_SECONDS)
    found = _waited(corpus, f"values of {name}", asked)
    if found is None:  # what was chosen stays so
        key = f"corpus {name}"
        before = state.held(key) or state.url_values().get(key)
        return [before] if before and before != ANY else []
    return [str(row[0]) for row in found.rows]


def question() -> tuple[str, list[str]]:
    """Return the question, and the column that it is grouped by."""
    asks = question_names()
    # Most corpora have one analysis alone, and a page that is served reads no inputs.
    names = [name for name in asks if name not in ("analyses", "receipts")]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state.follow_url("asks", names)
        name = st.selectbox("Question", names, format_func=lambda each: asks[each], key="asks")
        state.tell_url("asks", name, names[0])
        asked = QUESTIONS.get(name)
        by: list[str] = []
        if asked is not None and asked.is_grouped:
            by = st.multiselect("By", asked.names, list(asked.by), key=f"by for {name}")
    return name, by


def was_stopped() -> bool:
    """Return True if the user stopped the question: none is asked then until they say so."""
    if not state.held(_STOPPED):
        return False
    state.forget(_STOPPED)
    st.info("Stopped: nothing was answered.")
    st.button("Ask again", icon=":material/refresh:", key="corpus again")
    return True


def ask(corpus: Corpus, name: str, by: list[str], narrowed: dict[str, Any]) -> CorpusAnswer | None:
    """Return the answer, within its seconds; facets that the question's table has not are left
    out.
    """
    table = QUESTIONS[name].table if name in QUESTIONS else TABLE_OF_OTHERS[name]
    own = {key: narrowed[key] for key in narrowed if _has(table, key)}
    if name == "tools":
        own.pop("tool", None)
    left = [key for key in narrowed if narrowed[key] and key not in own]
    if left:
        say.caption(f"Not narrowed by {', '.join(left)}: this question knows nothing of it.")
    asked = partial(corpus.ask, name, by, limit=_ROWS, seconds=_SECONDS, **own)
    return _waited(corpus, f"{name} by {by}", asked)


def _has(table: str, column: str) -> bool:
    return column in COLUMNS[table] or column in ("since", "until")


def show(answer: CorpusAnswer) -> None:
    """Its size and time, a figure, the table."""
    more = ", and there are more" if answer.cut else ""
    say.caption(f"{counted(len(answer.rows), 'row')} in {seconds(answer.seconds)}{more}")
    if not answer.rows:
        st.info("Nothing in this corpus answers that.")
        return
    if answer.question in QUESTIONS and answer.question != "sessions":
        st.plotly_chart(answer.figure(), key="corpus figure")
    for note in answer.notes:
        say.caption(note)
    tables.table(answer.frame().rename(columns=titled), key="corpus answer")


def trend(corpus: Corpus, name: str, narrowed: dict[str, Any]) -> None:
    """The same question week by week."""
    if name in ("drift", "shapes") or name not in QUESTIONS or not QUESTIONS[name].is_grouped:
        return
    answer = ask(corpus, name, ["week"], narrowed)
    if answer is not None and len(answer.rows) > 1:
        st.subheader("Week by week", anchor=False)
        st.plotly_chart(answer.figure(), key="corpus trend")


def behind(corpus: Corpus, answer: CorpusAnswer, by: list[str], narrowed: dict[str, Any]) -> None:
    """The sessions behind one row of the answer, and the pages that one of them opens in."""
    if answer.question == "twins":
        pairs = ((row["one"], row["other"], row["titles"]) for row in answer.records())
        _open_one(
            corpus, {id: title for *ids, both in pairs for id, title in zip(ids, both, strict=True)}
        )
        return
    if answer.question == "errors":  # each with a session that has it
        _open_one(corpus, {row["seen_in"]: row["example"][:_TITLE] for row in answer.records()})
        return
    if answer.question not in QUESTIONS:
        return
    asked = QUESTIONS[answer.question]
    if asked.name == "sessions":  # which stand above
        _opening(corpus, answer)
        return
    st.subheader("Sessions behind a row", anchor=False)
    told = max(1, len(by)) + (asked.name == "shapes")
    labels = [
        f"{number}. {row_label(answer, row, range(told))}"
        for number, row in enumerate(answer.rows[:_MOST_VALUES], 1)
    ]
    key = f"row of {asked.name} {by}"
    label = st.selectbox("Row", labels, format_func=say.shown, key=key)
    row = answer.records()[labels.index(label)]
    own = {key: narrowed[key] for key in narrowed if _has(asked.table, key)}
    filters = behind_row(asked, by, row, own)
    found = _waited(
        corpus,
        "sessions behind",
        partial(corpus.behind, asked.table, seconds=_SECONDS, **filters),
    )
    if found is None:
        return
    if not found.rows:
        st.info("No session stands behind it.")
        return
    say.caption(f"{grouped(len(found.rows))} shown{', and there are more' if found.cut else ''}")
    tables.table(found.frame().rename(columns=titled), key="corpus sessions")
    _opening(corpus, found)


def _opening(corpus: Corpus, found: CorpusAnswer) -> None:
    """The pages that one of these sessions opens in."""
    _open_one(corpus, {str(each["id"]): str(each["title"]) for each in found.records()})


def _open_one(corpus: Corpus, titles: dict[str, str]) -> None:
    """The pages that one of the sessions of these ids opens in."""
    ids = list(titles)

    def named(id: str) -> str:
        return str(say.shown(f"{id}: {titles[id]}" if titles[id] else id))

    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen_id = st.selectbox("Session", ids, format_func=named, key=f"session of {ids[0]}")
        opening.buttons("corpus", partial(_keep_session, corpus, chosen_id))
    opening.fault("corpus", "This session cannot be opened.")


def _keep_session(corpus: Corpus, id: str) -> str:
    session = corpus.session(id)
    return state.keep_session(session.title or id, session)


def _waited(corpus: Corpus, what: str, ask: Callable[[], CorpusAnswer]) -> CorpusAnswer | None:
    """Return an answer that is waited for within its seconds; a choice made meanwhile, or *Stop*,
    ends the question. What is not answered is told.
    """
    if state.held(_STOPPED):
        return None
    asking = ThreadPoolExecutor(max_workers=1)
    thread = asking.submit(get_ident).result()
    answer = asking.submit(ask)
    place = st.empty()
    try:
        wait([answer], timeout=_AT_ONCE)
        if not answer.done():
            with place.container(horizontal=True, vertical_alignment="center"):
                st.button("Stop", icon=":material/stop:", key=f"stop {what}", on_click=_stop)
                told = st.empty()
            began = time.monotonic()
            said = "The corpus is being asked"
            waiting.until(
                answer.done,
                lambda: told.caption(f"{said}: {grouped(time.monotonic() - began)} s"),
            )
    finally:
        if not answer.done():
            corpus.interrupt(thread)
        asking.shutdown(wait=False)
    place.empty()
    try:
        return answer.result()
    except InputFault as fault:
        st.error("This was not answered.")
        say.text(str(fault))
        return None


def _stop() -> None:
    state.hold(_STOPPED, True)
