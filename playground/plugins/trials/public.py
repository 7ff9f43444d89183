"""The names of trials that scripts import, from `playground.questions.trials`."""

from playground.plugins.trials.demo_server import serving
from playground.plugins.trials.doubts import doubts
from playground.plugins.trials.figures import Arm, Miss, Pair, Share, Trial
from playground.plugins.trials.plan import TrialCost, TrialPlan, TrialRun, expect, own_calls, trial
from playground.plugins.trials.scoring import Attempt, Score, missed, score

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
    "serving",
    "trial",
]
