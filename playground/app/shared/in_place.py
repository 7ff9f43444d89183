"""Editing in place: the open block in a column of Compare, and its draft.

The browser has the text while the user types. Python shows what the draft would change, and stores
nothing. When the user accepts the text, each changed part becomes a step, which can be undone. If
the text is invalid, it stays in its box, with the reason, and no step is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import streamlit as st

from playground.app import state
from playground.app.shared import history, say, widget_changes
from playground.app.state import WorkingSession
from playground.base.errors import InputFault
from playground.sessions import editing
from playground.sessions.editing import Edit
from playground.sessions.session import Session
from playground.sessions.source_texts import (
    SPLIT,
    SourceText,
    changes_of,
    origin_after,
    source_texts,
    step_to,
)

ADD: Final = "add a part"


class OpenBlock(NamedTuple):
    """The open block: the session with its draft, and the data of its box."""

    session: Session
    data: dict[str, Any]

    @property
    def origin(self) -> str:
        return str(self.data["origin"])


def open_block(working: WorkingSession, key: str) -> OpenBlock | None:
    """Return the open block in the component of this key, or None."""
    opened = state.get(state.OPEN_BLOCK + working.name)
    if not opened:
        return None
    session, fault = working.session, str(opened["fault"])
    sources = source_texts(session, opened["origin"])
    if not sources:
        return None
    draft, version = state.component_value(key, "draft"), 0
    if isinstance(draft, Mapping) and draft.get("number") == opened["number"]:
        version = draft["version"]
        try:
            session = editing.edited(session, _steps(session, sources, draft["texts"]))
        except InputFault as refusal:
            fault = str(refusal)
    data = {
        **opened,
        "fault": fault,
        "version": version,  # version of the draft that the columns show
        "drafted": session is not working.session,
        "fields": [
            {"label": each.label, "text": each.text, "json": each.is_json, "whole": each.whole}
            for each in sources
        ],
        "changes": [label for label, _ in changes_of(working.session, opened["origin"])],
    }
    return OpenBlock(session, data)


def on_asked(name: str, key: str) -> None:
    """Do what the component asks: open a block, or accept, drop or change its text."""
    action = state.component_value(key, "asked")
    if not isinstance(action, Mapping):
        return
    name = state.name_now(name)
    opened = state.get(state.OPEN_BLOCK + name) or {}
    if action["do"] == "open":
        _open(name, action["origin"], action["number"])
    elif action["number"] != opened.get("number"):  # the box is already closed
        if action.get("then"):
            _open(name, action["then"], action["next"])
    elif action["do"] == "leave":
        close(name)
    elif stored_name := _keep(name, opened, action["texts"]):
        close(stored_name)
        if action["do"] == "change":
            _change(stored_name, opened, action["at"])
        elif action.get("then"):
            _open(stored_name, action["then"], action["next"])


def close(name: str) -> None:
    state.put(state.OPEN_BLOCK + name, None)


def add_menu(working: WorkingSession) -> None:
    """Show a menu of the parts that can be added to the request."""
    name, session = working.name, working.session
    with st.popover("Add a part", icon=":material/edit_note:", key=ADD, on_change="rerun") as menu:
        if not menu.open:
            return
        origins = {
            "System prompt": "agent",
            "Custom instructions": "user-prompt",
            "Environment block": "environment",
        }
        for label, origin in origins.items():
            say.button(label, key=f"add {origin}", on_click=_from_menu, args=(name, origin))
        last = len(session.messages)
        message = Edit("add message", index=last - 1)
        st.button(
            "Message",
            key="add message",
            on_click=_from_menu,
            args=(name, f"message:{last}", message),
        )
        st.button("Tool", key="add tool", on_click=_from_menu, args=(name, "", Edit("add tool")))
        rules = session.task.system_rules
        key = widget_changes.place(f"general rules of {name}", rules)
        st.toggle(
            "General rules",
            rules,
            key=key,
            help="Adds this project's 485-character rules; off for imported sessions.",
            on_change=widget_changes.of(key, _take_rules, name, shown=rules),
        )


def _take_rules(on: bool, name: str) -> None:
    history.edit(name, Edit("general rules", "on" if on else ""))


def _from_menu(name: str, origin: str, *steps: Edit) -> None:
    name = history.edit(name, *steps) if steps else state.name_now(name)
    if steps:
        origin = origin or f"tool:{state.edited_session(name).tools[-1].name}"
    state.choose(ADD, False)
    _open(name, origin, -len(state.edit_steps(name)) - 1)  # the browser's numbers are positive


def _open(name: str, origin: str, number: int) -> None:
    state.put(state.OPEN_BLOCK + name, {"origin": origin, "number": number, "fault": ""})


def _keep(name: str, opened: Mapping[str, Any], texts: Sequence[Any]) -> str:
    """Make a step of each changed text of the open block. Return the name under which the session
    is stored, or "" if a text is refused."""
    session = state.edited_session(name)
    try:
        steps = _steps(session, source_texts(session, opened["origin"]), texts)
        return history.edit(name, *steps) if steps else name
    except InputFault as fault:
        state.put(state.OPEN_BLOCK + name, {**opened, "fault": str(fault)})
        return ""


def _steps(session: Session, sources: Sequence[SourceText], texts: Sequence[Any]) -> list[Edit]:
    """Return the steps that set these texts. Each text comes with a flag, which is True if the
    text is the JSON of the whole part."""
    steps = (
        step_to(session, source, str(text), bool(whole))
        for source, (text, whole) in zip(sources, texts, strict=False)
    )
    return [step for step in steps if step]


def _change(name: str, opened: Mapping[str, Any], at: int) -> None:
    """Make a change that the open block's box offers: of its role, place or parts."""
    origin = opened["origin"]
    label, step = changes_of(state.edited_session(name), origin)[at]
    if label == SPLIT:
        rest = editing.split_off(state.edited_session(name), step.index)
        state.add_session(f"{name} from message {step.index}", rest)
        return
    name = history.edit(name, step)
    if after := origin_after(step, origin):
        _open(name, after, -opened["number"] - 1)
