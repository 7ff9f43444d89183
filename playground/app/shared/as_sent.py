"""The Cache page for requests as they were brought: with their own marks, in no dialect."""

from __future__ import annotations

import streamlit as st

from playground.app.shared import components, tables, widgets
from playground.app.shared.components import Picture
from playground.app.shared.kept import kept
from playground.cache.answers.as_sent import AS_SENT
from playground.cache.answers.cells import CacheSimulation
from playground.cache.answers.simulation import simulate_cache
from playground.cache.answers.wire import CacheWire, cache_on_wire
from playground.sessions.session import Session
from playground.show import frames, payloads
from playground.show.grid import grid

NAME = AS_SENT
TITLE = "As the request has them"
SOURCE = "what was brought, block by block; no dialect writes it and no policy marks it"


@kept(16)
def simulated(session: Session, apart: float | None) -> CacheSimulation:
    """Return the requests that were brought, one after another. Raises InputFault."""
    return simulate_cache(session, policy=NAME, seconds_apart=apart)


@kept(16)
def _sent(session: Session) -> CacheWire:
    return cache_on_wire(session, policy=NAME)


@kept(16)
def _picture(session: Session) -> Picture:
    return Picture(grid([payloads.sent_pane(_sent(session))]))


def marks(session: Session, is_edited: bool) -> None:
    """The marks that the last request has, and how to have others."""
    if (sent := _sent(session)).marks:
        blocks = frames.wire(sent).drop(columns="part").rename_axis("block").reset_index()
        tables.table(blocks[blocks["mark"] != ""], height="content")
    if isinstance(sent.calls[-1].body.get("cache_control"), dict):
        st.text("The request asks the provider to mark its last block: cache_control at its top.")
    st.caption(
        "Marks of the request that you brought. To set others by a click, choose another policy: "
        "it marks the messages as the shown dialect writes them."
    )
    if is_edited:
        st.caption("The request is shown as it was brought: your edits are not in it.")


def drawn(session: Session, key: str) -> None:
    """The request's blocks, the marked ones lit."""
    components.panes(_picture(session), key=key)


def table(session: Session) -> None:
    """Every block of the last request."""
    tables.table(frames.wire(_sent(session)))


def body(session: Session) -> None:
    """The last request, whole."""
    st.caption("The request as it was brought.")
    widgets.json_text("The request", _sent(session).calls[-1].body, "as brought")
