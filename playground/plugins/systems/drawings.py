"""What templates and prompts were run with, as pandas tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from playground.show.wire import step_text

if TYPE_CHECKING:
    from playground.plugins.systems.aichatflow import Step
    from playground.plugins.systems.flink_agents.views import PromptView


def template_steps(steps: Sequence[Step]) -> pd.DataFrame:
    """One row for each thing that happened in a template's run."""
    rows = [
        {
            "step": number,
            "template": step.template,
            "message": "" if step.index is None else str(step.index),
            "what": step.what,
            "role": (step.message or {}).get("role", ""),
            "text": step_text(step)[:200],
            "missing": ", ".join(step.missing),
        }
        for number, step in enumerate(steps, 1)
    ]
    return pd.DataFrame(rows)


def variables(step: Step) -> pd.DataFrame:
    """The fields that a template looked up, and whether the input has them."""
    rows = [
        {"variable": name, "in the input": "missing" if name in step.missing else "there"}
        for name in step.used
    ]
    return pd.DataFrame(rows, columns=["variable", "in the input"])


def prompt_variables(view: PromptView, values: Mapping[str, object]) -> pd.DataFrame:
    """A prompt's variables with their values; one that is not given stays as it is."""
    rows = [
        {
            "variable": name,
            "given": "missing" if name in view.missing else "yes",
            "value": "" if name in view.missing else str(values[name]),
        }
        for name in view.variables
    ]
    return pd.DataFrame(rows, columns=["variable", "given", "value"])
