"""An editor for a text of a session. Each change of the text is a step that can be undone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from playground.app import state
from playground.app.shared import history, widget_changes
from playground.app.shared.history import drafts, keep_drafts
from playground.base.errors import InputFault
from playground.sessions.editing import Edit
from playground.sessions.line_ends import as_edited, with_line_ends_of


class Editor(NamedTuple):
    """An editor's widget: its key, its text, its callback, and the fault of its text."""

    key: str
    value: str
    on_change: Callable[[], None]
    fault: str


def take_edit(text: str, name: str, step: Edit, shown: str = "") -> None:
    """Store the text of the step's editor, whose first text was `shown`, as a step. A text that
    cannot be read stays in the editor, and the last readable text stays in use."""
    name, step = state.name_now(name), replace(step, value=with_line_ends_of(shown, text))
    forget_unread(name, step)
    try:
        history.edit(name, step)
    except InputFault as fault:
        unread = {state.edit_key(name, step.action): (step.value, str(fault))}
        keep_drafts(name, {**drafts(name), **unread})


def editor(name: str, value: str, step: Edit) -> Editor:
    """Return the editor for this step, with the text in use or the text that cannot be read."""
    key = state.edit_key(name, step.action)
    shown, fault = drafts(name).get(key, (value, ""))
    shown = as_edited(shown)
    widget = widget_changes.place(key, shown)
    on_change = widget_changes.of(widget, take_edit, name, step, value, shown=shown)
    return Editor(widget, shown, on_change, fault)


def forget_unread(name: str, step: Edit) -> None:
    """Make the editor for this step show the text in use again."""
    key = state.edit_key(name, step.action)
    keep_drafts(name, {each: draft for each, draft in drafts(name).items() if each != key})
