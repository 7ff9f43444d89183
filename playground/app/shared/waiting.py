"""Waiting for background work within a run of the page.

A run that waits ends at any action of the user. A fragment that polls would start further runs, and
the start of a run can drop what Streamlit 1.67 is handling for the browser. In about 120 loads of a
page, this silently lost a file during its upload three times.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import streamlit as st

from playground.llm.library import loaded

_SECONDS: Final = 0.2
_GONE: Final = 5.0  # seconds without a connection, after which a tab counts as closed
LOADING: Final = "LiteLLM takes a few seconds to load."


@st.cache_resource(show_spinner=False)
def background() -> ThreadPoolExecutor:
    """Return the one thread in which pages use LiteLLM, so that none waits for it to load.

    Several threads would wait for each other at LiteLLM's import lock.
    """
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="background")


def tab_watch() -> Callable[[], bool]:
    """Return a function that returns True if the tab of this run is open. Any thread may call it.

    A tab whose connection has been lost for only a few seconds still counts as open.
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
    """Call `show` repeatedly until `ready` returns True.

    `show` must write to the page, because only then Streamlit can interrupt the run.
    """
    while not ready():
        show()
        time.sleep(_SECONDS)


def until_loaded(ready: Callable[[], bool], text: str = LOADING) -> None:
    """Wait with a bar and a line of text, and remove both afterwards."""
    place = st.empty()
    until(ready, lambda: place.progress(loaded(), text))
    place.empty()
