"""A filter for the words that may occur in a text, by their pairs and triples of bytes.

Separate searches would go through the text once for each word; the filter goes through it only
once. Words that it does not return do not occur in the text. Words that it returns may occur, and
must be searched for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

_ENTRIES: Final = 1 << 16  # of a table: one for each pair of bytes; several triples share an entry
_PAIR: Final = 2
_TRIPLE: Final = 3
_NONE: Final = np.zeros(0, np.intp)
_FACTOR: Final = np.uint16(30_011)  # any odd number; it spreads the triples over the entries


class NgramFilter:
    """A filter for a fixed set of words, each of two bytes or more in UTF-8."""

    def __init__(self, words: Sequence[str]) -> None:
        self._short = [word for word in words if len(word.encode()) < _TRIPLE]
        self._long = [word for word in words if len(word.encode()) >= _TRIPLE]
        triples = [_triples(word.encode()) for word in self._long]
        self._pairs = np.concatenate([_NONE, *(_pairs(word.encode()) for word in self._short)])
        self._triples = np.concatenate([_NONE, *triples])
        self._starts = np.cumsum([0, *map(len, triples)])[:-1]

    def may_be_in(self, text: bytes) -> list[str]:
        """Return the words that may occur in a text."""
        words = list[str]()
        if self._short and len(text) >= _PAIR:
            may_occur = _table_of(_pairs(text))[self._pairs]
            words += [self._short[number] for number in np.flatnonzero(may_occur)]
        if self._long and len(text) >= _TRIPLE:
            triples = _table_of(_triples(text))[self._triples]
            may_occur = np.logical_and.reduceat(triples, self._starts)
            words += [self._long[number] for number in np.flatnonzero(may_occur)]
        return words


def _table_of(entries: Any) -> Any:
    # pairs and triples have a table each, because one of twice the size would be slower
    table = np.zeros(_ENTRIES, np.bool_)
    table[entries] = True
    return table


def _view(text: bytes) -> Any:
    """Return all pairs of neighbouring bytes as 16-bit numbers, without copying the text."""
    return np.ndarray((len(text) - 1,), "<u2", text, 0, (1,))


# The results are `intp`, because NumPy would convert indexes of any other type, more slowly.


def _pairs(text: bytes) -> Any:
    return _view(text).astype(np.intp)


def _triples(text: bytes) -> Any:
    pairs = _view(text)
    return (pairs[:-1] * _FACTOR + pairs[1:]).astype(np.intp)
