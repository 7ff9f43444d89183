"""Lists that continue one another and share their common beginning in memory.

A session's requests are such lists, and so are the figures computed along them. Copies would make
time and memory quadratic in the number of requests. Several threads may read and extend the same
list.
"""

from __future__ import annotations

import json
import marshal
from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from operator import indexOf, is_
from threading import Lock
from typing import Any, Final, TypeVar, overload

Item = TypeVar("Item")


class KeyIndexedList(Sequence[Item]):
    """A list with an index: it finds items by the value of a key."""

    __slots__ = ()

    @abstractmethod
    def last_with(self, key: str, value: Any, count: int) -> list[int]:
        """Return the indexes of the last `count` items whose `key` has this value, in order."""


class SharedList(KeyIndexedList[Item]):
    """A list that cannot be changed. It may share its items with a longer list."""

    __slots__ = ("_items", "_length", "_places", "_source")

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items = list(items)
        self._length = len(self._items)
        self._places = _Places(self._length)
        # the index of the list from which the first items were copied, and their number
        self._source: tuple[_Places | None, int] = None, 0

    def extended_with(self, count: int, more: Iterable[Item]) -> SharedList[Item]:
        """Return a list of the first `count` items and `more`."""
        more, ends = more if type(more) is list else list(more), self._places.ends
        try:
            ends.remove(count)  # atomic, so only one thread goes on and adds its items
        except ValueError:  # another list has already added its items here
            items = self._items[:count]
            items += more
            places = _Places(len(items))
            places.take(self._places, count)
            return self._with_items(items, len(items), places, (self._places, count))
        self._items.extend(more)
        extended = self._with_items(self._items, count + len(more), self._places, self._source)
        ends.append(extended._length)
        return extended

    @classmethod
    def _with_items(
        cls, items: list[Item], length: int, places: _Places, source: tuple[_Places | None, int]
    ) -> SharedList[Item]:
        new = cls.__new__(cls)
        new._items, new._length, new._places, new._source = items, length, places, source
        return new

    def shared(self, other: Sequence[Item]) -> int:
        """Return a lower bound on the number of shared leading items, without comparing them."""
        if not isinstance(other, SharedList):
            return 0
        source, count = other._source
        if source is self._places:
            return min(self._length, count)
        return min(self._length, other._length) if other._places is self._places else 0

    def last_with(self, key: str, value: Any, count: int) -> list[int]:
        places = self._places.of(self._items, key, value)
        end = bisect_left(places, self._length)
        return places[max(0, end - count) : end]

    def place_after(self, value: Any, stop: int) -> int:
        """Return the insertion point of `value`, after equal items, among the first `stop` items.

        The items must be sorted. `bisect` on this list itself would be slower: it calls
        `__getitem__` for each item that it compares.
        """
        return bisect_right(self._items, value, 0, min(stop, self._length))

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        length = self._length
        if not isinstance(index, slice):
            if 0 <= index < length:  # the most frequent case
                return self._items[index]
            return self._at(index)
        start, stop, step = index.start, index.stop, index.step
        if step is None and (stop is None or 0 <= stop <= length) and (start is None or start >= 0):
            return self._items[start : length if stop is None else stop]
        start, stop, step = index.indices(length)
        if step == 1:
            return self._items[start:stop]
        return [self._items[place] for place in range(start, stop, step)]

    def _at(self, index: int) -> Item:
        """Return the item at a negative index."""
        length = self._length
        if not -length <= index < 0:
            raise IndexError(index)
        return self._items[index + length]

    def __iter__(self) -> Iterator[Item]:
        return islice(self._items, self._length)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SharedList) and self.shared(other) == self._length == len(other):
            return True
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it equals lists, which have no hash

    def __repr__(self) -> str:
        return repr(self[:])


class _Places:
    """An index of items by key and value, and their number, for lists with the same `_items`."""

    __slots__ = ("_by_key", "_lock", "ends")

    def __init__(self, end: int) -> None:
        self.ends = [end]  # holds the number of items, and nothing while a thread adds items
        self._by_key: dict[str, tuple[int, dict[Any, list[int]]]] = {}
        self._lock = Lock()

    def take(self, other: _Places, count: int) -> None:
        """Copy the indexed places of another list's first `count` items."""
        with other._lock:
            for key, (indexed, places) in other._by_key.items():
                places_by_value = {
                    value: indexes[: bisect_left(indexes, count)]
                    for value, indexes in places.items()
                }
                self._by_key[key] = min(indexed, count), places_by_value

    def of(self, items: list[Any], key: str, value: Any) -> list[int]:
        """Return the indexes of the items whose `key` has this value; index new items first."""
        count, places = self._by_key.get(key, (0, {}))
        if count >= len(items):  # an earlier call has indexed all items
            return places.get(value, [])
        with self._lock:
            count, places = self._by_key.get(key, (0, {}))
            for index in range(count, len(items)):
                places.setdefault(items[index].get(key), []).append(index)
            self._by_key[key] = len(items), places
            return places.get(value, [])


def shared_length(first: Sequence[Any], second: Sequence[Any], start: int = 0) -> int:
    """Return how many leading items both lists share; those before `start` are known to be equal.

    The search compares slices whose lengths double and then halve. That is fast, because Python
    compares identical objects by their identity.
    """
    if isinstance(first, SharedList):
        start = max(start, first.shared(second))
    most, step = min(len(first), len(second)), 1
    if start >= most:
        return most
    first, second = first[start:most], second[start:most]
    if first == second:  # true for most requests
        return most
    if first[:-1] == second[:-1]:  # often: only the last item differs
        return most - 1
    at = 0
    while first[at : at + step] == second[at : at + step]:
        at, step = at + step, step * 2
    while step > 1:
        step //= 2
        if first[at : at + step] == second[at : at + step]:
            at += step
    return start + at


def alike_length(first: Sequence[Any], second: Sequence[Any], start: int = 0) -> int:
    """Return the number of leading items that both lists share and that are written the same way.

    For Python, dicts with another order of fields are equal, and so are 1 and True; for a provider
    they are not. The items before `start` are known to be the same objects.
    """
    if isinstance(first, SharedList):
        start = max(start, first.shared(second))
    identical = indexOf(chain(map(is_, first[start:], second[start:]), (False,)), False)
    stop = shared_length(first, second, start + identical)
    for index in range(start + identical, stop):
        before, after = first[index], second[index]
        if before is not after and written(before) != written(after):
            return index
    return stop


def written(value: Any) -> bytes:
    """Return a key that is equal for equal JSON values with their fields in the same order."""
    try:  # `marshal` keeps types and order as JSON does, in a fifth of the time
        return marshal.dumps(value, _NO_REFERENCES)
    except ValueError:  # a value that is not plain JSON
        return json.dumps(value, default=repr).encode()


_NO_REFERENCES: Final = 2  # the newest version of marshal that writes equal values as equal bytes
