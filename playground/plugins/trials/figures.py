"""Add up the scores of attempts: shares with intervals, medians, and arms compared case by case."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, sqrt
from statistics import median
from typing import Any, Final, Literal, get_args

from playground.base.arguments import FormerMethod
from playground.base.display import Drawn
from playground.base.wording import counted, grouped, percent, short_repr
from playground.plugins.trials.scoring import Attempt

_Z: Final = 1.959963984540054  # quantile of the normal distribution for 95 %
LEVEL: Final = 0.05  # the level of significance for "proven"
Measure = Literal["parsed", "right_tool", "right_arguments"]


@dataclass(frozen=True, slots=True)
class Share:
    """A share of attempts, with the bounds of its rate at 95 % confidence.

    `hits` of all `of` attempts succeeded. The bounds are Wilson's score interval (1927), which
    stays within 0 and 1, and which also holds for few attempts.
    """

    hits: int
    of: int

    @property
    def rate(self) -> float | None:
        """The share of hits; None if there are no attempts."""
        return self.hits / self.of if self.of else None

    @property
    def low(self) -> float:
        return max(0.0, self._center - self._margin) if self.hits else 0.0

    @property
    def high(self) -> float:
        return min(1.0, self._center + self._margin) if self.hits < self.of else 1.0

    def __str__(self) -> str:
        if not self.of:
            return "none"
        bounds = f"{grouped(self.low * 100)} to {grouped(self.high * 100)}"
        return f"{percent(self.hits / self.of)} ({bounds})"

    @property
    def _center(self) -> float:
        if not self.of:
            return 0.5
        return (self.hits / self.of + _Z**2 / (2 * self.of)) / (1 + _Z**2 / self.of)

    @property
    def _margin(self) -> float:
        if not self.of:
            return 0.5
        rate = self.hits / self.of
        inner = rate * (1 - rate) / self.of + _Z**2 / (4 * self.of**2)
        return _Z * sqrt(inner) / (1 + _Z**2 / self.of)


@dataclass(frozen=True, repr=False)
class Arm:
    """A dialect with a model, and the sums over its attempts. Medians leave out missing values."""

    dialect: str
    model: str
    attempts: tuple[Attempt, ...]

    @property
    def name(self) -> str:
        return f"{self.dialect}, {self.model}" if self.model else self.dialect

    def __repr__(self) -> str:
        shares = f"{self.share('parsed').hits} parsed, {self.share('right_arguments').hits} right"
        return short_repr(self, self.name, counted(len(self.answered), "answer"), shares)

    @property
    def answered(self) -> list[Attempt]:
        """The attempts with a whole answer. The others are left out of all shares."""
        return [each for each in self.attempts if not (each.fault or each.broken_off)]

    @property
    def faults(self) -> int:
        """Requests that got no answer."""
        return sum(bool(attempt.fault) for attempt in self.attempts)

    @property
    def broken_off(self) -> int:
        """Answers whose stream broke off."""
        return sum(bool(attempt.broken_off) for attempt in self.attempts)

    def share(self, measure: Measure) -> Share:
        hits = sum(getattr(attempt.score, measure) for attempt in self.answered)
        return Share(hits, len(self.answered))

    @property
    def tokens(self) -> float | None:
        return _median(attempt.tokens for attempt in self.answered)

    @property
    def first_seconds(self) -> float | None:
        return _median(attempt.first_seconds for attempt in self.answered)

    @property
    def seconds(self) -> float | None:
        return _median(attempt.seconds for attempt in self.answered)


@dataclass(frozen=True)
class Pair:
    """Two arms, by the attempts that both answered: how often both, one or neither was right.

    `chance` is the probability of a split at least this uneven if neither arm is better. It is the
    exact sign test (two-sided), which is McNemar's test for small numbers.
    """

    first: str
    second: str
    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def chance(self) -> float:
        split = self.only_first + self.only_second
        fewer = min(self.only_first, self.only_second)
        tail = sum(comb(split, count) for count in range(fewer + 1))
        return min(1.0, 2 * tail / (1 << split))


@dataclass(frozen=True)
class Miss:
    """A mistake of an arm at a case, and how many times the arm made it.

    `recording` is the name of the first answer with the mistake; "" if the answer was not stored.
    """

    case: str
    dialect: str
    model: str
    times: int
    missed: str
    recording: str


@dataclass(frozen=True)
class Trial(Drawn):
    """All attempts with their sums. The table has a row for each arm, in the order of `arms`; the
    figure has a bar for each arm's share of right arguments, with its interval.
    """

    attempts: tuple[Attempt, ...]

    def _summary(self) -> str:
        return f"{counted(len(self.attempts), 'attempt')}. {self.verdict}"

    @cached_property
    def arms(self) -> list[Arm]:
        """The arms by their shares of right arguments, then right tools, then parsed calls, the
        highest first. The first arm is the best one only if `verdict` says so."""
        attempts_by_arm: dict[tuple[str, str], list[Attempt]] = {}
        for attempt in self.attempts:
            attempts_by_arm.setdefault((attempt.dialect, attempt.model), []).append(attempt)
        arms = [Arm(*key, tuple(attempts)) for key, attempts in attempts_by_arm.items()]
        return sorted(arms, key=_rank)

    @property
    def verdict(self) -> str:
        """A sentence that names the best arm, or says that nothing is proven.

        An arm is best if it is proven to have more right arguments than each other arm. The level
        of 5 % is divided among all pairs (Bonferroni), because the best arm is chosen afterwards.
        Attempts without an answer and answers that broke off are named, and are in no arm's shares.
        """
        said = self._comparison
        silent = [arm for arm in self.arms if arm.faults]
        if silent:
            times = sum(arm.faults for arm in silent)
            shares = [f"{self._names[id(a)]} {a.faults} of {len(a.attempts)}" for a in silent]
            said += f" {grouped(times)} of {counted(len(self.attempts), 'attempt')} "
            reason = next(each.fault for each in silent[0].attempts if each.fault)
            said += f"{'was' if times == 1 else 'were'} not answered: "
            said += f"{reason[:200].strip().removesuffix('.')} ({'; '.join(shares)})."
        broken = sum(arm.broken_off for arm in self.arms)
        off = f" {counted(broken, 'answer')} broke off, and {'is' if broken == 1 else 'are'}"
        return said + (f"{off} not counted." if broken else "")

    @property
    def _comparison(self) -> str:
        """The verdict on the arms with answers, without the requests that got none."""
        arms = [arm for arm in self.arms if arm.answered]
        if not arms:
            return f"Nothing is proven{'.' if self.arms else ': no request was answered.'}"
        names = self._names
        shares = [f"{names[id(arm)]} {_of(arm.share('right_arguments'))}" for arm in arms]
        if len(arms) == 1:
            return f"Nothing to compare: {shares[0]} right."
        pairs = self.pairs()
        beaten = {
            pair.second
            for pair in pairs
            if pair.first == names[id(arms[0])]
            and pair.only_first > pair.only_second
            and pair.chance * len(pairs) < LEVEL
        }
        rest = [names[id(arm)] for arm in arms[1:]]
        if beaten.issuperset(rest):
            return f"{shares[0]} right: better than {' and '.join(rest)} ({'; '.join(shares[1:])})."
        if len({arm.share("right_arguments").rate for arm in arms}) == 1:
            return f"Nothing is proven: no difference was seen ({'; '.join(shares)} right)."
        level = [name for name in rest if name not in beaten]
        said = f"{names[id(arms[0])]} cannot be told from {' and '.join(level)}"
        return f"Nothing is proven: {said} by so few answers ({'; '.join(shares)} right)."

    @property
    def _names(self) -> dict[int, str]:
        """The arms' names by `id`, without the model if there is only one."""
        one_model = len({arm.model for arm in self.arms}) == 1
        return {id(arm): arm.dialect if one_model else arm.name for arm in self.arms}

    @property
    def rows(self) -> FormerMethod[dict[str, Any]]:
        """The arms as plain values.

        Shares have `hits`, `of`, `rate`, `low` and `high`; medians are in tokens and seconds.
        """
        return FormerMethod(_row(arm) for arm in self.arms)

    @property
    def misses(self) -> FormerMethod[Miss]:
        """The mistakes by case and arm, the most frequent first."""
        attempts_by_miss: dict[tuple[str, str, str, str], list[Attempt]] = {}
        for attempt in self.attempts:
            if attempt.missed:
                key = (attempt.case, attempt.dialect, attempt.model, attempt.missed)
                attempts_by_miss.setdefault(key, []).append(attempt)
        misses = [
            Miss(*key[:3], len(same_miss), key[3], getattr(same_miss[0].recording, "name", ""))
            for key, same_miss in attempts_by_miss.items()
        ]
        return FormerMethod(sorted(misses, key=lambda miss: -miss.times))

    def pairs(self, measure: Measure = "right_arguments") -> list[Pair]:
        """Compare every two arms by the attempts that both answered."""
        names = self._names
        return [
            _pair(first, second, measure, (names[id(first)], names[id(second)]))
            for first, second in combinations(self.arms, 2)
        ]


