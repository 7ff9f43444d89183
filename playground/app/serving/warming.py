"""Prepare the first page while the browser still loads, and then LiteLLM, which takes seconds.

The thread imports modules, computes what a page's first run needs, and in the end freezes all
values for the garbage collector. An error ends only its step; the page reports the same error.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from threading import Event, Lock, Thread
from typing import Any, Final

from playground.app.pages import PAGES, PageEntry
from playground.sessions.collector import overlook_what_is_there

page_drawn: Final = Event()  # set when the first run ends
_importing: Final = Lock()


def begin() -> None:
    """Start preparing in a thread of its own, while the server answers."""
    Thread(target=_prepare, name="warming", daemon=True).start()


def import_parts(entry: PageEntry) -> Any:
    """Return the module with the parts of a page or view, imported by one thread at a time.

    If one thread imports a package and another one a module of it, Python may give the second
    thread a module that is not complete, and its page fails with an ImportError.
    """
    with _importing:
        return import_module(entry.parts or f"playground.app.{entry.name}")


def _prepare() -> None:
    for entry in PAGES:
        with suppress(Exception):
            import_parts(entry)
    for name in ("start", "payload", "compare"):
        with suppress(Exception):
            import_module(f"playground.app.{name}").prepare()
        # Only one thread runs at a time: without this wait the first page would take twice as long.
        page_drawn.wait()
    overlook_what_is_there()
