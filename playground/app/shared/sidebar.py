"""The sidebar of every page: which session, which model, what is odd about them."""

from __future__ import annotations

from typing import Final

import streamlit as st

from playground.app import state
from playground.app.shared import changes, history, say, widgets, workspace
from playground.app.shared.kept import kept
from playground.sessions.doctor import repair
from playground.sessions.session import Session

_MODELS: Final = (
    "anthropic/claude-sonnet-4-5",
    "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "gemini/gemini-2.5-pro",
    "openai/gpt-5",
    "openrouter/anthropic/claude-sonnet-4.5",
)


def session_sidebar() -> bool:
    """Choose a session and a model, the same on every page; False where the session that is asked
    for is not there, or cannot be read."""
    with st.sidebar:
        asked = workspace.asked()
        workspace.notice()
        if not asked:
            st.selectbox(
                "Session",
                state.session_names(),
                index=None,
                format_func=say.option,
                key=workspace.OTHER,
                placeholder="Choose another",
                on_change=changes.of(workspace.OTHER, workspace.choose_other),
            )
            return False
        st.selectbox(
            "Session",
            state.session_names(),
            format_func=say.option,
            key=state.SESSION,
            bind="query-params",
        )
        working = state.working_session()
        if working.session.purpose:
            say.text(working.session.purpose)
        if working.session.scripted:
            st.caption("Scripted: no model wrote it.")
        workspace.controls(working)
        _model(working)
        _edits(working)
        widgets.show_findings(working.findings, "in the session file")
        if done := _repaired(working.session)[1] if working.findings else []:
            say.button(
                f"Repair {len(done)} of them",
                icon=":material/healing:",
                on_click=_accept_repair,
                help="Only what has a single possible repair. The file itself does not change.",
            )
    return True


@kept(8)
def _repaired(session: Session) -> tuple[Session, list[str]]:
    return repair(session)


def _accept_repair() -> None:
    """The repaired session stands beside the one that was loaded, and is chosen."""
    working = state.working_session()
    mended, _ = _repaired(working.session)
    state.add_session(f"{working.name} (repaired)", mended)


def _model(working: state.WorkingSession) -> None:
    own = state.original_session(working.name).task.model_name
    st.selectbox(
        "Model",
        list(dict.fromkeys([own, *_MODELS])),
        index=None,
        format_func=say.option,
        key=state.MODEL,
        placeholder=say.shown(own),
        accept_new_options=True,
        bind="query-params",
        help="In place of the session's own model. Any LiteLLM name may be typed.",
    )


def _edits(working: state.WorkingSession) -> None:
    """Show the differences from the session's file, and the way back."""
    if working.changes:
        st.badge("Edited", icon=":material/edit:")
        say.text(", ".join(working.changes))
    undo, redo = history.next_undo(working.name), history.next_redo(working.name)
    if not (working.changes or undo or redo):
        return
    with st.container(horizontal=True):
        for label, icon, step, act in (
            ("Undo", "undo", undo, history.undo),
            ("Redo", "redo", redo, history.redo),
        ):
            # known by its key: its help changes with every step, and what is clicked while the
            # page is drawn again would be a button that is gone
            say.button(
                label,
                key=label,
                icon=f":material/{icon}:",
                disabled=not step,
                help=f"{label}: {step}" if step else None,
                on_click=act,
                args=(working.name,),
            )
        if working.changes or undo:
            st.button(
                "Discard all edits",
                key="Discard all edits",
                icon=":material/restart_alt:",
                on_click=history.reset,
                args=(working.name,),
            )
