"""Reports of waits: no code waits for another program silently.

Code that can show reports (a command on standard error, a page) receives them inside
`telling_waits`. In a notebook or a server's thread nobody would read them, so a wait for another
program ends in a fault there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

SOON: Final = 0.5  # seconds after which a wait is reported
_TELL: ContextVar[Callable[[str], None] | None] = ContextVar("tell", default=None)


@contextmanager
def telling_waits(tell: Callable[[str], None]) -> Iterator[None]:
    """Call `tell` with a line for each wait, inside the block and in this thread."""
    token = _TELL.set(tell)
    try:
        yield
    finally:
        _TELL.reset(token)


def tell_wait(text: str) -> bool:
    """Report what this program waits for. Return False if nobody receives the report."""
    tell = _TELL.get()
    if tell is None:
        return False
    tell(text)
    return True
