"""Undo and redo of each session's edits, and the texts in editors that cannot be read yet."""

from __future__ import annotations

from collections.abc import Sequence

from playground.app import state
from playground.app.shared import belongings
from playground.nouns.tools import ToolMetadata
from playground.sessions.editing import Edit
from playground.sessions.source_texts import tool_text
from playground.sessions.tool_files import read_tool_file


def edit(name: str, *steps: Edit) -> str:
    """Add edits to the session; edits that were undone can no longer be redone. Return the name
    under which the session is stored. Raises InputFault if an edit does not fit the session."""
    name = state.name_now(name)
    return _store(name, [*state.edit_steps(name), *steps], [])


def _store(name: str, steps: Sequence[Edit], undone: Sequence[Edit]) -> str:
    return copy_values(name, state.keep_steps(name, steps, undone))


def set_tools(name: str, data: bytes, file_name: str) -> None:
    """Replace the session's tools by those of a file.

    Of several tools with the same name, only the first is used, as in a loaded session. Raises
    InputFault for a file that cannot be read as tools.
    """
    tools: dict[str, ToolMetadata] = {}
    for tool in read_tool_file(data, file_name).tools:
        tools.setdefault(tool.name, tool)
    texts = ",\n".join(map(tool_text, tools.values()))
    edit(name, Edit("all tools", f"[{texts}]"))


def took_model(model: str | None, name: str, before: str | None) -> None:
    """Record that the user chose a model in place of `before`, so that this can be undone."""
    name = state.name_now(name)
    steps = len(state.edit_steps(name))
    state.put(state.MODELS + name, [*_models(name), (steps, before, model)])


def _models(name: str) -> list[tuple[int, str | None, str | None]]:
    """Return the choices of a model: the number of edits before each, the old and the new model.
    Return [] if the model was later set in another way, for example by a link."""
    found = state.get(state.MODELS + name) or []
    return found if found and found[-1][2] == state.get(state.MODEL) else []


def _model_is_last(name: str) -> bool:
    models = _models(name)
    return bool(models) and models[-1][0] >= len(state.edit_steps(name))


def undo(name: str) -> None:
    """Undo the last step, an edit or a change of the model. Texts that cannot be read stay."""
    name = state.name_now(name)
    if _model_is_last(name):
        *rest, (_, before, _) = _models(name)
        state.put(state.MODELS + name, rest)
        state.choose(state.MODEL, before)
    elif steps := state.edit_steps(name):
        _store(name, steps[:-1], [*state.undone_steps(name), steps[-1]])


def redo(name: str) -> None:
    """Redo the edit that was undone last."""
    if undone := state.undone_steps(name):
        _store(name, [*state.edit_steps(name), undone[-1]], undone[:-1])


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


def copy_values(old: str, new: str, renamed: bool = False) -> str:
    """Copy what this tab keeps for a session to the new name of its stored copy; return `new`.

    Unless the session was `renamed`, texts that cannot be read yet also stay at the old name,
    because another tab may show them.
    """
    if new != old:
        unread, prefix = drafts(new), state.edit_key(old, "")
        for key, draft in drafts(old).items():
            unread[state.edit_key(new, key.removeprefix(prefix))] = draft
        keep_drafts(new, unread)
        state.put(state.STORED_AS + old, new)
        for kind in (state.MODELS, state.OPEN_BLOCK, state.POLICY_OF, state.MARKS_OF):
            state.put(kind + new, state.get(kind + old))
        state.forget(state.OPEN_BLOCK + old)
        if renamed:
            keep_drafts(old, {})
    return new


def reset(name: str) -> None:
    """Undo all edits and the choice of a model. `redo` restores the edits and then the model;
    without edits, only `undo` restores the model."""
    keep_drafts(name, {})
    model, steps = state.get(state.MODEL), state.edit_steps(name)
    if steps:
        chosen = [Edit("model", model)] if model else []
        _store(name, [], [*state.undone_steps(name), *chosen, *reversed(steps)])
    else:
        took_model(None, name, model)
    state.choose(state.MODEL, None)


def drafts(name: str) -> dict[str, tuple[str, str]]:
    """Return, by key, the texts in a session's editors that cannot be read, with their faults."""
    return dict(belongings.value(state.DRAFTS + name) or {})


def keep_drafts(name: str, unread: dict[str, tuple[str, str]]) -> None:
    """Store these texts for a session, replacing those stored before."""
    belongings.keep(state.DRAFTS + name, unread or None)
