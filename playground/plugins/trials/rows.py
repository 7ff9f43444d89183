"""Trials as rows of plain values, for the command and the page, without pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from playground.plugins.trials.figures import Arm, Measure, Trial
from playground.plugins.trials.plan import TrialPlan
from playground.show.rows import AnswerRows, rows_of

_SHARES: Final[tuple[Measure, ...]] = ("parsed", "right_tool", "right_arguments")


def trial_rows(value: Trial) -> AnswerRows:
    """Return a row for each arm, in their order: medians, and shares with 95 % intervals."""
    shares = [f"{each}_{bound}" for each in _SHARES for bound in ("share", "low", "high")]
    medians = ["tokens", "first_word_seconds", "seconds"]
    columns = ["dialect", "model", "attempts", "unanswered", "broken_off", *shares, *medians]
    return AnswerRows(columns, [_arm(arm) for arm in value.arms])


def with_bounds(value: Trial) -> tuple[list[str], list[list[str]]]:
    """Return heads and cells, with each share's interval in its own cell."""
    bounds = [f"{name}_{bound}" for name in _SHARES for bound in ("low", "high")]
    head, cells = trial_rows(value).without("unanswered", "broken_off", *bounds).texts()
    for arm, row in zip(value.arms, cells, strict=True):
        row[3:6] = [str(arm.share(name)) for name in _SHARES]
    return head, cells


def _arm(arm: Arm) -> Sequence[Any]:
    shares = [
        bound if share.of else None
        for share in map(arm.share, _SHARES)
        for bound in (share.rate, share.low, share.high)
    ]
    medians = (arm.tokens, arm.first_seconds, arm.seconds)
    return arm.dialect, arm.model, len(arm.attempts), arm.faults, arm.broken_off, *shares, *medians


def miss_rows(value: Trial) -> AnswerRows:
    """Return a row for each mistake of an arm at a case: how often, and what differed."""
    cells = [
        (miss.case, miss.dialect, miss.model, miss.times, miss.missed, miss.recording)
        for miss in value.misses
    ]
    return rows_of("case dialect model times missed recording", cells)


def pair_rows(value: Trial) -> AnswerRows:
    """Return a row for each pair of arms: how often each arm was right; `chance` is the p-value."""
    head = "first second both_right only_first_right only_second_right neither_right chance"
    cells = [
        (p.first, p.second, p.both, p.only_first, p.only_second, p.neither, p.chance)
        for p in value.pairs()
    ]
    return rows_of(head, cells)


def plan_rows(value: TrialPlan) -> AnswerRows:
    """Return a row for each case in each dialect for each model."""
    cells = [
        (case, dialect.name, model, value.repeats if model else None)
        for case in value.cases
        for dialect in value.dialects
        for model in value.models or ("",)
    ]
    return rows_of("case dialect model repeats", cells)
