"""The Cache page for requests as they were brought: with their own marks, in no dialect."""

from __future__ import annotations

import streamlit as st

from playground.questions.cache.as_sent import AS_SENT, simulate_sent
from playground.questions.cache.simulation import CacheSimulation
from playground.questions.cache.wire import CacheWire, cache_as_sent
from playground.sessions.session import Session
from playground.show import frames, payloads
from playground.show.grid import grid
from playground.ui.shared import components, widgets
from playground.ui.shared.components import Picture
from playground.ui.shared.kept import kept

NAME = AS_SENT
TITLE = "As the request has them"
SOURCE = "what was brought, block by block; no dialect writes it and no policy marks it"


@kept(16)
def simulated(session: Session, apart: float | None) -> CacheSimulation:
    """The requests that were brought, one after another. Raises InputFault."""
    return simulate_sent(session, apart)


@kept(16)
def _sent(session: Session) -> CacheWire | None:
    return cache_as_sent(session)


@kept(16)
def _picture(session: Session) -> Picture:
    sent = _sent(session)
    return Picture(grid([payloads.sent_pane(sent)] if sent else []))


def marks(session: Session, is_edited: bool) -> None:
    """The marks that the last request has, and how to have others."""
    if (sent := _sent(session)) and sent.marks:
        blocks = frames.wire(sent).drop(columns="part").rename_axis("block").reset_index()
        st.dataframe(blocks[blocks["mark"] != ""], hide_index=True, height="content")
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
    if sent := _sent(session):
        st.dataframe(frames.wire(sent), hide_index=True)


def body(session: Session) -> None:
    """The last request, whole."""
    st.caption("The request as it was brought.")
    if sent := _sent(session):
        widgets.json_text("The request", sent.calls[-1].body, "as brought")
