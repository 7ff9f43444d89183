"""Small things of the user's own that outlast a tab: favourites, policies, templates, drafts.

The one rule: one way of keeping. In the workspace where there is one, and else, or where the disk
refuses, as long as the tab.
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

_TAB: Final = "belongings"  # of this tab: name → its JSON


def of_this_browser(name: str) -> str:
    """Return the name under which only this browser finds a value.

    A browser is known by the token that Streamlit's server sets it against forged requests: in a
    cookie, masked anew for each page. Where there is none, as in a test, all share one name.
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
    except InputFault:  # left as it is; who changes it is told
        return None


def change(name: str, after: Callable[[Any], Any]) -> None:
    """Keep what `after` makes of the value of this name; None is nothing. In a callback only."""
    old, tab = value(name), _of_the_tab()
    if access.current().keeps_sessions:
        try:
            starred = belongings_on_disk().change(
                name, lambda kept: after(old if tab.value(name) else kept)
            )
        except InputFault as fault:
            state.hold(state.REFUSED, f"{fault}. It lives in this tab alone.")
        else:
            tab.change(name, lambda _: None)
            state.tell_starred(starred)
            return
    tab.change(name, lambda _: after(old))


def keep(name: str, new: Any) -> None:
    """Keep this value, whatever stood there."""
    change(name, lambda _: new)


def _of_the_tab() -> Belongings:
    texts = state.held(_TAB)
    if texts is None:
        state.hold(_TAB, texts := {})
    return Belongings(TabShelf(texts), scrub=False)
