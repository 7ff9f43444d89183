"""The receipt of an imported file, computed when its fold is opened."""

from __future__ import annotations

import streamlit as st

from playground.app.shared import say, tables
from playground.app.shared.memoized import memoized
from playground.sessions.loading import read_sessions, receipt_of_sessions
from playground.sessions.receipts.receipt import Receipt
from playground.sessions.source import Source
from playground.show import rows, rule_rows


def show(name: str, data: bytes, key: str) -> None:
    """Draw a fold with what of the file is in no session."""
    fold = st.expander("What arrived of the file", key=key, on_change="rerun")
    if not fold.open:
        return
    with fold:
        found = _receipt(name, data)
        say.text(found.words)
        tables.table(rule_rows.receipt_counts(found))
        say.text(found.compared)
        if found.missing:
            tables.table(rows.receipt(found))


@memoized(4)
def _receipt(name: str, data: bytes) -> Receipt:
    loaded = [*read_sessions(Source(name, data))]
    return receipt_of_sessions(Source(name, data), loaded)
