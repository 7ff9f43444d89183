"""Lists of which each goes on where another ended: what they begin with is kept once.

A session's requests are such lists, and so is all that is counted along them: copied for each, a
session of n requests would cost n²/2, in time and in memory. Several threads may ask for the same
one, and go on from it.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from threading import Lock
from typing import Any, TypeVar, overload

Item = TypeVar("Item")


class KnowsPlaces(Sequence[Item]):
    """A list that can say where its items have a value without examining each of them."""

    __slots__ = ()

    @abstractmethod
    def last_with(self, key: str, value: Any, count: int) -> list[int]:
        """Return the last places where an item's key has this value, at most so many, in their
        order.
        """


class SharedList(KnowsPlaces[Item]):
    """A list that nobody can change: so many of the first items of a longer one, perhaps."""

    __slots__ = ("_items", "_length", "_places")

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items = list(items)
        self._length = len(self._items)
        self._places = _Places()

    def extended_with(self, count: int, more: Iterable[Item]) -> SharedList[Item]:
        """Return the first `count` of these, and others after them."""
        more = list(more)  # made before the others wait
        with self._places.lock:
            if count == len(self._items):
                self._items.extend(more)
                found: SharedList[Item] = SharedList.__new__(SharedList)
                found._items, found._places = self._items, self._places
                found._length = count + len(more)
                return found
        return SharedList([*self._items[:count], *more])  # somebody has gone on from here already

    def shared(self, other: Sequence[Item]) -> int:
        """Return a lower bound on the number of shared leading items, without comparing them."""
        if not isinstance(other, SharedList) or other._items is not self._items:
            return 0
        return min(self._length, other._length)

    def last_with(self, key: str, value: Any, count: int) -> list[int]:
        found = self._places.of(self._items, key, value)
        end = bisect_left(found, self._length)
        return found[max(0, end - count) : end]

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        length = self._length
        if isinstance(index, slice):
            start, stop, step = index.indices(length)
            if step == 1:
                return self._items[start:stop]
            return [self._items[place] for place in range(start, stop, step)]
        if 0 <= index < length:  # as most are
            return self._items[index]
        if not -length <= index < 0:
            raise IndexError(index)
        return self._items[index + length]

    def __iter__(self) -> Iterator[Item]:
        return islice(self._items, self._length)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SharedList) and self.shared(other) == self._length == len(other):
            return True
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it equals lists, which have none

    def __repr__(self) -> str:
        return repr(self[:])


class _Places:
    """The places where items have a value at a key, found once for all lists that share them."""

    __slots__ = ("_by_key", "lock")

    def __init__(self) -> None:
        self._by_key: dict[str, tuple[int, dict[Any, list[int]]]] = {}
        self.lock = Lock()

    def of(self, items: list[Any], key: str, value: Any) -> list[int]:
        with self.lock:
            seen, places = self._by_key.get(key, (0, {}))
            for index in range(seen, len(items)):
                places.setdefault(items[index].get(key), []).append(index)
            self._by_key[key] = len(items), places
            return places.get(value, [])
