"""Callbacks that are done to their end, however quickly the user goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from streamlit.runtime.scriptrunner import get_script_run_ctx

_LOOK: Final = "on_scriptrunner_yield"  # Streamlit's look at whether another run is asked for


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Around what a callback does: no request for the next run ends it half way.

    Streamlit ends a run at any look at the session state, and at anything that is drawn, once
    another run is asked for, in callbacks too: two quick actions of a user, and the first would be
    lost, or written to the disk and not remembered here. It has no public switch for this.
    """
    context = get_script_run_ctx()
    if context is None or context.script_requests is None:
        yield
        return
    looks = vars(context.script_requests)
    before = looks.get(_LOOK)
    looks[_LOOK] = lambda: None
    try:
        yield
    finally:
        if before is None:
            del looks[_LOOK]
        else:
            looks[_LOOK] = before
