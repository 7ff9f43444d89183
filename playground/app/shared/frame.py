"""The frame of every page: the bar, the page's name for screen readers, and help."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import streamlit as st

from playground.app import navigation, state
from playground.app.pages import PageEntry
from playground.app.shared import bring, components, history, keys, say, widget_changes, workspace
from playground.base import paths
from playground.sessions.session import Session

_IN_MENU: Final = " in menu"
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)[^)]*\)")
_MODELS: Final = (
    "anthropic/claude-sonnet-4-5",
    "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "gemini/gemini-2.5-pro",
    "openai/gpt-5",
    "openrouter/anthropic/claude-sonnet-4.5",
)


def head(entry: PageEntry) -> bool:
    """Draw the bar; return False if the requested session is missing or cannot be read."""
    st.html(paths.app_file().with_name("app.css"))
    bring.prepare()
    is_there = workspace.can_show_session()
    with st.container(horizontal=True, key="bar", vertical_alignment="center", gap="small"):
        navigation.bar(entry)
        workspace.select(is_there)
        if is_there:
            working = state.working_session()
            workspace.menu(working, partial(_of_session, working, in_menu=True))
            _of_session(working)
        if st.button("Import", key="bring", icon=":material/content_paste_go:", help="Import: i"):
            bring.dialog(entry.name)
        if st.button("Help", key="help", icon=":material/help:", help="Keys and documentation: ?"):
            help_dialog(entry)
    with st.container(key=f"page {navigation.current(entry).name}"):
        st.title(entry.title, anchor=False)
    pressed = keys.listen(entry)
    if pressed == "i":
        bring.dialog(entry.name)
    elif pressed == "?":
        help_dialog(entry)
    if is_there:
        workspace.notice()
    return is_there


def _of_session(working: state.WorkingSession, in_menu: bool = False) -> None:
    """Show the session's model, and buttons for undo and, if a step was undone, for redo, in the
    bar or in the session's menu: a narrow screen has room for them only in the menu."""
    _select_model(working, in_menu)
    steps = history.next_undo(working.name), history.next_redo(working.name)
    for label, icon, step, act in zip(
        ("Undo", "Redo"), ("undo", "redo"), steps, (history.undo, history.redo), strict=True
    ):
        # The key is fixed: otherwise the changed help text would make a new button at every step,
        # and a click during a rerun would hit the old one.
        if step or label == "Undo":
            say.button(
                label,
                key=label + _IN_MENU * in_menu,
                icon=f":material/{icon}:",
                disabled=not step,
                help=f"{label}: {step}" if step else None,
                on_click=act,
                args=(working.name,),
            )


@contextmanager
def toolbar() -> Iterator[Any]:
    """Yield a container for the controls of a page: one row below the bar, with each control's
    name before it."""
    row = st.container(horizontal=True, key="toolbar", vertical_alignment="center", gap="small")
    with row:
        yield row


def show_views(page: str) -> None:
    """Draw a page that has only views: the chosen view, with its controls in the page's row."""
    with toolbar() as row:
        chosen = navigation.view_select(page)
    navigation.show(chosen, row)


def has_request(session: Session) -> bool:
    """Return False, and lead to Replay, if a session holds only replies."""
    if session.messages or session.tools or not session.recordings:
        return True
    st.info("This session holds a reply and no request.")
    navigation.link("replay", "Replay it", icon=":material/play_circle:", width="content")
    return False


@st.dialog("Help", width="large", on_dismiss="rerun")
def help_dialog(entry: PageEntry) -> None:
    """Show the page's question, its keys, a link to the current view, and its document."""
    entry = navigation.current(entry)
    say.text(entry.question)
    components.verbatim(str(st.context.url or ""), "link", key="link")
    keys.show()
    with st.expander("Documentation", key="documentation", on_change="rerun") as document:
        if document.open:
            # links to other files do not work in the app
            text = (paths.documents() / entry.document).read_text(encoding="utf-8")
            st.markdown(_LINK.sub(r"\1", text))


def _select_model(working: state.WorkingSession, in_menu: bool) -> None:
    """Let the user choose a model. A choice in the menu is also shown in the bar."""
    own = state.original_session(working.name).named_model
    before, key = state.get(state.MODEL), state.MODEL + _IN_MENU * in_menu
    take = _take_model if in_menu else history.took_model
    st.selectbox(
        "Model",
        list(dict.fromkeys([*filter(None, [own]), *_MODELS])),
        index=None,
        format_func=say.option,
        key=key,
        placeholder=say.shown(in_menu and before or own or "No model named"),
        accept_new_options=True,
        bind=None if in_menu else "query-params",
        label_visibility="collapsed",
        width="stretch" if in_menu else 220,
        on_change=widget_changes.of(key, take, working.name, before),
    )


def _take_model(model: str | None, name: str, before: str | None) -> None:
    state.choose(state.MODEL + _IN_MENU, None)
    state.choose(state.MODEL, model)
    history.took_model(model, name, before)
