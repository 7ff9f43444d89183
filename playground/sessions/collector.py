"""The garbage collector: while a session is read or a command runs it comes seldom, and as ever
again after that.

A session is built of a million values that all stay, and the collector looks at every one of them
again and again: a fifth of the time of an import. A command loads modules, which all stay, too; in
the app it would look at all of them, a third of a second each time. This is the one place that
touches it.
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

# Never off: a parser's cycles would stay for the whole file. All that a session of 20 MB holds is
# looked at once, when it is there.
_SELDOM: Final = (200_000, 20, 100)
_lock = Lock()
_readers: list[tuple[int, int, int]] = []  # the thresholds that each found, of several threads


@contextmanager
def seldom() -> Iterator[None]:
    """The thresholds are the process's: the last one to leave puts back what the first one found,
    unless somebody has set others meanwhile."""
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
            # duckdb's binding looks itself at what is left of it then, and reports it as lost
            if "duckdb" not in sys.modules:
                gc.freeze()


def overlook_what_is_there() -> None:
    """Freeze what lives as long as the process, modules above all, so that it is not examined
    again.
    """
    gc.collect()
    gc.freeze()


def each_seldom(items: Generator[Item, None, None]) -> Iterator[Item]:
    """Yield the items, each made while the collector comes seldom; not so while the caller has
    one.
    """
    with closing(items):
        while True:
            with seldom():
                made = list(islice(items, 1))  # none at the end
            if not made:
                return
            yield made.pop()  # not held here: a large one may go before the next is read
