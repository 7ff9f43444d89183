"""The Start page's list of the user's sessions, and of interrupted recordings."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final, NamedTuple

import streamlit as st

from playground.app import answers, navigation, state
from playground.app.serving import access
from playground.app.shared import belongings, brought, choosing, say, workspace
from playground.base import paths
from playground.base.errors import InputFault
from playground.base.wording import counted, grouped
from playground.dialects import dialect_names
from playground.questions.recognised_documents import PASTED
from playground.recordings.append_only_file import has_end, interrupted
from playground.sessions.entries import Label, read_label
from playground.sessions.loading import read_sessions
from playground.sessions.shapes.fields import mapping
from playground.sessions.source import Source

_FEW: Final = 6  # up to this number of sessions, there is no filter
_MOST_SHOWN: Final = 30
_HEADER: Final = 1 << 16  # bytes of a first line that are read
_NUMBERED: Final = re.compile(r"(.+) \d+")  # the name of a further session of one file
_UNFOLDED: Final = "unfolded sessions"
_HIDDEN: Final = "hidden recordings"  # interrupted recordings that were opened or hidden
_ORDERS: Final = ("Newest first", "By name", "Largest first")


class _Row(NamedTuple):
    """A stored session in the list, with what its label says."""

    name: str
    label: Label | None
    fault: str  # why there is no label
    changed: float
    size: int
    others: tuple[str, ...]  # further sessions of the same file, folded under this row


def show() -> None:
    """Show a row for each stored session: name, kind, model, last change and size."""
    names = state.tab().names()
    recordings = _interrupted()
    if not names and not recordings:
        say.text("What you import or edit appears here. " + workspace.where())
        return
    filter_text, order = "", _ORDERS[0]
    if len(names) > _FEW:
        with st.container(horizontal=True, key="filters of yours"):
            filter_text = st.text_input(
                "Filter",
                key="filter of yours",
                placeholder="Filter",
                width=260,
                label_visibility="collapsed",
            )
            order = st.selectbox(
                "Order", _ORDERS, key="order of yours", width=170, label_visibility="collapsed"
            )
    for name in recordings:
        _draw_interrupted(name)
    rows = _ordered(_rows(names, filter_text.lower()), order)
    for row in rows[:_MOST_SHOWN]:
        _draw(row)
    if (more := len(rows) - _MOST_SHOWN) > 0:
        say.text(f"{more:,} more are in the list of sessions.")
    say.caption(workspace.where())


def _rows(names: list[str], filter_text: str) -> list[_Row]:
    """Return a row for each session, or for all sessions of one file unless they are unfolded."""
    unfolded = state.get(_UNFOLDED) or []
    heads = {name: _row(name) for name in names if _head(name) not in names}
    others: dict[str, list[str]] = {}
    rows = []
    for name in names:
        if name in heads:
            continue
        row, head = _row(name), heads.get(_head(name))
        if head and head.label and row.label and head.label.origin == row.label.origin != "":
            others.setdefault(head.name, []).append(name)
            if head.name not in unfolded and not (filter_text and filter_text in name.lower()):
                continue
        rows.append(row)
    folded = [row._replace(others=tuple(others.get(row.name, ()))) for row in heads.values()]
    return [row for row in (*folded, *rows) if filter_text in row.name.lower()]


def _head(name: str) -> str:
    """Return the name of the first session of the same file; "" if `name` has no number."""
    found = _NUMBERED.fullmatch(name)
    return found[1] if found else ""


def _row(name: str) -> _Row:
    """Return an entry's row, from its label only: reading thirty sessions would take long."""
    changed, size = state.tab().workspace.shelf.stat(name)
    try:
        line = state.tab().first_line(name)
        label = None if line is None else read_label(line, name)
    except InputFault as fault:
        return _Row(name, None, str(fault), changed, size, ())
    return _Row(name, label, "" if label else "It was removed elsewhere.", changed, size, ())


def _ordered(rows: list[_Row], order: str) -> list[_Row]:
    if order == "By name":
        return sorted(rows, key=lambda row: row.name.lower())
    if order == "Largest first":
        return sorted(rows, key=lambda row: -row.size)
    return sorted(rows, key=lambda row: (-row.changed, row.name))


def _draw(row: _Row) -> None:
    label = row.label or Label()
    page = "replay" if label.recordings and label.messages <= 1 else "compare"
    with st.container(
        horizontal=True, key=f"kept {row.name}", vertical_alignment="center", gap="small"
    ):
        navigation.link(
            page, workspace.plain(say.shown(row.name)), width=260, session=say.option(row.name)
        )
        say.text(row.fault or _kind(label), width="stretch")
        if row.others:
            say.button(
                f"+ {len(row.others):,} of this file",
                key=f"others of {row.name}",
                type="tertiary",
                on_click=_fold,
                args=(row.name,),
            )
        say.text(say.shown(label.model) or "–", width=190)
        say.text(_time(row.changed), width=130)
        say.text(_size(row.size), width=70)
        workspace.remove_button(row.name)


