"""The receipt of a file that was brought: computed when it is opened, and not before."""

from __future__ import annotations

import streamlit as st

from playground.app.shared import say
from playground.app.shared.kept import kept
from playground.sessions.loading import load_session
from playground.sessions.receipts.receipt import Receipt
from playground.show.receipt_frames import receipt, receipt_counts


def show(data: bytes, key: str) -> None:
    """Draw a fold that says what of the file is in no session."""
    fold = st.expander("What arrived of the file", key=key, on_change="rerun")
    if not fold.open:
        return
    with fold:
        if (found := _receipt(data)) is None:
            return
        say.text(found.words)
        st.dataframe(receipt_counts(found), hide_index=True)
        if found.missing:
            st.dataframe(receipt(found), hide_index=True)


@kept(4)
def _receipt(data: bytes) -> Receipt | None:
    return load_session(data).receipt
