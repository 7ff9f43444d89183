"""Keys of one letter: to pages, to *Bring*, to what a page's components do, and the list of them.

Not Streamlit's shortcuts: with modifiers those fire inside fields, and under an open dialog.
"""

from __future__ import annotations

from typing import Final

import streamlit as st

from playground.app import navigation, state
from playground.app.pages import ON_TOP, PAGES, PageEntry
from playground.app.shared import bring, changes, components

_OFF: Final = "keys are off"
_SWITCH: Final = "switch of the keys"
_PAGES: Final = {str(number): entry for number, entry in enumerate(PAGES[:ON_TOP], 1)}
_INSIDE: Final = {
    "/": "search in the panes",
    "Space": "play or pause a replay",
    "[ and ]": "the finding before, the next finding",
    "← and →": "one step of a replay back or on",
    "Home and End": "its first step, its last step",
}


def listen(entry: PageEntry) -> None:
    """Act on the key that was pressed. It moves at once, before the rest of the page runs."""
    off = bool(state.held(_OFF))
    wanted = "" if off else f"{''.join(_PAGES)}b?"
    pressed = components.keys(wanted, entry.name, key="keys")
    if off:
        return  # a key that was pressed before the browser knew
    if pressed in _PAGES:
        navigation.go(_PAGES[pressed].name)
    elif pressed == "b":
        bring.dialog(entry.name)
    elif pressed == "?":
        show()


@st.dialog("Keys", on_dismiss="rerun")
def show() -> None:
    """Show what the keys do, with a switch to turn them off."""
    pages = {number: entry.title for number, entry in _PAGES.items()}
    listed = {**pages, "b": "bring something of yours", "?": "this list", **_INSIDE}
    st.table([{"key": key, "does": what} for key, what in listed.items()])
    # by a callback: Escape right after the click ends the dialog before it is drawn again
    st.toggle(
        "Keys of one letter are off",
        value=bool(state.held(_OFF)),
        key=_SWITCH,
        on_change=changes.of(_SWITCH, _switch, shown=bool(state.held(_OFF))),
    )
    st.caption("None of them acts while you type or while a dialog is open.")


def _switch(off: bool) -> None:
    state.hold(_OFF, off)
