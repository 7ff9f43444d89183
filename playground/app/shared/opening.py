"""Buttons that put a session from elsewhere into the workspace, and open it on a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from playground.app import state
from playground.app.shared import brought, say
from playground.base.errors import InputFault

_PAGES: Final = {"compare": "Compare", "cache": "Cache", "replay": "Replay"}


def buttons(key: str, keep: Callable[[], str]) -> None:
    """Draw a button for each page; `keep` stores the session and returns its name.

    If `keep` raises InputFault, `fault` shows it in the next run.
    """
    for page, title in _PAGES.items():
        say.button(
            f"Open in {title}", key=f"{key} {page}", on_click=open_on, args=(key, keep, page)
        )


def fault(key: str, problem: str) -> None:
    """Show `problem` and the fault of the last click, if that click could not open its session."""
    if stored := state.get(f"{key} fault"):
        say.error(problem)
        say.text(str(stored))


def open_on(key: str, keep: Callable[[], str], page: str) -> None:
    """Store the session, choose it, and go to that page; call this in a callback."""
    state.put(f"{key} fault", "")
    try:
        name = keep()
    except InputFault as found:
        state.put(f"{key} fault", str(found))
        return
    state.choose(state.SESSION, name)
    brought.set_target(page)
