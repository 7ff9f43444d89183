"""Which of many words may stand in a text: its pairs and triples of bytes are noted in one pass.

Looking for each word alone costs as many passes as there are words. What is not told here is not
there; what is may be there, and has to be looked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

_PAIRS: Final = 1 << 16  # each pair of bytes has its place; triples share as many behind them
_FACTORS: Final = (np.uint16(30_011), np.uint16(241))  # odd: which triples share one is chance


class WordPresence:
    """Asks texts for the same words, each of two bytes at least, in UTF-8."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        places = [_places(word.encode()) for word in words]
        self._places = np.concatenate(places)
        self._starts = np.cumsum([0, *map(len, places[:-1])])

    def may_be_in(self, text: bytes) -> list[str]:
        """The words that may stand in a text."""
        data = np.frombuffer(text, np.uint8).astype(np.uint16)
        seen = np.zeros(2 * _PAIRS, np.bool_)
        seen[_pairs(data)] = True
        seen[_triples(data)] = True
        found = np.logical_and.reduceat(seen[self._places], self._starts)
        return [self.words[number] for number in np.flatnonzero(found)]


def _places(word: bytes) -> Any:
    """The places of a word's triples; of a word of two bytes that of the pair."""
    data = np.frombuffer(word, np.uint8).astype(np.uint16)
    return _triples(data) if len(word) > 2 else _pairs(data)


def _pairs(data: Any) -> Any:
    return (data[:-1] << np.uint16(8)) | data[1:]


def _triples(data: Any) -> Any:
    first, second = _FACTORS
    codes = data[:-2] * first + data[1:-1] * second + data[2:]
    return codes.astype(np.int64) + _PAIRS
