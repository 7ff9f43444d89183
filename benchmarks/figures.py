"""A figure of `make bench`: what is measured, beside what, its target; the page and the verdict.

A ratio compares with something that is measured in the same run, so that another machine, or a busy
one, changes little.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

ROUNDS: Final = 5
WORSE: Final = 1.2


@dataclass(frozen=True)
class Figure:
    """One figure: what is measured, what it is compared with, and the target, if there is one."""

    name: str
    what: str
    beside: str
    target: float | None
    values: tuple[float, ...]  # one a round
    seconds: float = 0.0  # the best round's, of ours
    most: float | None = None  # seconds, where the target is a time

    @property
    def best(self) -> float:
        return min(self.values)

    @property
    def spread(self) -> float:
        return max(self.values) - min(self.values)


def cpu(action: Callable[[], Any]) -> float:
    start = time.process_time()
    action()
    return max(time.process_time() - start, 1e-6)


def ratio(
    name: str,
    what: str,
    beside: str,
    target: float | None,
    rounds: Iterator[tuple[float, float]],
    most: float | None = None,
) -> Figure:
    pairs = list(rounds)
    values = tuple(ours / other for ours, other in pairs)
    return Figure(name, what, beside, target, values, min(ours for ours, _ in pairs), most)


def regressions(figures: list[Figure], last: dict[str, list[float]]) -> list[str]:
    """Return a line for each figure that is worse than the last line's by more than a fifth, and by
    more than the rounds differ."""
    found = []
    for figure in figures:
        before = last.get(figure.name)
        if before is None:
            continue
        best, spread = before
        if figure.best > WORSE * best and figure.best - best > max(spread, figure.spread):
            found.append(f"{figure.name}: {figure.best:.2f}, the last line has {best:.2f}")
    return found


def busy() -> str:
    """Return the load of the machine in words, as far as the machine says."""
    waiting = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    return f"{os.cpu_count()} processors, a load of {waiting} (1, 5, 15 minutes)"


def page(figures: list[Figure], when: str, machine: tuple[str, str]) -> str:
    rows = [
        f"| {figure.name} | {figure.what} | {_seconds(figure)} | {figure.best:.3g} x "
        f"{figure.beside} | {_target(figure)} | {figure.spread:.2g} |"
        for figure in figures
    ]
    return "\n".join(
        [
            "# Benchmarks",
            "",
            f"Written by `make bench` on {when[:10]}, Python {platform.python_version()}, "
            f"{platform.machine()}. CPU seconds, the best of {ROUNDS} rounds; a ratio is to",
            "what was measured beside it in the same run. SGLang's parsers are those of its wheel.",
            "",
            f"The machine at the beginning: {machine[0]}; at the end: {machine[1]}.",
            "Where more waits than there are processors, times are longer than on an idle machine.",
            "",
            "How many random faults in the code a test notices is no figure of this page, because",
            "it differs from draw to draw: `python benchmarks/mutants.py` counts it room by room.",
            "",
            "| figure | what | ours | ratio | target | spread |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _seconds(figure: Figure) -> str:
    return f"{figure.seconds:.3g} s" if figure.seconds else ""  # memory has none


def _target(figure: Figure) -> str:
    found = []
    if figure.target is not None:
        found.append(f"{figure.target:.3g}: {_met(figure.best <= figure.target)}")
    if figure.most is not None:
        found.append(f"{figure.most:.3g} s: {_met(figure.seconds <= figure.most)}")
    return ", ".join(found)


def _met(is_met: bool) -> str:
    return "met" if is_met else "not met"
