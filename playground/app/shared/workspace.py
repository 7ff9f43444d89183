"""The workspace on every page: actions on the chosen session, and notices about the workspace.

All actions run in callbacks, before anything is drawn. If the system refuses one, the reason is
shown in one line.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Final

import streamlit as st

from playground.app import state
from playground.app.serving import access
from playground.app.shared import history, say, widget_changes, widgets
from playground.app.shared.memoized import memoized
from playground.app.state import WorkingSession
from playground.base import paths
from playground.base.errors import InputFault, PlaygroundError
from playground.base.wording import counted
from playground.recordings.scrubbing import describe_stars
from playground.sessions.checks import repair
from playground.sessions.session import Session

OTHER: Final = "another session"
_NEAREST: Final = 3
_FAULT: Final = "fault of the disk"  # why the chosen session is not stored, shown below the bar
_NAME: Final = "name of "  # + session name → the field in which it is renamed


def can_show_session() -> bool:
    """Return True if the requested session can be shown. Store the reason if it cannot be read."""
    state.follow_link()
    name = state.chosen_name()
    state.tab().look(name)
    if name not in state.session_names():
        return False
    try:
        state.entry(name)
    except InputFault as fault:
        state.put(state.REFUSED, str(fault))
        return False
    return True


def choose_other(name: str | None) -> None:
    """Choose another session in place of a missing one."""
    if name:
        _open(name)


def missing() -> None:
    """Show that the session does not exist, and the most similar names, in place of a page."""
    name = state.chosen_name()
    if name in state.session_names():
        st.error("This session cannot be read. Its file is left as it is.")
        say.text(str(state.get(state.REFUSED) or ""))
        state.put(state.REFUSED, "")
    else:
        st.error("This link asks for a session that is not here.")
        say.text(name)
        say.caption(where())
    trashed = [each for each in state.tab().workspace.trashed() if each == name]
    nearest = get_close_matches(name, _others(name), n=_NEAREST, cutoff=0.3)
    with st.container(horizontal=True):
        for each in trashed:
            _button("Take it out of the trash", "restore_from_trash", _restore, each)
        for each in nearest or _others(name)[:1]:
            _button(f"Open {plain(each)}", "arrow_forward", _open, each)


def _others(name: str) -> list[str]:
    return [each for each in state.session_names() if each != name]


def notice() -> None:
    """Show the changes of the workspace since the last run, and possible actions."""
    if fault := state.get(state.REFUSED):
        st.error("This could not be done.")
        say.text(fault)
        state.put(state.REFUSED, "")
    if fault := state.get(_FAULT):
        st.error("Not saved: it is stored in this tab only.")
        say.text(fault)
        _button("Try again", "refresh", _keep_again, state.chosen_name())
        state.put(_FAULT, "")
    found = state.tab().notice()
    if found is None:
        return
    if found.kind == "removed":
        st.info("Moved into the trash:")
        say.text(found.name)
        with st.container(horizontal=True):
            _button("Undo delete", "undo", _restore, found.other)
            _button("Dismiss", "close", _dismiss)
        return
    st.warning("Another tab changed this session meanwhile. What you did is kept as a copy:")
    say.text(found.other)
    with st.container(horizontal=True):
        _button("Keep both", "content_copy", _dismiss)
        _button("Show the other tab's", "visibility", _take_the_others)
        _button("Put mine in its place", "swap_horiz", _take_mine)


def show_sessions_of_file() -> None:
    """Show which of a file's sessions is open, and buttons to the others."""
    several: tuple[str, list[str]] | None = state.get(state.SEVERAL)
    file_name, names = several or ("", [])
    chosen = state.chosen_name()
    if chosen not in names:
        return
    at = names.index(chosen)
    say.text(f"Session {at + 1:,} of {len(names):,} in one file:\n{file_name}")
    with st.container(horizontal=True):
        for label, other in (("Previous", at - 1), ("Next", at + 1)):
            say.button(
                label,
                key=f"{label} of several",
                disabled=not 0 <= other < len(names),
                on_click=state.choose,
                args=(state.SESSION, names[max(0, min(other, len(names) - 1))]),
            )


# in the bar


def select(is_there: bool) -> None:
    """Draw the list in which the session of all pages is chosen."""
    if not is_there:
        st.selectbox(
            "Session",
            state.session_names(),
            index=None,
            format_func=say.option,
            key=OTHER,
            placeholder="Choose another",
            label_visibility="collapsed",
            width=240,
            on_change=widget_changes.of(OTHER, choose_other),
        )
        return
    st.selectbox(
        "Session",
        state.session_names(),
        format_func=say.option,
        key=state.SESSION,
        bind="query-params",
        label_visibility="collapsed",
        width=240,
    )


def menu(working: WorkingSession, narrow: Callable[[], None]) -> None:
    """Show the chosen session's description, whether it is stored, and the actions on it; on a
    narrow screen, also what `narrow` draws."""
    if fault := state.tab().fault(working.name):
        state.put(_FAULT, fault)
    problems = len(working.findings)
    with st.container(key="edited" if working.is_edited else "unedited"):  # a place without a word
        st.badge("edited" if working.is_edited else "\u2003", color="gray", help="See its menu.")
    with st.popover(
        counted(problems, "problem") if problems else "This session",
        icon=":material/more_horiz:",
        key="workspace menu",
        on_change="rerun",
    ) as place:
        if not place.open:
            return
        with st.container(horizontal=True, key="narrow"):
            narrow()
        if working.session.purpose:
            say.text(working.session.purpose)
        if working.session.scripted:
            st.caption("Hand-written sample")
        show_sessions_of_file()
        _edits(working)
        _show_problems(working)
        say.download_button(
            "Download",
            lambda: state.session_file(working),
            f"{working.name}.json",
            key="download session",
            icon=":material/download:",
            help="A session file: edits and recordings are in it.",
        )
        _button("Duplicate", "content_copy", _duplicate, working.name)
        if state.entry(working.name) is None:
            st.caption("A sample, which never changes: edits and runs make a session of their own.")
        else:
            _actions_on_stored(working.name)
        say.caption(where())


