"""A user's small values that outlast a tab: favourites, policies, templates, drafts.

All are stored in the same way: in the workspace if there is one. Otherwise, or if the disk refuses,
they are stored in the tab until it is closed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final

import streamlit as st

from playground.app import state
from playground.app.serving import access
from playground.base.errors import InputFault
from playground.sessions.workspaces import Belongings, TabShelf, belongings_on_disk

_TAB: Final = "belongings"  # the tab's own values: names and JSON


def of_this_browser(name: str) -> str:
    """Return a name for a value that only this browser finds.

    Streamlit's server puts a token against forged requests into a cookie, with a new mask for each
    page. The token identifies the browser. Without one, as in a test, all browsers share one name.
    """
    _, _, rest = str(st.context.cookies.get("_streamlit_xsrf", "")).partition("|")
    mask, _, token = rest.partition("|")
    try:
        masks, (hidden, since) = bytes.fromhex(mask), token.split("|")
        plain = bytes(b ^ masks[at % len(masks)] for at, b in enumerate(bytes.fromhex(hidden)))
    except (ValueError, ZeroDivisionError):
        return name
    return f"{name} of {hashlib.sha256(plain + since.encode()).hexdigest()[:12]}"


def value(name: str) -> Any:
    """Return the plain value that is stored under this name, or None."""
    found = _of_the_tab().value(name)
    if found is not None or not access.current().keeps_sessions:
        return found
    try:
        return belongings_on_disk().value(name)
    except InputFault:  # the broken file stays unchanged; `change` reports the fault
        return None


def change(name: str, after: Callable[[Any], Any]) -> None:
    """Store `after(value)` under this name; None removes the value. For callbacks only."""
    old, tab = value(name), _of_the_tab()
    if access.current().keeps_sessions:
        try:
            starred = belongings_on_disk().change(
                name, lambda stored: after(old if tab.value(name) else stored)
            )
        except InputFault as fault:
            state.put(state.REFUSED, f"{fault}. It is stored in this tab only.")
        else:
            tab.change(name, lambda _: None)
            state.tell_starred_secrets(starred)
            return
    tab.change(name, lambda _: after(old))


def keep(name: str, new: Any) -> None:
    """Store this value under this name, replacing any other."""
    change(name, lambda _: new)


def _of_the_tab() -> Belongings:
    texts = state.get(_TAB)
    if texts is None:
        state.put(_TAB, texts := {})
    return Belongings(TabShelf(texts), scrub=False)
