"""When `make bench` fails: where a figure is worse by more than chance."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from figures import Figure, page, regressions


@pytest.mark.parametrize(
    ("values", "before", "worse"),
    [
        ((10.0, 11.0), [10.0, 1.0], False),
        ((11.9, 12.0), [10.0, 0.1], False),  # not by a fifth
        ((12.5, 12.6), [10.0, 0.1], True),
        ((12.5, 16.0), [10.0, 0.1], False),  # its rounds differ by more
        ((12.5, 12.6), [10.0, 3.0], False),  # those of the last line do
        ((5.0, 5.1), [10.0, 0.1], False),
    ],
)
def test_a_figure_is_worse_by_a_fifth_and_by_more_than_its_rounds_differ(
    values: tuple[float, ...], before: list[float], worse: bool
) -> None:
    figure = Figure("live", "an argument", "the floor", 100, values)
    assert bool(regressions([figure], {"live": before})) is worse
    assert regressions([figure], {"another": before}) == []


def test_the_page_says_of_every_target_whether_it_is_met() -> None:
    figures = [
        Figure("live", "an argument", "the floor", target, (10.0, 12.0), 0.5)
        for target in (20, 5, None)
    ]
    rows = page(figures, "2026-11-22T00:00:00", ("idle", "idle")).splitlines()[-3:]
    assert rows == [
        "| live | an argument | 0.5 s | 10 x the floor | 20: met | 2 |",
        "| live | an argument | 0.5 s | 10 x the floor | 5: not met | 2 |",
        "| live | an argument | 0.5 s | 10 x the floor |  | 2 |",
    ]
