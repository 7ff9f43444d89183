"""Pandas tables of a template's run, and of a prompt's variables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from playground.base.wording import counted

if TYPE_CHECKING:
    from playground.plugins.systems.aichatflow import Step
    from playground.plugins.systems.flink_agents.views import PromptView


def template_steps(steps: Sequence[Step]) -> pd.DataFrame:
    """Return a row for each step of a template's run."""
    rows = [
        {
            "step": number,
            "template": step.template,
            "message": step.index,
            "what": step.what,
            "role": (step.message or {}).get("role", ""),
            "text": step_text(step)[:200],
            "missing": ", ".join(step.missing),
        }
        for number, step in enumerate(steps, 1)
    ]
    return pd.DataFrame(rows).astype({"message": "Int64"}) if rows else pd.DataFrame(rows)


def variables(step: Step) -> pd.DataFrame:
    """Return a row for each variable of a step; it says if the input has the variable."""
    rows = [
        {"variable": name, "in the input": "missing" if name in step.missing else "there"}
        for name in step.used
    ]
    return pd.DataFrame(rows, columns=["variable", "in the input"])


def prompt_variables(view: PromptView, values: Mapping[str, object]) -> pd.DataFrame:
    """Return a row for each variable of a prompt, with its value if there is one."""
    rows = [
        {
            "variable": name,
            "given": "missing" if name in view.missing else "yes",
            "value": "" if name in view.missing else str(values[name]),
        }
        for name in view.variables
    ]
    return pd.DataFrame(rows, columns=["variable", "given", "value"])


def step_text(step: Step) -> str:
    """Return a text for a template's step: a request's counts, or a message's content."""
    if step.sent is not None:
        count = len(step.sent.messages)
        return f"{counted(count, 'message')}, {counted(len(step.sent.tools), 'function')}"
    if step.message is None:
        return step.source
    message = step.message
    # first the call, because a message with a call has null or empty content
    if call := message.get("function_call"):
        return f"{call.get('name')}({call.get('arguments')})"
    content = message.get("content")
    if isinstance(content, str):
        return content
    rest = {key: value for key, value in message.items() if key != "role"}
    return json.dumps(rest, ensure_ascii=False) if rest else ""
