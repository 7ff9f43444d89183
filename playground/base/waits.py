"""Waits: nothing waits for somebody else without a word.

Whoever can say it (a command on standard error, a page on itself) asks for the words within
`telling_waits`. Elsewhere, in a notebook or a server's thread, nobody would read them: there a wait
for another program ends in a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

SOON: Final = 0.5  # seconds after which a wait is told
_TELL: ContextVar[Callable[[str], None] | None] = ContextVar("tell", default=None)


@contextmanager
def telling_waits(tell: Callable[[str], None]) -> Iterator[None]:
    """Within this and in this thread, `tell` is called with a line for each wait."""
    before = _TELL.set(tell)
    try:
        yield
    finally:
        _TELL.reset(before)


def tell_wait(text: str) -> bool:
    """Say for whom or for what this program waits. Return False if nobody hears it."""
    tell = _TELL.get()
    if tell is None:
        return False
    tell(text)
    return True
