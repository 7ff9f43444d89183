"""The view of shortened histories on the page Cache."""

from __future__ import annotations

from concurrent.futures import Future

import streamlit as st

from playground.app.shared import policies, say, tables, waiting
from playground.app.shared.cache_asked import CacheQuestion
from playground.app.shared.memoized import memoized
from playground.base.errors import InputFault
from playground.dialects.marks.own_policies import OwnPolicy
from playground.plugins.savings.compacted import CompactionWhatIf
from playground.plugins.savings.compaction import compaction
from playground.plugins.savings.curves import curve
from playground.plugins.savings.rows import compaction_rows, cut_rows
from playground.sessions.session import Session


@memoized(16)
def _compaction(
    session: Session,
    dialect: str,
    seconds_apart: float | None,
    marks_policy: str,
    own: OwnPolicy | None,
    limit: int,
    keep: int,
    summary: int,
) -> Future[CompactionWhatIf]:
    return waiting.background().submit(
        compaction,
        session,
        dialect=dialect,
        marks=policies.chosen(marks_policy, own),
        limit=limit,
        keep=keep,
        summary=summary,
        seconds_apart=seconds_apart,
    )


def show(question: CacheQuestion) -> None:
    """Show the controls, the headline, the curves, the policies, and a policy's cuts."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        limit = st.number_input(
            "Limit, tokens",
            0,
            2_000_000,
            key="shorten-limit",
            bind="query-params",
            help="A history that is longer than this is shortened. "
            "0 means 60 % of the longest request.",
        )
        keep = st.number_input(
            "Keep",
            0,
            1_000,
            key="shorten-keep",
            bind="query-params",
            help="The newest messages or results that stay. 0 means each policy's default.",
        )
        summary = st.number_input(
            "Summary, tokens", 1, 100_000, 1_000, key="shorten-summary", bind="query-params"
        )
    dialect = question.dialect or "native"
    asked = (
        question.session,
        dialect,
        question.apart,
        question.policy,
        policies.find(question.policy),
    )
    future = _compaction(*asked, int(limit), int(keep), int(summary))
    waiting.until_loaded(future.done, "Simulating every policy …")
    try:
        found = future.result()
    except InputFault as fault:
        say.text(str(fault))
        return
    say.info(found.headline.replace("$", "\\$"))
    for note in found.notes:
        say.caption(note)
    st.plotly_chart(curve(found), key="compaction curve")
    tables.table(compaction_rows(found), height="content")
    cut = [row for row in found.rows if row.cuts]
    if cut:
        names = {row.policy.name: row for row in cut}
        name = st.selectbox("Cuts of", list(names), key="cuts of", bind="query-params")
        tables.table(cut_rows(names[name or cut[0].policy.name]))
    st.caption(
        "Each shortened request is written out and simulated; a summary is a request of its own. "
        "Whether the model does its work as well with a shorter history is not measured."
    )
