"""The control for the model on every page: it replaces the session's own, and can be undone."""

from __future__ import annotations

from typing import Final

import streamlit as st

from playground.app import state
from playground.app.shared import history, say, widget_changes

_MODELS: Final = (
    "anthropic/claude-sonnet-4-5",
    "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "gemini/gemini-2.5-pro",
    "openai/gpt-5",
    "openrouter/anthropic/claude-sonnet-4.5",
)


def select(working: state.WorkingSession) -> None:
    """Choose a model in place of the session's own."""
    own = state.original_session(working.name).task.model_name
    before = state.held(state.MODEL)
    st.selectbox(
        "Model",
        list(dict.fromkeys([own, *_MODELS])),
        index=None,
        format_func=say.option,
        key=state.MODEL,
        placeholder=say.shown(own),
        accept_new_options=True,
        bind="query-params",
        label_visibility="collapsed",
        width=220,
        on_change=widget_changes.of(state.MODEL, history.took_model, working.name, before),
    )
