"""Callbacks that are done to their end, however quickly the user goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from streamlit.runtime.scriptrunner import get_script_run_ctx


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Around what a callback does: no request for the next run ends it half way.

    Streamlit ends a run at any look at the session state once another run is asked for, in
    callbacks too: two quick actions of a user, and the first would be lost, or written to the disk
    and not remembered here. It has no public switch for this.
    """
    context = get_script_run_ctx()
    if context is None:
        yield
        return
    guarded = context.session_state
    may_end = guarded._yield_callback
    object.__setattr__(guarded, "_yield_callback", lambda: None)
    try:
        yield
    finally:
        object.__setattr__(guarded, "_yield_callback", may_end)
