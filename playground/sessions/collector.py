"""Let Python's garbage collector run less often while a session is read or a command runs.

A session consists of a million values that all stay, and the collector would examine them again
and again: a fifth of an import's time. Modules stay, too; in the app it takes a third of a second
to examine them. No other module changes the collector's settings.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from threading import Lock
from typing import Final, TypeVar

Item = TypeVar("Item")

# Not off: a parser's cycles would stay for the whole file. A session of 20 MB is examined once.
_SELDOM: Final = (200_000, 20, 100)
_lock = Lock()
_readers: list[tuple[int, int, int]] = []  # thresholds that each thread in `seldom` found


@contextmanager
def seldom() -> Iterator[None]:
    """Let the collector run less often inside the block.

    All threads share the thresholds: the last thread to leave restores those that the first found,
    unless others were set meanwhile.
    """
    with _lock:
        found = gc.get_threshold()
        _readers.append(_readers[0] if _readers else found)
        gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        with _lock:
            before = _readers.pop()
            if not _readers and gc.get_threshold() == _SELDOM:
                gc.set_threshold(*before)


@contextmanager
def last_in_process() -> Iterator[None]:
    """Do what `seldom` does, for work at whose end the process ends.

    Otherwise the collector would examine everything at exit, twice: a tenth of a short command's
    time.
    """
    with seldom():
        try:
            yield
        finally:
            # at exit duckdb's binding looks for objects of its own, and reports frozen ones as lost
            if "duckdb" not in sys.modules:
                gc.freeze()


def overlook_what_is_there() -> None:
    """Freeze the values that exist, modules above all, so that they are not examined again."""
    gc.collect()
    gc.freeze()


def each_seldom(items: Generator[Item, None, None]) -> Iterator[Item]:
    """Yield the items; the collector runs less often while one is built, and as usual between."""
    with closing(items):
        while True:
            with seldom():
                item = list(islice(items, 1))  # empty at the end
            if not item:
                return
            yield item.pop()  # keep no reference: the item may be large