def _of(share: Share) -> str:
    return f"{grouped(share.hits)} of {grouped(share.of)}"


def _row(arm: Arm) -> dict[str, Any]:
    shares = {measure: arm.share(measure) for measure in get_args(Measure)}
    return {
        "dialect": arm.dialect,
        "model": arm.model,
        "attempts": len(arm.attempts),
        **{
            name: {"hits": s.hits, "of": s.of, "rate": s.rate, "low": s.low, "high": s.high}
            for name, s in shares.items()
        },
        "tokens": arm.tokens,
        "first_seconds": arm.first_seconds,
        "seconds": arm.seconds,
        "faults": arm.faults,
        "broken_off": arm.broken_off,
    }


def _rank(arm: Arm) -> tuple[float, ...]:
    measures: tuple[Measure, ...] = ("right_arguments", "right_tool", "parsed")
    return tuple(-(arm.share(measure).rate or 0.0) for measure in measures)


def _pair(first: Arm, second: Arm, measure: Measure, names: tuple[str, str]) -> Pair:
    ones, others = (
        {(each.case, each.number): getattr(each.score, measure) for each in arm.answered}
        for arm in (first, second)
    )
    shared = [(ones[key], others[key]) for key in ones if key in others]
    count: Callable[[tuple[bool, bool]], int] = shared.count
    return Pair(
        *names,
        count((True, True)),
        count((True, False)),
        count((False, True)),
        count((False, False)),
    )


def _median(values: Iterable[float | None]) -> float | None:
    numbers = [each for each in values if each is not None]
    return median(numbers) if numbers else None
