"""Prepare the first page while the browser still loads, and then LiteLLM, which takes seconds.

Nothing is decided here. It does early what the first run of a page would import and compute; what
fails here fails again where it is told.
"""

from __future__ import annotations

from importlib import import_module
from threading import Event, Thread
from typing import Final

from playground.app.pages import PAGES
from playground.sessions.collector import overlook_what_is_there

page_drawn: Final = Event()  # set by the first run that comes to its end


def begin() -> None:
    """In a thread of its own: the server answers meanwhile."""
    Thread(target=_prepare, name="warming", daemon=True).start()


def _prepare() -> None:
    for entry in PAGES:
        import_module(entry.parts or f"playground.app.{entry.name}")
    import_module("playground.app.start").prepare()
    page_drawn.wait()  # two threads share one interpreter: the first page would take twice as long
    import_module("playground.app.payload").prepare()
    import_module("playground.app.compare").prepare()
    overlook_what_is_there()
