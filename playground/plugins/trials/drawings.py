"""Trials and plans of trials as tables, figures and HTML."""

from __future__ import annotations

from typing import get_args

import plotly.graph_objects as go

from playground.base.display import draws
from playground.base.wording import grouped, seconds
from playground.plugins.trials.figures import Measure, Trial
from playground.plugins.trials.plan import TrialPlan
from playground.plugins.trials.rows import plan_rows, trial_rows
from playground.show.frames import frame_of
from playground.show.kept_figures import FigureWithTable
from playground.show.markup import Markup, table
from playground.show.pictures.cards import rows_table

draws("rows", Trial)(trial_rows)
draws("rows", TrialPlan)(plan_rows)
draws("frame", Trial)(frame_of)
draws("frame", TrialPlan)(frame_of)


@draws("figure", Trial)
def trial_figure(value: Trial) -> go.Figure:
    """Draw each arm's share of right arguments, with its 95 % interval."""
    shares = [arm.share("right_arguments") for arm in value.arms]
    rates = [share.rate or 0.0 for share in shares]
    figure = FigureWithTable()
    figure.add_bar(
        y=[arm.name for arm in value.arms],
        x=rates,
        name="right arguments",
        orientation="h",
        error_x={
            "type": "data",
            "array": [each.high - rate for each, rate in zip(shares, rates, strict=True)],
            "arrayminus": [rate - each.low for each, rate in zip(shares, rates, strict=True)],
        },
    )
    figure.update_layout(
        height=110 + 34 * len(rates),
        xaxis={"range": [0, 1], "tickformat": ".0%", "title": "right arguments"},
        yaxis={"autorange": "reversed", "automargin": True},
    )
    return figure


@draws("picture", Trial)
def trial_picture(value: Trial) -> Markup:
    """Return the verdict, a table of the arms with their shares, and a table of the misses."""
    rows = [
        [
            arm.dialect,
            arm.model,
            str(len(arm.attempts)),
            str(arm.faults + arm.broken_off),
            *(str(arm.share(measure)) for measure in get_args(Measure)),
            "" if arm.tokens is None else grouped(arm.tokens),
            "" if arm.seconds is None else seconds(arm.seconds),
        ]
        for arm in value.arms
    ]
    head = ["dialect", "model", "attempts", "not counted"]
    head += ["parsed", "right tool", "right arguments"]
    shown = table("shares with their 95 % intervals", [*head, "tokens", "time"], rows)
    misses = [
        [miss.case, miss.dialect, miss.model, str(miss.times), miss.missed] for miss in value.misses
    ]
    if misses:
        head = ["case", "dialect", "model", "times", "what differed"]
        shown += table("what was not right", head, misses)
    line = value.verdict if value.arms else "nothing was asked"
    return Markup("Which dialect is handled best?", line, static=shown)


@draws("picture", TrialPlan)
def plan_picture(value: TrialPlan) -> Markup:
    """Return the cases that the trial would send, and the forecast of its cost."""
    line = str(value.cost) if value.models else "recordings alone; nothing is sent"
    return Markup("A trial that has not begun", line, static=rows_table("cases", value))
