"""The sidebar of every page: which session, which model, what is odd about them."""

from __future__ import annotations

from typing import Final

import streamlit as st

from playground.ui import state
from playground.ui.shared import widgets

_MODELS: Final = (
    "anthropic/claude-sonnet-4-5",
    "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "gemini/gemini-2.5-pro",
    "openai/gpt-5",
    "openrouter/anthropic/claude-sonnet-4.5",
)


def session_sidebar() -> None:
    """Choose a session and a model: the same on every page."""
    with st.sidebar:
        st.selectbox("Session", state.session_names(), key=state.SESSION, bind="query-params")
        working = state.working_session()
        if working.session.purpose:
            st.text(working.session.purpose)
        if working.session.scripted:
            st.caption("Scripted: no model wrote it.")
        own = state.original_session(working.name).task.model_name
        st.selectbox(
            "Model",
            list(dict.fromkeys([own, *_MODELS])),
            index=None,
            key=state.MODEL,
            placeholder=own,
            accept_new_options=True,
            bind="query-params",
            help="In place of the session's own model. Any LiteLLM name may be typed.",
        )
        widgets.show_findings(working.findings, "in the session file")
        if done := state.repairs() if working.findings else []:
            st.button(
                f"Repair {len(done)} of them",
                icon=":material/healing:",
                on_click=state.accept_repair,
                help="Only what has a single possible repair. The file itself does not change.",
            )
