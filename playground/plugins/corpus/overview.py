"""The view Overview of the page Corpus: sizes, failures, costs, breaks, and a bar's sessions."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import streamlit as st

from playground.app import state
from playground.app.shared import components, opening, say
from playground.app.shared.components import Picture
from playground.base.wording import counted
from playground.plugins.corpus import page
from playground.plugins.corpus.answers import CorpusAnswer
from playground.plugins.corpus.asking import Corpus
from playground.plugins.corpus.filters import row_filters
from playground.plugins.corpus.overview_board import (
    Overview,
    calls_board,
    overview_board,
    sessions_board,
)
from playground.plugins.corpus.questions import QUESTIONS

_CHOSEN: Final = "corpus bar"
_MOST_NAMED: Final = 5  # unreadable files
_MOST_SESSIONS: Final = 100_000  # sessions that are counted if filters are set
_QUESTIONS: Final = {  # part of an overview -> its question, and the columns that group it
    "calls": ("failures", ["dialect", "model"]),
    "total": ("tokens", []),
    "weeks": ("tokens", ["week"]),
    "lost": ("breaks", ["week"]),
    "findings": ("findings", ["code"]),
    "breaks": ("breaks", ["cause"]),
}


def show(row: Any) -> None:
    """Show a corpus at a glance; a click on a bar shows its sessions. `row` holds the fields."""
    corpus = page.choose_corpus(row)
    if corpus is None:
        st.stop()
    with row:
        filters = page.choose_filters(corpus)
    if page.was_stopped():
        st.stop()
    overview = _ask(corpus, filters)
    if overview is None:
        st.stop()
    chosen = str(state.get(_CHOSEN) or "calls:0")
    data = Picture(overview_board(overview, chosen))
    # the height that is reserved until the board is drawn depends on its longest card
    bars = max(len(overview.findings.records()), len(overview.breaks.records()))
    with st.container(key=f"overview {'low' if bars < 4 else 'high'}"):
        components.board(data, key="corpus overview", on_choose=_choose)
    if faults := corpus.catalog.faults:
        names = ", ".join(fault["name"].rpartition("/")[2] for fault in faults[:_MOST_NAMED])
        more = ", …" if len(faults) > _MOST_NAMED else ""
        say.text(f"{counted(len(faults), 'file')} could not be read: {names}{more}")
    _show_bar(corpus, overview, chosen, filters)


def _ask(corpus: Corpus, filters: dict[str, Any]) -> Overview | None:
    """Ask the questions of an overview. If one has no answer, show the reason and return None."""
    answers: dict[str, Any] = {}
    ignored: dict[str, list[str]] = {}
    for part, (name, by) in _QUESTIONS.items():
        applied, ignored[part] = page.applied_filters(name, filters)
        answer = page.wait_for(corpus, part, partial(corpus.ask, name, by, **applied))
        if answer is None:
            return None
        answers[part] = answer
    sessions = _count(corpus, filters)
    return None if sessions is None else Overview(sessions, **answers, ignored=ignored)


def _count(corpus: Corpus, filters: dict[str, Any]) -> int | None:
    if not any(filters.values()):
        query = partial(corpus.sql, "SELECT count(*) FROM sessions")
    else:
        applied, _ = page.applied_filters("sessions", filters)
        query = partial(corpus.ask, "sessions", limit=_MOST_SESSIONS, **applied)
    if (answer := page.wait_for(corpus, "sessions", query)) is None:
        return None
    return len(answer.rows) if answer.question == "sessions" else int(answer.rows[0][0])


def _choose() -> None:
    _, key, _ = components.chosen_of("corpus overview")
    state.put(_CHOSEN, key)


def _row_of(overview: Overview, chosen: str) -> tuple[str, dict[str, Any]] | None:
    """Return a bar's question, and the bar's row of the answer. The bar's key `chosen` is
    `part:value`, where the value is that of the grouping column, or `calls:index`."""
    part, _, name = chosen.partition(":")
    rows = getattr(overview, part).records()
    if part == "calls":
        return ("failures", rows[int(name)]) if int(name) < len(rows) else None
    column = _QUESTIONS[part][1][0]
    return next(((_QUESTIONS[part][0], row) for row in rows if row[column] == name), None)


def _show_bar(corpus: Corpus, overview: Overview, chosen: str, filters: dict[str, Any]) -> None:
    """Show the malformed calls of the chosen bar, or else its sessions."""
    part = chosen.partition(":")[0]
    if (question_and_row := _row_of(overview, chosen)) is None:
        return
    name, row = question_and_row
    by = _QUESTIONS[part][1]
    applied, _ = page.applied_filters(name, filters)
    narrowed = row_filters(QUESTIONS[name], by, row, applied)
    title = " · ".join(str(row[column] or f"no {column}") for column in by)
    if part == "calls" and row["malformed"]:
        shapes = {key: value for key, value in narrowed.items() if key not in ("ok", "failed")}
        answer = page.wait_for(corpus, "calls", partial(corpus.ask, "shapes", **shapes))
        note = f"{counted(row['malformed'], 'malformed call')}; up to three of each form"
        picture = calls_board(title, note, answer) if answer and answer.rows else None
    else:
        table = QUESTIONS[name].table
        answer = page.wait_for(corpus, "behind", partial(corpus.behind, table, **narrowed))
        page_name = "Replay" if part in ("calls", "findings") else "Cache"
        picture = None
        if answer and answer.rows:
            picture = sessions_board(title, _size(answer), answer, page_name)
    if picture is None:
        return
    facets = {column: row[column] for column in by if column in page.FACETS and row[column]}
    choose = partial(_open, corpus, facets)
    components.board(Picture(picture), key="corpus behind", on_choose=choose)
    opening.fault("corpus", "This session cannot be opened.")


def _size(answer: CorpusAnswer) -> str:
    return f"{counted(len(answer.rows), 'session')}{' and more' if answer.cut else ''}"


def _open(corpus: Corpus, facets: dict[str, str]) -> None:
    _, id, action = components.chosen_of("corpus behind")
    if action == "filter":
        for name, value in facets.items():
            state.forget_url(f"corpus {name}")
            state.choose(f"corpus {name}", value)
        state.forget(_CHOSEN)
    else:
        opening.open_on("corpus", partial(page.import_session, corpus, id), action or "compare")
