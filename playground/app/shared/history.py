"""Undo and redo of each session's edits, and the editors' texts that cannot be read yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, Generic, NamedTuple, TypeVar

from playground.app import state
from playground.app.shared import belongings, widget_changes
from playground.base.errors import InputFault
from playground.nouns.tools import ToolMetadata
from playground.sessions.editing import Edit
from playground.sessions.line_ends import as_edited, with_line_ends_of
from playground.sessions.source_texts import tool_text
from playground.sessions.tool_files import read_tool_file

T = TypeVar("T", str, bool)
_MODELS: Final = "models chosen for "  # + session name


class Editor(NamedTuple, Generic[T]):
    """An editor's widget: its key, its contents, its callback, and the fault of its text."""

    key: str
    value: T
    on_change: Callable[[], None]
    fault: str


def edit(name: str, *steps: Edit) -> str:
    """Add steps; nothing can be redone then. Return the name under which the session is stored.
    Raises InputFault."""
    kept = state.keep_steps(name, [*state.edit_steps(name), *steps], [])
    if kept != name:
        renamed(name, kept)
    return kept


def take_edit(value: str | bool, name: str, key: str, step: Edit, shown: str | bool = "") -> None:
    """Store the value of the editor with this key, which began with `shown`, as a step.

    A value that cannot be read stays in the editor, and the last readable one stays in use.
    """
    if isinstance(value, str) and isinstance(shown, str):
        value = with_line_ends_of(shown, value)
    step = replace(step, value=value if isinstance(value, str) else "on" if value else "")
    forget_unread(name, key)
    try:
        edit(name, step)
    except InputFault as fault:
        _keep_drafts(name, {**_drafts(name), key: (step.value, str(fault))})


def editor(name: str, key: str, value: T, step: Edit) -> Editor[T]:
    """Return the editor for this step, with the text in use or the one that cannot be read."""
    shown: Any
    shown, fault = _drafts(name).get(key, (value, ""))
    if isinstance(shown, str):
        shown = as_edited(shown)
    widget = widget_changes.place(key, shown)
    on_change = widget_changes.of(widget, take_edit, name, key, step, value, shown=shown)
    return Editor(widget, shown, on_change, fault)


def set_tools(name: str, data: bytes, file_name: str) -> None:
    """Replace the session's tools by those of a file.

    Of tools with the same name the first one counts, as in a loaded session. Raises InputFault.
    """
    tools: dict[str, ToolMetadata] = {}
    for tool in read_tool_file(data, file_name).tools:
        tools.setdefault(tool.name, tool)
    texts = ",\n".join(map(tool_text, tools.values()))
    edit(name, Edit("all tools", f"[{texts}]"))


def took_model(model: str | None, name: str, before: str | None) -> None:
    """Note that the user chose a model in place of `before`, so that this can be undone."""
    steps = len(state.edit_steps(name))
    state.hold(_MODELS + name, [*_models(name), (steps, before, model)])


def _models(name: str) -> list[tuple[int, str | None, str | None]]:
    """Return the changes of the model: the number of edits before each, the old and the new model.

    If something else than the list of models has set the model since, such as a link, none can be
    undone.
    """
    found = state.held(_MODELS + name) or []
    return found if found and found[-1][2] == state.held(state.MODEL) else []


def _model_is_last(name: str) -> bool:
    models = _models(name)
    return bool(models) and models[-1][0] >= len(state.edit_steps(name))


def undo(name: str) -> None:
    """Undo the last step, an edit or a change of the model; texts that cannot be read stay."""
    if _model_is_last(name):
        *rest, (_, before, _) = _models(name)
        state.hold(_MODELS + name, rest)
        state.choose(state.MODEL, before)
    elif steps := state.edit_steps(name):
        state.keep_steps(name, steps[:-1], [*state.undone_steps(name), steps[-1]])


def forget_unread(name: str, key: str) -> None:
    """Let the editor of this key show the text in use again."""
    _keep_drafts(name, {each: draft for each, draft in _drafts(name).items() if each != key})


def redo(name: str) -> None:
    """Redo the edit that was undone last."""
    if undone := state.undone_steps(name):
        state.keep_steps(name, [*state.edit_steps(name), undone[-1]], undone[:-1])


def next_undo(name: str) -> str:
    """Return the name of the step that `undo` would undo; "" for none."""
    if _model_is_last(name):
        return "another model"
    steps = state.edit_steps(name)
    return steps[-1].label if steps else ""


def next_redo(name: str) -> str:
    """Return the name of the step that `redo` would redo; "" for none."""
    undone = state.undone_steps(name)
    return undone[-1].label if undone else ""


def renamed(old: str, new: str) -> None:
    """Move the texts that cannot be read yet and the choices of a model to a session's new name."""
    drafts = _drafts(old)
    old_prefix, new_prefix = state.edit_key(old, ""), state.edit_key(new, "")
    _keep_drafts(new, {new_prefix + key.removeprefix(old_prefix): drafts[key] for key in drafts})
    _keep_drafts(old, {})
    state.hold(_MODELS + new, _models(old))
    state.hold(_MODELS + old, [])


def reset(name: str) -> None:
    """Undo all edits and then the choice of a model; every step can be redone, the model last."""
    _keep_drafts(name, {})
    model, steps = state.held(state.MODEL), state.edit_steps(name)
    if steps:
        chosen = [Edit("model", model)] if model else []
        state.keep_steps(name, [], [*state.undone_steps(name), *chosen, *reversed(steps)])
    else:
        took_model(None, name, model)
    state.choose(state.MODEL, None)


def _drafts(name: str) -> dict[str, tuple[str, str]]:
    return dict(belongings.value(state.DRAFTS + name) or {})


def _keep_drafts(name: str, drafts: dict[str, tuple[str, str]]) -> None:
    belongings.keep(state.DRAFTS + name, drafts or None)
