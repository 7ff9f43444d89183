"""Boxes for replies of one model, and the proposed form of the calls in these replies."""

from __future__ import annotations

from typing import Final

import streamlit as st

from playground.app import state
from playground.app.shared import say, tables, widgets
from playground.app.shared.memoized import memoized
from playground.base.errors import InputFault
from playground.base.wording import counted
from playground.dialects import dialect_names
from playground.dialects.files import plain_dialect
from playground.plugins.own_dialects import declaring
from playground.plugins.own_dialects.derivation import Proposal, propose_dialect

_PROPOSED: Final = "own dialect proposed"
_BOXES: Final = 3


def boxes() -> None:
    """Show boxes for replies of one model, and what the proposed form reads in these replies."""
    columns = st.columns(_BOXES)
    for number, column in enumerate(columns, 1):
        column.text_area(f"Reply {number}", key=_pasted(number), height=120)
    st.button("Propose a form", type="primary", on_click=_from_replies)
    if replies := state.get(_PROPOSED):
        _show(_proposal(tuple(replies)))


def _pasted(number: int) -> str:
    return f"own pasted {number}"


def _from_replies() -> None:
    texts = [str(state.get(_pasted(number)) or "") for number in range(1, _BOXES + 1)]
    replies = [text for text in texts if text.strip()]
    state.put(_PROPOSED, None)
    try:
        proposal = _proposal(tuple(replies))
    except InputFault as fault:
        state.put(declaring.FAULT, str(fault))
        return
    state.put(_PROPOSED, replies)
    document = plain_dialect(proposal.dialect)
    name = document["name"]
    declaring.take(document | {"name": f"my-{name}" if name in dialect_names() else name})


@memoized(16, spinner="Looking for what all calls share …")
def _proposal(replies: tuple[str, ...]) -> Proposal:
    """Return the proposed form of the calls in these replies. Raises InputFault."""
    return propose_dialect(replies)


def _show(proposal: Proposal) -> None:
    """Show how many calls the form reads in each reply, and the text that it does not read."""
    if proposal.registered:
        say.text(f"These calls are read by: {', '.join(proposal.registered)}.")
    for number, reading in enumerate(proposal.readings, 1):
        left = sum(len(text.strip()) for _, text in reading.texts)
        count = counted(len(reading.calls), "call")
        say.text(f"Reply {number}: {count}, {left} characters left as text.")
    rows = [
        {"reply": number, "character": start, "left as text": text}
        for number, reading in enumerate(proposal.readings, 1)
        for start, text in reading.texts
    ]
    if rows:
        tables.table(rows, height="content")
    widgets.show_findings(proposal.findings(), "about the proposal")
