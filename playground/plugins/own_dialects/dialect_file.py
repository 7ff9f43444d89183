"""The buttons for the file of the edited dialect: save, delete, restore, download.

The declaration stays on the page, even if its file is deleted.
"""

from __future__ import annotations

import json
from typing import Final

import streamlit as st

from playground.app import state
from playground.app.serving import access
from playground.app.shared import say
from playground.base.errors import InputFault
from playground.dialects.files import parse_dialect
from playground.plugins.own_dialects import declaring
from playground.plugins.own_dialects.declaring import DeclarationDraft
from playground.plugins.own_dialects.storage import keep_dialect, remove_dialect, restore_dialect
from playground.recordings.scrubbing import Tally
from playground.sessions.workspaces.dialects import kept_text

_DONE: Final = "own dialect said"
_REMOVED: Final = "own dialect removed"


def buttons(draft: DeclarationDraft) -> None:
    """Show the buttons that save the dialect in the folder that every command reads, delete its
    file or bring it back, and download it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if access.current().keeps_sessions:
            label = "Save again" if draft.seen else "Save in the workspace"
            say.button(
                label,
                type="primary",
                icon=":material/save:",
                disabled=draft.fault is not None,
                on_click=_save,
                help="Every page and command then finds it by its name.",
            )
            if draft.seen is not None:
                st.button("Delete", icon=":material/delete:", on_click=_remove)
        say.download_button(
            "Download", draft.text, f"{draft.dialect.name}.json", icon=":material/download:"
        )
    if removed := state.get(_REMOVED):
        say.text(f"Removed: no page or command has the dialect {removed} now.")
        st.button("Undo delete", icon=":material/undo:", on_click=_restore, args=(str(removed),))
    if message := state.get(_DONE):
        say.text(str(message))
        state.forget(_DONE)


def _remove() -> None:
    """Remove the file of the dialect; the declaration stays on the page."""
    seen = declaring.draft().seen
    if seen is None:  # the second click of a double click
        return
    name = parse_dialect(seen, "own").name
    try:
        remove_dialect(name, seen)
    except InputFault as fault:
        state.put(declaring.FAULT, str(fault))
    else:
        declaring.saved(None)
        state.put(_REMOVED, name)


def _restore(name: str) -> None:
    state.forget(_REMOVED)
    try:
        text = restore_dialect(name)
    except InputFault as fault:
        state.put(declaring.FAULT, str(fault))
    else:
        declaring.take(json.loads(text), text)
        state.put(_DONE, f"Brought back: {name} is among the dialects of every page and command.")


def _save() -> None:
    """Save the current document, even if the clicked button was drawn for an earlier one."""
    state.forget(_REMOVED)
    draft = declaring.draft()
    name = str(draft.document.get("name"))
    seen = draft.seen if draft.seen is not None and kept_text(name) is not None else None
    tally = Tally()
    try:
        declaring.saved(keep_dialect(draft.document, seen, tally))
    except InputFault as fault:
        state.put(declaring.FAULT, str(fault))
    else:
        state.put(_DONE, f"Saved: {name} is among the dialects of every page and command.")
        state.tell_starred_secrets(tally.counts)
