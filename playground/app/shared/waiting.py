"""Waiting for the background within a run of the page.

A run that waits gives way to anything the user does. A fragment that polls starts runs of its own
instead, and a run that starts can drop what Streamlit 1.67 has on its way to the browser: a file
that was just being uploaded was lost so without a word, three times in some 120 loads of a page.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import streamlit as st

from playground.llm.library import loaded

_SECONDS: Final = 0.2
_GONE: Final = 5.0  # seconds
LOADING: Final = "LiteLLM takes a few seconds to load."


@st.cache_resource(show_spinner=False)
def background() -> ThreadPoolExecutor:
    """Return the one thread that does what needs LiteLLM, so that no page waits for it to load.

    One is enough: LiteLLM's import lock would make several wait for each other.
    """
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="background")


def tab_is_open() -> Callable[[], bool]:
    """Return True if the tab of this run of the page is open; may be called from any thread.

    A tab that is gone for some seconds only, as when the network fails, counts as open.
    """
    from streamlit.runtime import exists, get_instance
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx()
    if context is None or not exists():
        return lambda: True
    seen = [time.monotonic()]

    def is_open() -> bool:
        now = time.monotonic()
        if get_instance().is_active_session(context.session_id):
            seen[0] = now
        return now - seen[0] < _GONE

    return is_open


def until(ready: Callable[[], bool], show: Callable[[], object]) -> None:
    """Call `show` again and again until `ready`.

    `show` must write to the page: that is where a run can be interrupted.
    """
    while not ready():
        show()
        time.sleep(_SECONDS)


def until_loaded(ready: Callable[[], bool], text: str = LOADING) -> None:
    """Wait with a bar and a line of text in this place, which are gone afterwards."""
    place = st.empty()
    until(ready, lambda: place.progress(loaded(), text))
    place.empty()
