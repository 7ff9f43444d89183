"""Lists that share their beginnings are lists to whoever reads them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from playground.base.shared_lists import SharedList, shared_length

STEPS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.lists(st.integers(0, 3))))


@given(STEPS)
def test_each_says_what_a_copy_would_say_whoever_went_on_from_it(
    steps: list[tuple[int, int, list[int]]],
) -> None:
    copies: list[list[int]] = [[]]
    shared: list[SharedList[int]] = [SharedList()]
    for which, count, more in steps:
        which, count = which % len(copies), min(count, len(copies[which % len(copies)]))
        copies.append([*copies[which][:count], *more])
        shared.append(shared[which].extended_with(count, more))
    for copy, each in zip(copies, shared, strict=True):
        assert each == copy
        assert list(each) == copy
        assert list(reversed(each)) == copy[::-1]
        assert [each[place] for place in range(-len(copy), len(copy))] == copy + copy
        assert (each[1:-1], each[-2:], each[::-2]) == (copy[1:-1], copy[-2:], copy[::-2])
        for other in shared:
            assert shared_length(each, other) == shared_length(copy, list(other))


@given(st.lists(st.sampled_from("abc")), st.integers(0, 9), st.integers(0, 3))
def test_the_last_places_of_a_value_are_those_before_its_end(
    values: list[str], count: int, most: int
) -> None:
    items = SharedList[dict[str, str]]()
    items = items.extended_with(0, [{"role": value} for value in values[:count]])
    longer = items.extended_with(len(items), [{"role": value} for value in values[count:]])
    assert longer.last_with("role", "a", 9) == [i for i, v in enumerate(values) if v == "a"]
    found = [i for i, v in enumerate(values[:count]) if v == "a"]
    assert items.last_with("role", "a", most) == (found[-most:] if most else [])


def test_who_goes_on_while_another_does_meets_nobody() -> None:
    """As of two threads: one has looked where the list ends, and another adds to it."""
    start, others = SharedList([0]), list[SharedList[int]]()

    def more() -> Iterator[int]:
        others.append(start.extended_with(1, [3, 4]))
        yield 1
        yield 2

    assert start.extended_with(1, more()) == [0, 1, 2]
    assert others == [[0, 3, 4]]


def test_threads_that_extend_one_list_each_get_their_own() -> None:
    def extended(thread: int) -> list[SharedList[int]]:
        row = [start]
        for number in range(2_000):
            row.append(row[-1].extended_with(len(row[-1]) - number % 2, [thread]))
        return row

    start = SharedList([9])
    with ThreadPoolExecutor(4) as pool:
        for thread, row in enumerate(pool.map(extended, range(4))):
            assert len(row[-1]) == 1_001
            assert all(set(each[1:]) <= {thread} for each in row[::100])


def test_a_list_knows_what_its_copies_share_with_it() -> None:
    start = SharedList([1, 2, 3])
    longer, forked = start.extended_with(3, [4]), start.extended_with(2, [9])
    assert [each.shared(forked) for each in (start, longer, forked)] == [2, 2, 3]
    assert longer.shared(forked.extended_with(3, [4])) == 2
