"""The Live page's parts: the runs of the proxy, their sessions, what was expected and billed."""

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
from playground.sessions.entries import starred_in
from playground.sessions.workspaces import on_disk

_RUN: Final = "run"
_CHOSEN: Final = "passed"  # the session of the run that is looked at
_MOST_RUNS: Final = 30
START: Final = "playground proxy -- claude"


def chosen_run() -> Path | None:
    """Return the run that is looked at, the newest at first; None where there is none to be
    seen.
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
    """Return the run's ledger as it stands by now."""
    return ledger.read_ledger(run)


def headline(seen: Ledger) -> str:
    """Return the run in a sentence."""
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
    """Return the sessions of the run; the exchanges of the one that is chosen."""
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
    """One session, request by request."""
    with st.container(horizontal=True):
        opening.buttons("live", partial(_keep_session, run, passed))
    opening.fault("live", "This session cannot be opened yet.")
    st.plotly_chart(live_frames.strip(passed), key="live strip")
    wide = {"breaks": st.column_config.TextColumn(width="medium")}  # a cause, and where
    tables.table(live_frames.requests(passed), columns=wide, height="content")
    _findings(passed)


def follow(run: Path) -> None:
    """While the proxy of this run still writes: wait for what comes, and draw the page anew."""
    if not ledger.is_growing(run):
        return
    place, size = st.empty(), ledger.written(run)
    waiting.until(
        lambda: ledger.written(run) != size or not ledger.is_growing(run),
        lambda: place.caption("The proxy is running: what passes is shown as it comes."),
    )
    st.rerun()


def _findings(passed: list[Passed]) -> None:
    """Show the findings request by request; a session's text is never markup."""
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
    state.tell_starred(starred_in(on_disk().text(name)))
    state.tab().look(name)
    return name
