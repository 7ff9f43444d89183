"""The Start page's parts: an introduction, three jobs with an example each, the samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import streamlit as st

from playground.app import navigation
from playground.app.pages import page_entry
from playground.app.shared import components, readings, say
from playground.app.shared.memoized import memoized
from playground.base import paths
from playground.base.wording import percent
from playground.cache.answers.simulation import simulate_cache
from playground.dialects import dialect_names
from playground.parsing.switches import Switches
from playground.questions.comparison import compare
from playground.sessions.loading import load_session, sample_sessions
from playground.sessions.session import Session
from playground.show.policy_bars import PricedPolicy, policy_bars
from playground.show.replays import player

Rows = list[dict[str, Any]]
_SERVERS: Final = (f"{readings.SERVER}vllm", f"{readings.SERVER}ollama")
_AROUND: Final = (6, 20)  # characters shown before and after the place where the readings differ


class Job(NamedTuple):
    """A common task: its page, its question, its answer in a line, and the rows of its example."""

    page: str
    question: str
    answer: str
    sample: str
    example: Callable[[Session], Rows]
    more: dict[str, str] = {}  # values for the address


def _compared(session: Session) -> Rows:
    """Return a session's number of characters in three dialects, and the schema facts that each
    dialect keeps."""
    columns = compare(session, ["xml", "hermes", "native"]).columns
    sizes = [sum(column.characters.values()) for column in columns]
    rows = []
    for column, size in zip(columns, sizes, strict=True):
        facts = column.schema_facts
        kept = f"{sum(fact.kept for fact in facts)} of {len(facts)} facts"
        share = size / max(sizes)
        rows.append(
            {"name": column.dialect.name, "shares": [share], "figure": f"{size:,} · {kept}"}
        )
    return rows


def _cached(session: Session) -> Rows:
    """Return the tokens read from the cache, and the cost, under two policies."""
    cells = {
        name: simulate_cache(session, dialect="native", policy=name)
        for name in ("azad", "claude-code")
    }
    titles = {"azad": "default marks", "claude-code": "last mark moves"}
    found = [PricedPolicy(name, titles[name], cell) for name, cell in cells.items()]
    rows = policy_bars(found, "")
    for row in rows:
        read = percent(cells[row["key"]].read_permille / 1000)
        row["figure"] = f"{read} read · {row['figure'].partition(' · ')[2]}"
    return rows


def _replayed(session: Session) -> Rows:
    """Return the text around the first place that three readers read differently, as each of them
    reads it."""
    recording, tools = session.recordings[0], tuple(session.tools)
    columns = (recording.dialect, *_SERVERS)
    reading = readings.Reading(recording, recording.dialect, tools, Switches(), columns)
    data = player(*reading.timelines)
    at = next(iter(data["differences"]), 0)
    first, last = max(0, at - _AROUND[0]), at + _AROUND[1]
    return [
        {
            "name": column["name"].partition(":")[0],
            "figure": "call" if any(c["ended"] is not None for c in column["calls"]) else "no call",
            "pieces": [
                [kind, data["text"][max(start, first) : min(stop, last)].replace("\n", " ")]
                for kind, start, stop in column["segments"]
                if stop > first and start < last
            ],
        }
        for column in data["columns"]
    ]


_JOBS: Final = (
    Job(
        "compare",
        "Which format suits my model?",
        "Each dialect: its characters, and schema facts kept.",
        "02-parallel-calls",
        _compared,
    ),
    Job(
        "cache",
        "Will my cache_control marks hit?",
        "Where they land, what each request reads, what it costs.",
        "12-long-tool-run",
        _cached,
    ),
    Job(
        "replay",
        "Which parser reads this reply?",
        "One stream through up to four parsers and servers.",
        "04-truncated-call",
        _replayed,
        {"columns": ",".join(("qwen3-coder", *_SERVERS))},
    ),
)
# The page that shows a sample best, by the sample's number; other samples are shown by Compare.
_BEST: Final = {"06": "cache", "07": "cache", "08": "cache", "12": "cache"} | {
    number: "replay" for number in ("04", "05", "09", "10")
}


@memoized(1)
def _samples() -> Mapping[str, Session]:
    return sample_sessions()


@memoized(8)
def _example(page: str) -> Rows:
    job = next(job for job in _JOBS if job.page == page)
    return job.example(load_session(paths.samples()[job.sample]))


def prepare() -> None:
    """Compute in advance the values that `jobs` and `gallery` show."""
    for job in _JOBS:
        _example(job.page)
    _samples()


def welcome() -> None:
    """Show a sentence on the purpose of the app, and what a dialect is."""
    st.header(
        "See exactly what your model is sent, what the cache keeps of it, "
        "and how its reply is read.",
        anchor=False,
    )
    st.markdown(
        'A **dialect** is the way a tool call is written: `<get_tides>` as XML tags, `{"name": '
        '"get_tides"}` as JSON, or the provider\'s own tool fields. This playground knows '
        f"{len(dialect_names())} of them."
    )


def jobs() -> None:
    """Show a card for each job, with a link to the page of its example."""
    with st.container(horizontal=True, key="jobs"):
        for job in _JOBS:
            with st.container(border=True, key=f"job {job.page}"):
                navigation.link(job.page, job.question, session=job.sample, **job.more)
                say.caption(job.answer)
                components.picture(_example(job.page), key=f"example {job.page}")
                title = page_entry(job.page).title
                say.caption(f"Opens {title} with the sample “{_samples()[job.sample].title}”.")


def gallery() -> None:
    """Show every sample with its purpose; its name is a link to the page that shows it best."""
    for name, session in _samples().items():
        page = _BEST.get(name[:2], "compare")
        with st.container(
            horizontal=True, key=f"sample {name}", vertical_alignment="center", gap="small"
        ):
            navigation.link(page, session.title, width=260, session=name)
            say.text(session.purpose)
