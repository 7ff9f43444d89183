"""Callbacks that are done to their end, however quickly the user goes on.

The one rule: Streamlit asks for the next run between two runs' scripts, and never while it takes up
what a browser sent, callbacks included.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import SafeSessionState

_LOOK: Final = "on_scriptrunner_yield"  # Streamlit's look at whether another run is asked for


def lose_no_click() -> None:
    """Make Streamlit process what a browser sent completely before it looks for the next run.

    Streamlit 1.67 looks before it processes, at each look of a callback at the session state, and
    at anything that is drawn: of two clicks within some milliseconds, as a busy server hears them,
    the first was lost, or was written to the disk and not remembered here. It has no public switch
    for this, so a method of its own is replaced; `tests/test_stale_widgets.py` fails where that
    has gone. Its look after the callbacks stays. Where `fastReruns` is on, the first click is lost
    before all this: the configuration has it off.
    """
    take_up = SafeSessionState.on_script_will_rerun
    if hasattr(take_up, "__wrapped__"):
        return

    @wraps(take_up)
    def whole(*given: Any, **named: Any) -> None:
        with _without_a_look():
            take_up(*given, **named)

    SafeSessionState.on_script_will_rerun = whole  # type: ignore[method-assign]


@contextmanager
def _without_a_look() -> Iterator[None]:
    context = get_script_run_ctx()
    if context is None or context.script_requests is None:
        yield
        return
    looks = vars(context.script_requests)
    looks[_LOOK] = lambda: None
    try:
        yield
    finally:
        del looks[_LOOK]