def _edits(working: WorkingSession) -> None:
    """Show the differences from the session's file, and a button that undoes them."""
    if working.changes:
        say.text("Edited: " + ", ".join(working.changes))
    if working.changes or history.next_undo(working.name):
        st.button(
            "Back to the original",
            key="Discard all edits",
            icon=":material/restart_alt:",
            on_click=history.reset,
            args=(working.name,),
        )


def _actions_on_stored(name: str) -> None:
    key = widget_changes.place(_NAME + name, name)  # gives a new field if the name was refused
    st.text_input(
        "Name", name, key=key, on_change=widget_changes.of(key, _rename, name, shown=name)
    )
    found = state.entry(name)
    if found and found.label.starred:
        say.caption(f"{describe_stars(found.label.starred)}, in what is kept.")
    _button("Delete", "delete", _remove, name)


def where() -> str:
    """Return a sentence that says where sessions are stored, or that they are not."""
    if access.current().keeps_sessions:
        return f"Kept in {paths.workspace()}."
    if access.current().may_keep:
        return "Nothing is kept: the app was started with --no-workspace. A reload forgets it."
    return "Others use this server, so nothing is kept: what you import is gone with this tab."


# the Start page


def trash() -> None:
    """Show the deleted sessions, with buttons that restore or destroy them."""
    names = state.tab().workspace.trashed()
    if not names:
        return
    with say.expander(f"Trash: {len(names)}", icon=":material/delete:"):
        for name in names:
            with st.container(horizontal=True, vertical_alignment="center"):
                say.text(name)
                _button("Restore", "restore_from_trash", _restore, name)
        if st.checkbox("These are not needed any more", key="empty trash sure"):
            _button("Empty the trash for good", "delete_forever", _empty)


def plain(name: str) -> str:
    """Return a name as text within Markdown."""
    return "".join(f"\\{each}" if each in "\\`*_{}[]()<>#+-.!|~$:" else each for each in name)


def remove_button(name: str) -> None:
    """Draw the button that deletes a session in a list; the notice then offers to undo that."""
    _button("Delete", "delete", _remove, name, key="delete kept")


# the buttons' actions


def _button(label: str, icon: str, act: Callable[..., None], *args: str, key: str = "") -> None:
    """Draw a button; `key` distinguishes buttons that have the same label."""
    say.button(
        label,
        key=" ".join(["workspace", key or label, *args]),
        icon=f":material/{icon}:",
        on_click=_report_refusal,
        args=(act, *args),
    )


def _report_refusal(act: Callable[..., None], *args: str) -> None:
    try:
        act(*args)
    except PlaygroundError as fault:
        state.put(state.REFUSED, str(fault))


def _open(name: str) -> None:
    state.choose(state.SESSION, name)


def _rename(new_name: str, name: str) -> None:
    _report_refusal(_take_name, name, new_name)


def _take_name(name: str, new_name: str) -> None:
    if new_name in paths.samples():  # the session would hide the sample
        raise InputFault(f"{new_name!r} is a sample's name", expected="another name")
    new = state.tab().rename(name, new_name)
    _open(history.copy_values(name, new, renamed=True))


def _duplicate(name: str) -> None:
    working = state.working_session()
    if state.entry(name) is None:
        state.add_session(f"{name} copy", working.session)
    else:
        _open(state.tab().duplicate(name))


def _remove(name: str) -> None:
    """Delete a session; if it is open, the first sample takes its place. The notice says so."""
    state.tab().remove(name)
    if state.chosen_name() == name:
        _open(state.SHOWN_FIRST)


def _restore(trashed: str) -> None:
    _open(state.tab().restore(trashed))


def _keep_again(name: str) -> None:
    _open(state.tab().keep_again(name))


def _dismiss() -> None:
    state.tab().forget_notice()


def _take_the_others() -> None:
    _open(state.tab().take_the_others())


def _take_mine() -> None:
    _open(state.tab().take_mine())


def _empty() -> None:
    state.tab().workspace.empty()


def _show_problems(working: WorkingSession) -> None:
    """List the problems of the file, with a button if some can be repaired."""
    widgets.show_findings(working.findings, "in the session file")
    if done := _repaired(working.session)[1] if working.findings else []:
        say.button(
            f"Repair {len(done)} of them",
            icon=":material/healing:",
            on_click=_accept_repair,
            help="Only what has a single possible repair. The file itself does not change.",
        )


@memoized(8)
def _repaired(session: Session) -> tuple[Session, list[str]]:
    return repair(session)


def _accept_repair() -> None:
    """Add the repaired session to the workspace, and choose it; the loaded one stays."""
    working = state.working_session()
    repaired, _ = _repaired(working.session)
    state.add_session(f"{working.name} (repaired)", repaired)