def _kind(label: Label) -> str:
    """Describe a session: "edited" if it is, its parts, its title if it has one, and its file."""
    counts = {"message": label.messages, "tool": label.tools, "recording": label.recordings}
    parts = ", ".join(counted(number, noun) for noun, number in counts.items() if number)
    origin = label.origin and ("" if label.origin == PASTED else "from ") + label.origin
    title = "" if label.title == PurePath(label.origin).stem else label.title
    facts = ["edited" * bool(label.edits), parts or "empty", title, origin]
    return " · ".join(filter(None, facts))


def _fold(name: str) -> None:
    """Show the other sessions of a file, or fold them."""
    unfolded = state.get(_UNFOLDED) or []
    others = [each for each in unfolded if each != name]
    state.put(_UNFOLDED, others if name in unfolded else [*unfolded, name])


def _time(moment: float) -> str:
    if not moment:
        return ""
    changed_at = time.localtime(moment)
    is_today = changed_at[:3] == time.localtime()[:3]
    return time.strftime("today, %H:%M" if is_today else "%d %b %Y", changed_at)


def _size(size: int) -> str:
    if size < 1000:
        return f"{size} B" if size else ""
    return f"{grouped(size / 1e3)} kB" if size < 1e6 else f"{grouped(size / 1e6, 1)} MB"


# recordings without an end or a session, because the tab was closed or the program killed


def _interrupted() -> list[str]:
    if not access.current().may_keep:
        return []
    hidden = belongings.value(_HIDDEN) or []
    found = interrupted(paths.recordings(), answers.unstored())
    return [path.name for path in found if path.name not in hidden]


def _draw_interrupted(name: str) -> None:
    try:
        status = (paths.recordings() / name).stat()
        with (paths.recordings() / name).open("rb") as file:
            head = _header(file.readline(_HEADER))
        is_whole = has_end(paths.recordings() / name)
        kind = "recording in no session" if is_whole else "interrupted recording"
    except OSError:  # it is gone by now
        return
    with st.container(
        horizontal=True, key=f"kept {name}", vertical_alignment="center", gap="small"
    ):
        say.text(name, width=260)
        kind = " · ".join(filter(None, (kind, str(head.get("name", "")))))
        say.text(say.shown(kind), width="stretch")
        for label, page in (("Replay", "replay"), ("Ask again", "compare")):
            say.button(
                label, key=f"{label} {name}", type="tertiary", on_click=_resume, args=(name, page)
            )
        say.text(say.shown(str(head.get("model", ""))) or "–", width=190)
        say.text(_time(status.st_mtime), width=130)
        say.text(_size(status.st_size), width=70)
        icon = ":material/visibility_off:"
        say.button("Hide", key=f"Hide {name}", icon=icon, on_click=_hide, args=(name,))


def _header(data: bytes) -> dict[str, Any]:
    """Return a recording's first line; {} if it breaks off, or is of no recording."""
    try:
        return mapping(json.loads(data.partition(b"\n")[0]))
    except (ValueError, RecursionError):
        return {}


def _resume(name: str, page: str) -> None:
    """Make a session of an interrupted recording and its request. Open the session on a page."""
    try:
        data = (paths.recordings() / name).read_bytes()
        if page == "replay":
            state.add_file(name, data)
        else:
            _add_request(name, data)
    except (InputFault, OSError) as fault:
        state.put(state.REFUSED, str(fault))
        return
    _hide(name)
    brought.set_target(page)


def _add_request(name: str, data: bytes) -> None:
    """Make a session of a recording's request without the interrupted reply. The next run sends it
    to the same model and server, unchanged, because its text is in a dialect already."""
    session = next(read_sessions(Source(name, data))).session
    messages = session.messages[: session.replies[-1]] if session.requests else session.messages
    state.add_session(PurePath(name).stem, replace(session, messages=messages, requests=()))
    head = _header(data)
    dialect = str(head.get("dialect", ""))
    known = dialect if dialect in dialect_names() else "native"
    answers.ask_next(str(head.get("model", "")), str(head.get("server", "")), known)
    state.choose(choosing.CHOSEN, ["native"])


def _hide(name: str) -> None:
    """Hide an interrupted recording from the list; its file stays."""
    belongings.change(_HIDDEN, lambda names: [*(names or []), name])
