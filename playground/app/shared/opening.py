"""Buttons that open a session which lies elsewhere: in the workspace, and on a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from playground.app import state
from playground.app.shared import brought, say
from playground.base.errors import InputFault

_PAGES: Final = {"compare": "Compare", "cache": "Cache", "replay": "Replay"}


def buttons(key: str, keep: Callable[[], str]) -> None:
    """A button for each page; `keep` puts the session into the workspace and gives its name there,
    or raises InputFault, which is then told below."""
    for page, title in _PAGES.items():
        say.button(
            f"Open in {title}", key=f"{key} {page}", on_click=open_on, args=(key, keep, page)
        )


def fault(key: str, problem: str) -> None:
    """Return why the session of the last click was not opened, if so."""
    if held := state.held(f"{key} fault"):
        say.error(problem)
        say.text(str(held))


def open_on(key: str, keep: Callable[[], str], page: str) -> None:
    """Put the session into the workspace, choose it, and go to that page: within a callback."""
    state.hold(f"{key} fault", "")
    try:
        name = keep()
    except InputFault as found:
        state.hold(f"{key} fault", str(found))
        return
    state.choose(state.SESSION, name)
    brought.set_target(page)
