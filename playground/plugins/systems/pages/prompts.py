"""The parts of the page Prompts: the variables of a prompt, its forms, and tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import streamlit as st

from playground.app.shared import say, widgets
from playground.plugins.systems.flink_agents.views import PromptView, ToolView

_IN_A_ROW: Final = 2


def read_values(text: str) -> dict[str, Any] | None:
    """Read the variables' values; return None if the text is not a JSON object."""
    try:
        values = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def show_forms(view: PromptView) -> None:
    """Show the prompt in every form in which it is sent."""
    forms = list(view.forms().items())
    for start in range(0, len(forms), _IN_A_ROW):
        row = forms[start : start + _IN_A_ROW]
        for column, (name, text) in zip(st.columns(_IN_A_ROW), row, strict=False):
            with column:
                widgets.exact_text(name, text, False)


def tool_views(views: Sequence[ToolView]) -> None:
    """Show each tool's schema beside the one that Flink-Agents would build from it."""
    for view in views:
        say.text(view.name)
        if view.fault:
            say.text(view.fault)
        left, right = st.columns(2)
        with left:
            _schema("Kept as given", view.kept, view.name)
        with right:
            _schema("Rebuilt by Flink-Agents", view.rebuilt, view.name)


def _schema(label: str, schema: object | None, tool: str) -> None:
    say.caption(label)
    if schema is not None:
        widgets.json_text(label, schema, f"{label} {tool}", height=0)
