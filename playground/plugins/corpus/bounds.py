"""Limits on a question's rows and seconds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import Final

from playground.base.errors import InputFault

MOST_ROWS: Final = 100_000
# Seconds between two interruptions. They are repeated, because DuckDB may ignore an early one.
_INTERRUPT_PAUSE: Final = 0.05


def check_limit(limit: int) -> int:
    """Return the limit. Raises InputFault if the limit is not an integer from 1 to MOST_ROWS."""
    if not isinstance(limit, int) or not 0 < limit <= MOST_ROWS:
        raise InputFault(f"a limit of {limit!r}", expected=f"1 to {MOST_ROWS:,} rows")
    return limit


@contextmanager
def time_limit(seconds: float, interrupt: Callable[[], None], where: str) -> Iterator[None]:
    """Call `interrupt` if the `with` block takes longer than `seconds`.

    If the block raises InputFault after that, the error says instead that the time was over. Raises
    InputFault if `seconds` is not positive and finite.
    """
    if not (isfinite(seconds) and seconds > 0):
        raise InputFault(f"{seconds} seconds for a question", expected="more than 0")
    done, late = threading.Event(), threading.Event()

    def interrupt_late() -> None:
        if done.wait(min(seconds, threading.TIMEOUT_MAX)):
            return
        late.set()
        interrupt()
        while not done.wait(_INTERRUPT_PAUSE):
            interrupt()

    watch = threading.Thread(target=interrupt_late, daemon=True)
    watch.start()
    try:
        yield
    except InputFault as fault:
        if not late.is_set():
            raise
        problem = f"the question was ended after {seconds:g} s"
        expected = "a narrower filter, or more seconds"
        raise InputFault(problem, where=where, expected=expected) from fault
    finally:
        done.set()
        watch.join()  # otherwise it could interrupt the next question
