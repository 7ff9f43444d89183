"""The edits of each session: made, taken back, done again; and texts that cannot be read yet."""

from __future__ import annotations

from dataclasses import replace

from playground.errors import InputFault
from playground.sessions.editing import Edit
from playground.sessions.line_ends import as_edited, with_line_ends_of
from playground.sessions.tool_files import read_tool_file
from playground.tools import ToolMetadata
from playground.ui import state
from playground.ui.shared.callbacks import uninterrupted


@uninterrupted()
def edit(name: str, step: Edit) -> None:
    """One more step, behind which nothing is left to be done again. Raises InputFault."""
    state.keep_steps(name, [*state.edit_steps(name), step], [])


@uninterrupted()
def take_edit(name: str, key: str, step: Edit, shown: str = "") -> None:
    """The editor of this key, which began with `shown`, holds another value. What cannot be read
    stays in it, beside the last that could be."""
    value = state.held(key)
    if isinstance(value, str):
        value = with_line_ends_of(shown, value)
    step = replace(step, value=value if isinstance(value, str) else "on" if value else "")
    drafts = {each: draft for each, draft in _drafts(name).items() if each != key}
    try:
        edit(name, step)
    except InputFault as fault:
        drafts[key] = (step.value, str(fault))
    state.hold(state.DRAFTS + name, drafts)


def show_in_editor(name: str, key: str, value: str | bool) -> str:
    """Before an editor is drawn: it shows what is in use, or else what could not be read, of which
    the fault is returned."""
    shown, fault = _drafts(name).get(key, (value, ""))
    state.show(key, as_edited(shown) if isinstance(shown, str) else shown)
    return fault


def is_unread(name: str) -> bool:
    """Whether an editor holds a text that cannot be read."""
    return bool(_drafts(name))


def set_tools(name: str, data: bytes, file_name: str) -> None:
    """The tools of a file are now the session's, of twins the first, as where a session is read.
    Raises InputFault."""
    tools: dict[str, ToolMetadata] = {}
    for tool in read_tool_file(data, file_name).tools:
        tools.setdefault(tool.name, tool)
    texts = ",\n".join(map(state.tool_text, tools.values()))
    edit(name, Edit("all tools", f"[{texts}]"))


@uninterrupted()
def undo(name: str) -> None:
    """Take back the last step; first of all, what cannot be read."""
    if _drafts(name):
        state.hold(state.DRAFTS + name, {})
    elif steps := state.edit_steps(name):
        state.keep_steps(name, steps[:-1], [*state.undone_steps(name), steps[-1]])


@uninterrupted()
def redo(name: str) -> None:
    """Do again what was taken back last."""
    if undone := state.undone_steps(name):
        state.keep_steps(name, [*state.edit_steps(name), undone[-1]], undone[:-1])


def next_undo(name: str) -> str:
    """What `undo` would take back, in words; "" where there is nothing."""
    if _drafts(name):
        return "what cannot be read"
    steps = state.edit_steps(name)
    return steps[-1].label if steps else ""


def next_redo(name: str) -> str:
    """What `redo` would do again, in words."""
    undone = state.undone_steps(name)
    return undone[-1].label if undone else ""


@uninterrupted()
def reset(name: str) -> None:
    """The session as its file has it; every step can be done again, and last the model chosen."""
    state.hold(state.DRAFTS + name, {})
    model = state.held(state.MODEL)
    chosen = [Edit("model", model)] if model else []
    undone = [*state.undone_steps(name), *chosen, *reversed(state.edit_steps(name))]
    state.keep_steps(name, [], undone)
    state.choose(state.MODEL, None)


def _drafts(name: str) -> dict[str, tuple[str, str]]:
    return dict(state.held(state.DRAFTS + name) or {})
