"""A trial as pandas tables."""

from __future__ import annotations

import pandas as pd

from playground.base.display import draws
from playground.questions.trials import Trial


@draws("frame", Trial)
def trial(value: Trial) -> pd.DataFrame:
    """Return a row for each arm, the best first: medians, and shares with 95 % intervals."""
    return pd.DataFrame(
        [
            {
                "dialect": arm.dialect,
                "model": arm.model,
                "attempts": len(arm.attempts),
                "no answer": arm.faults,
                "parsed": str(arm.share("parsed")),
                "right tool": str(arm.share("right_tool")),
                "right arguments": str(arm.share("right_arguments")),
                "tokens": arm.tokens,
                "first word, s": arm.first_seconds,
                "whole answer, s": arm.seconds,
            }
            for arm in value.arms
        ]
    )


def trial_misses(value: Trial) -> pd.DataFrame:
    """Return a row for each way in which an arm missed a case: how often, and what differed."""
    return pd.DataFrame(
        [
            {
                "case": miss.case,
                "dialect": miss.dialect,
                "model": miss.model,
                "times": miss.times,
                "what differed": miss.missed,
                "first answer": miss.recording,
            }
            for miss in value.misses()
        ]
    )


def trial_pairs(value: Trial) -> pd.DataFrame:
    """Return a row for each pair of arms: right arguments case by case, and the sign test's p."""
    return pd.DataFrame(
        [
            {
                "one": pair.first,
                "other": pair.second,
                "both right": pair.both,
                "only the one": pair.only_first,
                "only the other": pair.only_second,
                "neither": pair.neither,
                "p": round(pair.chance, 4),
            }
            for pair in value.pairs()
        ]
    )
