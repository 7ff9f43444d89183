"""Rows of numbers from which random examples are made, so that a failing example can be made
smaller.

Each number is a choice. Equal rows make equal examples; shorter rows, or rows with lower numbers,
make smaller ones. To make an example smaller, choices are left out, set to 0 or lowered, as long as
the example still fails.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

Item = TypeVar("Item")
_SIZES: Final = (8, 4, 3, 2, 1)  # the numbers of neighbouring choices that are left out at once


class Choices:
    """A source of choices: first the numbers in `given`, then random numbers of `rng`, or zeros
    if `rng` is None.

    `made` holds all choices so far.
    """

    def __init__(self, given: Sequence[int] = (), rng: random.Random | None = None) -> None:
        self._given, self._rng = given, rng
        self.made: list[int] = []

    def below(self, limit: int) -> int:
        """Return a number from 0 to `limit` - 1; 0 makes the smallest example."""
        index = len(self.made)
        if index < len(self._given):
            chosen = min(self._given[index], limit - 1)
        else:
            chosen = self._rng.randrange(limit) if self._rng else 0
        self.made.append(chosen)
        return chosen

    def of(self, options: Sequence[Item]) -> Item:
        """Return one of the options. The first option should be the plainest, because small
        examples use it."""
        return options[self.below(len(options))]

    def several(self, make: Callable[[], Item], most: int, usual: int = 3) -> list[Item]:
        """Return up to `most` items, about `usual` on average. Before each item, a choice may end
        the list."""
        items: list[Item] = []
        while len(items) < most and self.below(usual + 1):
            items.append(make())
        return items


def smallest(
    fails: Callable[[Choices], object | None], given: Sequence[int], most: int = 400
) -> list[int]:
    """Try at most `most` smaller rows; return the smallest found whose example still fails.

    `fails` makes the example and returns None if it does not fail.
    """
    best, count = list(given), 0
    better = True
    while better and count < most:
        better = False
        for smaller in _smaller(best):
            count += 1
            choices = Choices(smaller)
            if fails(choices) is not None and _size(choices.made) < _size(best):
                best, better = choices.made, True
                break
            if count >= most:
                break
    return best


def _size(row: Sequence[int]) -> tuple[int, Sequence[int]]:
    return len(row), row


def _smaller(row: list[int]) -> Iterator[list[int]]:
    """Yield smaller rows to try; those that leave out the most come first."""
    for size in _SIZES:
        for start in range(0, len(row) - size + 1):
            yield row[:start] + row[start + size :]
    for index, chosen in enumerate(row):
        if chosen:
            for lower in dict.fromkeys((0, chosen // 2, chosen - 1)):
                yield [*row[:index], lower, *row[index + 1 :]]
