"""Callbacks that are done to their end, however quickly the user goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import SafeSessionState

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


def lose_no_click() -> None:
    """From now on what a browser sent is taken up before the next run is looked for.

    Streamlit 1.67 looks before it takes up: of two clicks within some milliseconds, as a busy
    server hears them, the first was lost. Its own look behind it stays. Where `fastReruns` is on,
    the first is lost before that, too: the configuration has it off.
    """
    take_up = SafeSessionState.on_script_will_rerun
    if hasattr(take_up, "__wrapped__"):
        return

    @wraps(take_up)
    def whole(*given: Any, **named: Any) -> None:
        with uninterrupted():
            take_up(*given, **named)

    SafeSessionState.on_script_will_rerun = whole  # type: ignore[method-assign]
