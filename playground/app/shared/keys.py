"""Keyboard keys: to pages, to *Import*, for a page's components, undo, and the list of all keys.

Streamlit's own shortcuts are not used: those with modifiers also act in fields and under an open
dialog.
"""

from __future__ import annotations

from typing import Final

import streamlit as st

from playground.app import navigation, state
from playground.app.pages import ON_TOP, PageEntry, listed
from playground.app.shared import components, history, widget_changes

_KEYS: Final = "keys"
_OFF: Final = "keys are off"
_SWITCH: Final = "switch of the keys"
_LETTERS: Final = {"cache": "a"}  # for pages whose first letter belongs to another page
_PAGES: Final = {
    f"g{_LETTERS.get(entry.name, entry.name[0])}": entry for entry in listed()[:ON_TOP]
}
_STEPS: Final = {"undo": history.undo, "redo": history.redo}
RUN: Final = "run"  # Ctrl+Enter, on a page that listens for it
_LISTED: Final = {
    "i": "import something of yours",
    "?": "this list",
    "s": "the list of sessions",
    "y": "copy a link to this view",
    "Ctrl+Z, Ctrl+Shift+Z": "undo or redo an edit or the choice of a model",
    "Ctrl+Enter": "run in all columns; in a text field, keep the text",
    "/": "search in the columns",
    "Space": "play or pause a replay",
    "[ and ]": "the previous finding, the next finding",
    "f": "the first difference of a replay, and the next one",
    "← and →": "one step of a replay, or one request, back or forward",
    "Home and End": "the first step of a replay, the last one",
}


def listen(entry: PageEntry) -> str:
    """Act on the pressed key before the page runs, and return it: some keys open a dialog."""
    off = bool(state.get(_OFF))
    wanted = [] if off else [*_PAGES, "i", "?", "s", "y"]
    pressed = components.keys([*wanted, *_STEPS, RUN], entry.name, key=_KEYS, on_pressed=_take_step)
    if off:
        return ""  # the browser did not know yet that the keys are switched off
    if pressed in _PAGES:
        navigation.go(_PAGES[pressed].name)
    return pressed


def _take_step() -> None:
    """Undo or redo before anything is drawn, while the list of models can still be set."""
    step = _STEPS.get(str(state.component_value(_KEYS, "pressed")))
    if step:
        step(state.chosen_name())


def is_pressed(key: str) -> bool:
    """Return True if this key was pressed for this run."""
    return bool(state.component_value(_KEYS, "pressed") == key)


def show() -> None:
    """Show the action of each key, and a switch for the one-letter keys."""
    pages = {f"g then {key[1]}": entry.title for key, entry in _PAGES.items()}
    st.table([{"key": key, "does": what} for key, what in {**pages, **_LISTED}.items()])
    # in a callback, because Escape after the click may close the dialog before a rerun
    st.toggle(
        "Single-key shortcuts",
        value=not state.get(_OFF),
        key=_SWITCH,
        on_change=widget_changes.of(_SWITCH, _switch, shown=not state.get(_OFF)),
    )
    st.caption("None of them acts while you type or while a dialog is open.")


def _switch(on: bool) -> None:
    state.put(_OFF, not on)
