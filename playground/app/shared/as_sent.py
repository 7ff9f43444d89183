"""The Cache page's parts for imported requests, which have their own marks and no dialect."""

from __future__ import annotations

import streamlit as st

from playground.app.shared import tables, widgets
from playground.app.shared.memoized import memoized
from playground.cache.answers.as_sent import AS_SENT
from playground.cache.answers.cells import CacheSimulation
from playground.cache.answers.simulation import simulate_cache
from playground.cache.answers.wire import CacheWire, cache_on_wire
from playground.sessions.session import Session
from playground.show import rows

NAME = AS_SENT
SOURCE = "the imported request, block by block; no dialect writes it and no policy marks it"


@memoized(16)
def simulated(session: Session, seconds_apart: float | None) -> CacheSimulation:
    """Simulate the imported requests, one after another. Raises InputFault."""
    return simulate_cache(session, policy=NAME, seconds_apart=seconds_apart)


@memoized(16)
def _sent(session: Session) -> CacheWire:
    return cache_on_wire(session, policy=NAME)


def table(session: Session) -> None:
    """Show every block of the last request."""
    tables.table(rows.wire(_sent(session)))


def body(session: Session) -> None:
    """Show the complete last request."""
    st.caption("The request as it was imported.")
    widgets.json_text("The request", _sent(session).calls[-1].body, "as brought")
