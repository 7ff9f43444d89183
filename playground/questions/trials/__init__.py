"""Trials find the dialect that a model handles best, by asking repeatedly for expected calls.

`scoring.py` says what an answer got right, `figures.py` adds up attempts, `plan.py` makes the
requests, or reads recorded answers. Every arm (a dialect with a model) gets the same cases equally
often, so that two arms are compared case by case.
"""

from playground.questions.trials.doubts import doubts
from playground.questions.trials.figures import Arm, Miss, Pair, Share, Trial
from playground.questions.trials.plan import (
    TrialCost,
    TrialPlan,
    TrialRun,
    expect,
    own_calls,
    trial,
)
from playground.questions.trials.scoring import Attempt, Score, missed, score

__all__ = [
    "Arm",
    "Attempt",
    "Miss",
    "Pair",
    "Score",
    "Share",
    "Trial",
    "TrialCost",
    "TrialPlan",
    "TrialRun",
    "doubts",
    "missed",
    "expect",
    "own_calls",
    "score",
    "trial",
]
