"""The view Live of the page Corpus: the proxy's runs, their sessions, predictions and bills."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import pandas as pd
import streamlit as st

from playground.app import state
from playground.app.serving import access
from playground.app.shared import components, opening, say, tables, waiting
from playground.app.shared.components import Picture
from playground.base.wording import counted, dollars
from playground.plugins.proxy import drawings as live_frames
from playground.plugins.proxy import ledger
from playground.plugins.proxy.ledger import Ledger, LoggedExchange
from playground.plugins.proxy.storage import session_name, session_of, store_session
from playground.sessions.entries import starred_in
from playground.sessions.workspaces import on_disk
from playground.show.board import board

_RUN: Final = "run"
_CHOSEN: Final = "passed"  # the key of the session that the user chose
_MOST_RUNS: Final = 30
START: Final = "playground proxy -- claude"


def show(row: Any) -> None:
    """Show the proxy's traffic by session, with predictions next to bills."""
    with row:
        run = chosen_run()
    if run is None:
        _explain()
        st.stop()
    log = read(run)
    sentence, _, note = headline(log).partition(". ")
    breaks = sum(bool(exchange.breaks) for exchange in log.exchanges)
    figures = [
        (f"{len(log.sessions):,}", "sessions", ""),
        (f"{len(log.exchanges):,}", "requests", ""),
        (f"{breaks:,}", "cache breaks", "bad" if breaks else ""),
    ]
    data = board(f"{sentence.removesuffix('.')}.", note, figures)
    components.board(Picture(data), key="live head")
    if log.sessions:
        session(run, sessions(log))
    follow(run)


def _explain() -> None:
    if not access.current().may_keep:
        st.info("This server shows nothing of its own machine's recordings.")
        return
    st.info("No proxy run yet. Start one:")
    commands = f"{START}\nplayground proxy --port 8788    # and its address as the base URL"
    components.verbatim(commands, "the commands", key="proxy commands")
    st.button("Reload", icon=":material/refresh:")


def chosen_run() -> Path | None:
    """Let the user choose a run, by default the newest, and return it. Return None if there is no
    run, or if this user may not see any.
    """
    runs = {run.name: run for run in ledger.runs()[:_MOST_RUNS] if access.current().may_keep}
    if not runs:
        return None
    state.follow_url(_RUN, list(runs))
    name = st.selectbox("Run of the proxy", list(runs), key=_RUN)
    state.tell_url(_RUN, name, next(iter(runs)))
    return runs[name]


def read(run: Path) -> Ledger:
    """Return the run's current ledger."""
    return ledger.read_ledger(run)


def headline(run: Ledger) -> str:
    """Summarise a run in a few sentences: its size, and the cost of cache breaks."""
    breaks = [forecast for exchange in run.exchanges if (forecast := exchange.breaks)]
    lost = sum(forecast["lost"] for forecast in breaks)
    text = f"{counted(len(run.exchanges), 'exchange')} in {counted(len(run.sessions), 'session')}"
    states = [exchange.expected["state"] for exchange in run.exchanges if exchange.expected]
    unknown = states.count("unknown-provider")
    if unknown:
        which = "their model" if unknown == len(states) else f"the model of {unknown} of them"
        text = f"{text}. No caching rules are known for {which}, so no breaks are predicted"
    if not breaks:
        return f"{text}." if unknown else f"{text}. Nothing breaks."
    nano = sum(forecast["lost_nano"] or 0 for forecast in breaks)
    price = f" ({dollars(nano / 1e9)})" if nano else ""
    times = counted(len(breaks), "time")
    return f"{text}. The cache breaks {times}: about {lost:,} tokens are not read{price}."


def sessions(run: Ledger) -> list[LoggedExchange]:
    """Show the run's sessions, and return the exchanges of the session that the user chooses."""
    _table(live_frames.sessions(run))
    causes = live_frames.causes(run)
    if len(causes):
        st.header("What breaks the cache", divider="gray", anchor=False)
        _table(causes)
    names = list(reversed(run.sessions))
    state.follow_url(_CHOSEN, names)
    name = st.selectbox("Session", names, format_func=say.option, key=_CHOSEN)
    state.tell_url(_CHOSEN, name, names[0])
    return run.sessions[name]


def session(run: Path, exchanges: list[LoggedExchange]) -> None:
    """Show one session, request by request."""
    with st.container(horizontal=True):
        opening.buttons("live", partial(_store_session, run, exchanges))
    opening.fault("live", "This session cannot be opened yet.")
    st.plotly_chart(live_frames.strip(exchanges), key="live strip")
    wide = {"breaks": st.column_config.TextColumn(width="medium")}  # a cause and a place
    _table(live_frames.requests(exchanges), wide)
    _findings(exchanges)


def _table(frame: pd.DataFrame, columns: Mapping[str, Any] | None = None) -> None:
    tables.table(frame.rename(columns=live_frames.TITLES), columns=columns, height="content")


def follow(run: Path) -> None:
    """If this run's proxy still writes, wait for a new line. Then draw the page again."""
    if not ledger.is_growing(run):
        return
    place, size = st.empty(), ledger.size_bytes(run)
    waiting.until(
        lambda: ledger.size_bytes(run) != size or not ledger.is_growing(run),
        lambda: place.caption("The proxy is running: new traffic is shown as it arrives."),
    )
    st.rerun()


def _findings(exchanges: list[LoggedExchange]) -> None:
    rows = [
        {
            "request": exchange.expected["number"],
            "finding": finding["code"],
            "severity": finding["severity"],
            "what": finding["message"],
        }
        for exchange in exchanges
        if exchange.expected
        for finding in exchange.expected["findings"]
    ]
    if rows:
        tables.table(rows, height="content")


def _store_session(run: Path, exchanges: list[LoggedExchange]) -> str:
    name = store_session(
        on_disk(), session_name(run, exchanges[0].session), session_of(run, exchanges)
    )
    state.tell_starred_secrets(starred_in(on_disk().text(name)))
    state.tab().look(name)
    return name
