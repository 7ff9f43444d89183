"""The Start page's parts: the three jobs, each with a live example, and the samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import streamlit as st

from playground.app import navigation, state
from playground.app.shared import components, say
from playground.app.shared.kept import kept
from playground.base import paths
from playground.base.wording import counted, grouped, percent
from playground.cache.answers.simulation import simulate_cache
from playground.questions.comparison import compare
from playground.questions.timeline import replay
from playground.sessions.loading import load_session, sample_sessions
from playground.sessions.session import Session

_CARD: Final = 310  # pixels: three in a row, or as many as there is room for


class Job(NamedTuple):
    """A job that people come for: its page, its question, and two lines about a sample."""

    page: str
    question: str
    sample: str
    example: Callable[[Session], list[str]]


def _compared(session: Session) -> list[str]:
    """Return what two dialects take to say the same."""
    columns = compare(session, ["xml", "native"]).columns
    sizes = [(column.dialect.name, sum(column.characters.values())) for column in columns]
    return [f"{name:8}{size:>6,} characters" for name, size in sizes]


def _cached(session: Session) -> list[str]:
    """Return what the default marks read from the cache in two dialects, and its share of full
    price.
    """
    cells = [simulate_cache(session, dialect=name, policy="azad") for name in ("native", "xml")]
    return [
        f"{cell.dialect:7}{percent(cell.read_permille / 1000):>5} read, "
        f"costs {grouped(cell.cost_permille / 1000, 2)}"
        for cell in cells
    ]


def _replayed(session: Session) -> list[str]:
    """Return what the right dialect and a wrong one read of one reply."""
    recording = session.recordings[0]
    found = [replay(recording, name, session.tools) for name in (recording.dialect, "json")]
    return [
        f"{each.dialect:8}{counted(len(each.result.tool_calls), 'call')} read" for each in found
    ]


_JOBS: Final = (
    Job("compare", "Which dialect should tell my model?", "02-parallel-calls", _compared),
    Job("cache", "Will my cache marks ever hit?", "12-long-tool-run", _cached),
    Job("replay", "Who reads this reply, who loses what?", "02-parallel-calls", _replayed),
)


@kept(1)
def _samples() -> dict[str, Session]:
    return sample_sessions()


@kept(8)
def _example(page: str) -> str:
    job = next(job for job in _JOBS if job.page == page)
    return "\n".join(job.example(load_session(paths.samples()[job.sample])))


def prepare() -> None:
    """Compute what `jobs` and `gallery` show, before they are asked to."""
    for job in _JOBS:
        _example(job.page)
    _samples()


def jobs() -> None:
    """A card a job: its question, an example that was computed just now, two ways on."""
    own = state.working_session()
    row = st.container(horizontal=True)
    for job in _JOBS:
        with row, st.container(border=True, key=f"job {job.page}", width=_CARD):
            st.markdown(f"**{job.question}**")
            components.verbatim(_example(job.page), "", key=f"example {job.page}")
            st.page_link(
                navigation.page(job.page),
                label="See the example",
                query_params={"session": job.sample},
            )
            if state.is_own(own.name):
                st.page_link(
                    navigation.page(job.page),
                    label="Open yours",
                    query_params={"session": say.option(own.name)},
                )


def gallery() -> None:
    """Every sample with what it is for, and the pages that show it best."""
    row = st.container(horizontal=True)
    for name, session in _samples().items():
        with row, st.container(border=True, key=f"sample {name}", width=_CARD):
            st.markdown(f"**{session.title}**")
            say.text(session.purpose)
            page = "replay" if session.recordings and len(session.messages) < 2 else "compare"
            st.page_link(navigation.page(page), label="Open", query_params={"session": name})
