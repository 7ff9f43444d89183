"""Callbacks that run to their end, even if the user's next action follows at once.

After `lose_no_click`, Streamlit never starts the next run while it processes a browser's message,
callbacks included.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import SafeSessionState

_YIELD_CHECK: Final = "on_scriptrunner_yield"  # Streamlit's check for another requested run


def lose_no_click() -> None:
    """Make Streamlit check for the next run only after all that a browser sent is processed.

    Streamlit 1.67 checks earlier: whenever a callback reads the session state, and whenever
    anything is drawn. If a busy server received two clicks together, the first click was lost, or
    was written to the disk but not to the session state. Streamlit has no switch for this, so one
    of its methods is replaced; `tests/test_stale_widgets.py` fails if that method goes. The check
    after the callbacks stays. The configuration turns `fastReruns` off, because with it the first
    click is lost even earlier.
    """
    original = SafeSessionState.on_script_will_rerun
    if hasattr(original, "__wrapped__"):
        return

    @wraps(original)
    def without_checks(*args: Any, **named: Any) -> None:
        with _without_check():
            original(*args, **named)

    SafeSessionState.on_script_will_rerun = without_checks  # type: ignore[method-assign]


@contextmanager
def _without_check() -> Iterator[None]:
    context = get_script_run_ctx()
    if context is None or context.script_requests is None:
        yield
        return
    attributes = vars(context.script_requests)
    attributes[_YIELD_CHECK] = lambda: None
    try:
        yield
    finally:
        del attributes[_YIELD_CHECK]
