"""Trials as rows of plain values, for the command and the page, without pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playground.plugins.trials.figures import Arm, Trial
from playground.plugins.trials.plan import TrialPlan
from playground.show.rows import AnswerRows, rows_of


def trial_rows(value: Trial) -> AnswerRows:
    """Return a row for each arm, in their order: medians, and shares with 95 % intervals."""
    measures = ("parsed", "right_tool", "right_arguments")
    shares = [f"{each}_{bound}" for each in measures for bound in ("share", "low", "high")]
    medians = ["tokens", "first_word_seconds", "seconds"]
    columns = ["dialect", "model", "attempts", "unanswered", "broken_off", *shares, *medians]
    return AnswerRows(columns, [_arm(arm) for arm in value.arms])


def _arm(arm: Arm) -> Sequence[Any]:
    parsed, tool, arguments = (
        arm.share("parsed"),
        arm.share("right_tool"),
        arm.share("right_arguments"),
    )
    shares = [
        bound if share.of else None
        for share in (parsed, tool, arguments)
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
