"""Which of many words may stand in a text: its pairs and triples of bytes are noted in one pass.

Looking for each word alone costs as many passes as there are words. What is not told here is not
there; what is may be there, and has to be looked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

_PLACES: Final = 1 << 16  # each pair of bytes has its own; triples share as many others
_TRIPLE: Final = 3
_NONE: Final = np.zeros(0, np.uint16)
_FACTORS: Final = (np.uint16(30_011), np.uint16(241))  # odd: which triples share one is chance


class WordPresence:
    """Asks texts for the same words, each of two bytes at least, in UTF-8."""

    def __init__(self, words: Sequence[str]) -> None:
        self._short = [word for word in words if len(word.encode()) < _TRIPLE]
        self._long = [word for word in words if len(word.encode()) >= _TRIPLE]
        triples = [_triples(_codes(word.encode())) for word in self._long]
        self._pairs = _pairs(_codes("".join(self._short).encode()))[::2]
        self._triples = np.concatenate([_NONE, *triples])
        self._starts = np.cumsum([0, *map(len, triples)])[:-1]

    def may_be_in(self, text: bytes) -> list[str]:
        """The words that may stand in a text."""
        data, found = _codes(text), list[str]()
        if self._short:
            there = _seen(_pairs(data))[self._pairs]
            found += [self._short[number] for number in np.flatnonzero(there)]
        if self._long:
            triples = _seen(_triples(data))[self._triples]
            there = np.logical_and.reduceat(triples, self._starts)
            found += [self._long[number] for number in np.flatnonzero(there)]
        return found


def _codes(text: bytes) -> Any:
    return np.frombuffer(text, np.uint8).astype(np.uint16)


def _seen(places: Any) -> Any:
    """Which places are there: two such tables are quicker than one of twice the size, which would
    be new memory for each text."""
    seen = np.zeros(_PLACES, np.bool_)
    seen[places] = True
    return seen


def _pairs(data: Any) -> Any:
    return (data[:-1] << np.uint16(8)) | data[1:]


def _triples(data: Any) -> Any:
    first, second = _FACTORS
    return data[:-2] * first + data[1:-1] * second + data[2:]
