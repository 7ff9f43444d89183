"""Let Python's garbage collector run less often during an import, a comparison or a command.

A session may have a million values. Examining them again and again would take a fifth of the time
of an import or a comparison, and in the app, examining modules would take a third of a second. No
other module of the core changes the collector's settings.
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

# The collector is not turned off, because a parser's reference cycles would stay in memory. With
# these thresholds, it runs once over a session of 20 MB.
_SELDOM: Final = (200_000, 20, 100)
_lock = Lock()
_readers: list[tuple[int, int, int]] = []  # the original thresholds, once for each thread inside


@contextmanager
def seldom() -> Iterator[None]:
    """Let the collector run less often inside the block. If it never runs, or already so seldom,
    the thresholds stay as they are. All threads share the thresholds. The last thread to leave
    restores the original ones, unless they were changed meanwhile."""
    with _lock:
        found = gc.get_threshold()
        _readers.append(_readers[0] if _readers else found)
        if 0 < found[0] < _SELDOM[0]:
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
    """Let the collector run less often in the last work of a process, and skip its run at exit,
    which takes a tenth of a short command's time."""
    with seldom():
        try:
            yield
        finally:
            # at exit duckdb's binding searches for its objects, and reports frozen ones as lost
            if "duckdb" not in sys.modules:
                gc.freeze()


def overlook_what_is_there() -> None:
    """Freeze all existing values, mainly modules, so that the collector skips them."""
    gc.collect()
    gc.freeze()


def each_seldom(items: Generator[Item, None, None]) -> Iterator[Item]:
    """Yield the items; the collector runs less often while an item is built, and as usual in
    between."""
    with closing(items):
        while True:
            with seldom():
                item = list(islice(items, 1))  # [] at the end
            if not item:
                return
            yield item.pop()  # keep no reference: the item may be large
