"""The parts of the page Live: the proxy's runs, their sessions, and predictions beside bills."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import streamlit as st

from playground.app import state
from playground.app.serving import access
from playground.app.shared import opening, say, tables, waiting
from playground.base.wording import counted, dollars
from playground.plugins.proxy import drawings as live_frames
from playground.plugins.proxy import ledger
from playground.plugins.proxy.ledger import Ledger, Passed
from playground.plugins.proxy.storage import keep, session_name, session_of
from playground.sessions.workspaces import on_disk

_RUN: Final = "run"
_CHOSEN: Final = "passed"  # the key of the session that the user chose
_MOST_RUNS: Final = 30
START: Final = "playground proxy -- claude"


def chosen_run() -> Path | None:
    """Let the user choose a run and return it; the newest is chosen first.

    Return None, after saying why, if there is no run or this user may see none.
    """
    if not access.current().may_keep:
        st.info("This server shows nothing of its own machine's recordings.")
        return None
    found = {run.name: run for run in ledger.runs()[:_MOST_RUNS]}
    if not found:
        st.info("Nothing has passed the proxy yet. It stands between an agent and its provider:")
        say.text(f"{START}\nplayground proxy --port 8788    # and its address as the base URL")
        st.button("Look again", icon=":material/refresh:")
        return None
    state.follow_url(_RUN, list(found))
    name = st.selectbox("Run of the proxy", list(found), key=_RUN)
    state.tell_url(_RUN, name, next(iter(found)))
    return found[name]


def read(run: Path) -> Ledger:
    """Return the run's ledger as it is now."""
    return ledger.read_ledger(run)


def headline(seen: Ledger) -> str:
    """Summarise a run in a few sentences: its size, and what cache breaks cost."""
    breaks = [found for each in seen.passed if (found := each.breaks)]
    lost = sum(each["lost"] for each in breaks)
    told = f"{counted(len(seen.passed), 'exchange')} in {counted(len(seen.sessions), 'session')}"
    states = [each.expected["state"] for each in seen.passed if each.expected]
    unknown = states.count("unknown-provider")
    if unknown:
        which = "their model" if unknown == len(states) else f"the model of {unknown} of them"
        told = f"{told}. No caching rules are known for {which}: whether it breaks is not predicted"
    if not breaks:
        return f"{told}." if unknown else f"{told}. Nothing breaks."
    nano = sum(each["lost_nano"] or 0 for each in breaks)
    price = f" ({dollars(nano / 1e9)})" if nano else ""
    times = counted(len(breaks), "time")
    return f"{told}. The cache breaks {times}: about {lost:,} tokens are not read{price}."


def sessions(seen: Ledger) -> list[Passed]:
    """Show the run's sessions, and return the exchanges of the one that the user chooses."""
    tables.table(live_frames.sessions(seen), height="content")
    causes = live_frames.causes(seen)
    if len(causes):
        st.header("What breaks the cache", divider="gray", anchor=False)
        tables.table(causes, height="content")
    names = list(reversed(seen.sessions))
    state.follow_url(_CHOSEN, names)
    name = st.selectbox("Session", names, format_func=say.option, key=_CHOSEN)
    state.tell_url(_CHOSEN, name, names[0])
    return seen.sessions[name]


def session(run: Path, passed: list[Passed]) -> None:
    """Show one session, request by request."""
    with st.container(horizontal=True):
        opening.buttons("live", partial(_keep_session, run, passed))
    opening.fault("live", "This session cannot be opened yet.")
    st.plotly_chart(live_frames.strip(passed), key="live strip")
    wide = {"breaks": st.column_config.TextColumn(width="medium")}  # a cause, and where
    tables.table(live_frames.requests(passed), columns=wide, height="content")
    _findings(passed)


def follow(run: Path) -> None:
    """While the proxy of this run still writes, wait for a new line and draw the page again."""
    if not ledger.is_growing(run):
        return
    place, size = st.empty(), ledger.written(run)
    waiting.until(
        lambda: ledger.written(run) != size or not ledger.is_growing(run),
        lambda: place.caption("The proxy is running: what passes is shown as it comes."),
    )
    st.rerun()


def _findings(passed: list[Passed]) -> None:
    """Show the findings of each request."""
    rows = [
        {
            "request": each.expected["number"],
            "finding": found["code"],
            "severity": found["severity"],
            "what": found["message"],
        }
        for each in passed
        if each.expected
        for found in each.expected["findings"]
    ]
    if rows:
        tables.table(rows, height="content")


def _keep_session(run: Path, passed: list[Passed]) -> str:
    name = keep(on_disk(), session_name(run, passed[0].session), session_of(run, passed))
    state.tab().look(name)
    return name
