"""Access to session_state and the URL: other modules use both only through this one, but may pass
values to a page's URL. It stores only plain values, because a reload replaces our classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import ScriptRunContext, get_script_run_ctx

from playground.app.serving import access
from playground.app.shared.memoized import memoized
from playground.base import paths
from playground.base.findings import Finding
from playground.base.wording import visible
from playground.recordings.recording import Recording
from playground.recordings.scrubbing import describe_stars
from playground.sessions.changes import changes
from playground.sessions.editing import Edit, edited
from playground.sessions.entries import (
    Entry,
    new_entry,
    read_entry,
    starred_in,
    with_edits,
    with_recording,
)
from playground.sessions.loading import LoadedSession, read_sessions
from playground.sessions.native_format import dump_session
from playground.sessions.session import Session
from playground.sessions.source import Source
from playground.sessions.workspaces import Tab, TabShelf, Workspace, free_names, on_disk

SESSION = "session"
MODEL = "model"
SEVERAL = "sessions of one file"  # holds the file's name, and the sessions' names
SHOWN_FIRST = "02-parallel-calls"  # a session in which dialects differ at first sight
REFUSED = "workspace fault"  # the reason why the workspace could not be written; shown once
DRAFTS = "unread edits of "  # + session name -> editor's key -> its unreadable text, the fault
MODELS = "models chosen for "  # + session name -> the changes of its model
OPEN_BLOCK = "open block of "  # + session name -> origin, number of its text box, last fault
POLICY_OF = "policy of "  # + session name -> the policy that was chosen for it last
MARKS_OF = "marks in "  # + session name -> "dialect policy's-marks" -> the user's marks for these
DECLARE_FROM = "start of the next declaration"  # its kind, a name and a file's bytes
STORED_AS = "new name of "  # + session name -> the name under which it is stored now
_ADDRESS = "session of the address"  # the name in the address after the last run
_NEXT = "session of the next run"  # chosen after the list of sessions was drawn
_RUN = "run id"
_WORKSPACE = "workspace"  # a visitor's: the texts of sessions and of deleted sessions


@dataclass(frozen=True)
class WorkingSession:
    """The chosen session with the user's edits, and the findings about its file.

    `changes` says in words what the edits and another model have changed.
    """

    name: str
    session: Session
    findings: list[Finding]
    changes: list[str]

    @property
    def is_edited(self) -> bool:
        """True if an edit changed the request itself, not only the model or the expected calls."""
        return any(change not in (MODEL, "expected calls") for change in self.changes)


# the sessions: samples, and this tab's view of the workspace


def tab() -> Tab:
    """Return this tab's view of a workspace: the machine's, or one that ends with the tab."""
    if access.current().keeps_sessions:
        return Tab(st.session_state, on_disk())
    texts = st.session_state.setdefault(_WORKSPACE, {"shelf": {}, "trash": {}})
    return Tab(st.session_state, Workspace(TabShelf(texts["shelf"]), TabShelf(texts["trash"])))


def session_names() -> list[str]:
    """Return the samples and the workspace's sessions.

    A stored session that has a sample's name, as in older workspaces, replaces the sample.
    """
    samples = sorted(paths.samples(), key=lambda name: name != SHOWN_FIRST)
    return [*samples, *(name for name in tab().names() if name not in samples)]


def chosen_name() -> str:
    """Return the requested session's name: from the list, an opened link, or the default."""
    return str(st.session_state.get(SESSION) or _linked_name() or SHOWN_FIRST)


def _linked_name() -> str:
    """Return the session's name in the address, its escaped characters restored; "" if none."""
    name = str(st.query_params.get(SESSION) or "")
    if "\\" not in name:
        return name
    return next((each for each in session_names() if visible(each) == name), name)


def follow_link() -> None:
    """Choose the session that `look_at` or a link within the app names.

    A widget that is drawn on every page keeps its value even if the address changes. So the last
    address is stored, and an address that differs from it is followed.
    """
    if following := st.session_state.pop(_NEXT, None):
        st.session_state[SESSION] = following
    linked = _linked_name()
    # In a tab's first run the widget takes the name from the address by itself, unless hidden
    # characters are escaped in it.
    followed = st.session_state.get(SESSION) or visible(linked) != linked
    if linked and followed and linked != st.session_state.get(_ADDRESS):
        st.session_state[SESSION] = linked
    st.session_state[_ADDRESS] = chosen_name()
    forget(STORED_AS + chosen_name())  # a link to a sample shows the sample, not its edited copy


def look_at(name: str) -> None:
    """Choose a session for the next run, even if this run has drawn the list of sessions."""
    st.session_state[_NEXT] = name


def entry(name: str) -> Entry | None:
    """Return this session's entry in the workspace, or None. Raises InputFault for a broken one."""
    text = tab().text(name)
    return None if text is None else _entry(text, name)


@lru_cache(maxsize=16)  # Python stores a text's hash in the text, so a hit is cheap
def _entry(text: str, name: str) -> Entry:
    return read_entry(text, name)


def working_session() -> WorkingSession:
    """Return the chosen session with its edits, its recordings and the chosen model."""
    name = st.session_state.get(SESSION) or SHOWN_FIRST
    loaded = _loaded(name)
    model = st.session_state.get(MODEL) or ""
    found = entry(name)
    recorded = found.recordings if found else ()
    session, changed = _edited(loaded.session, edit_steps(name), model, recorded)
    return WorkingSession(name, session, loaded.findings, changed)


def original_session(name: str) -> Session:
    """Return the session of that name without edits."""
    return _loaded(name).session


def _loaded(name: str) -> LoadedSession:
    """Return the session of that name without edits, and its findings."""
    if found := entry(name):
        return LoadedSession(found.original, list(found.findings))
    path = paths.samples()[name]
    return _read(path.name, path.read_bytes())


@memoized(16)
def _read(file_name: str, data: bytes) -> LoadedSession:
    return next(read_sessions(Source(file_name, data)))


def session_file(working: WorkingSession) -> str:
    """Return the session, with its edits, as a session file."""
    return dump_session(working.session)


def open_session(name: str, session: Session) -> None:
    """Store a session that was made here under this name, replacing any other, and choose it."""
    choose(SESSION, tab().write(name, _report_stars(new_entry(session, scrub=_scrubs()))))


def tell_starred_secrets(counts: Mapping[str, int]) -> None:
    """Show briefly how many secrets of each kind were replaced by stars in stored texts."""
    if any(counts.values()):
        st.toast(f"{describe_stars(counts)} in what is kept", icon=":material/key_off:")


def _report_stars(text: str, before: str | None = None) -> str:
    """Report the secrets that were newly replaced by stars in an entry's text; return the text."""
    known = Counter(starred_in(before)) if before else Counter[str]()
    tell_starred_secrets(Counter(starred_in(text)) - known)
    return text


def add_recording(name: str, recording: Recording) -> str:
    """Add a recording that was made here to the session of this name, before its other recordings.

    Return the name under which the session is stored; choose it if the session is still chosen.
    """
    text = _kept_text(name)
    after = with_recording(text, recording, scrub=_scrubs())
    if after != text:  # the text is equal if the answer was added before
        stored_name = _stored(name, _report_stars(after, text), "run")
        if stored_name != name == (get(_NEXT) or chosen_name()):
            look_at(stored_name)
        return stored_name
    return name


def _kept_text(name: str) -> str:
    """Return the stored text of a session, or for a sample the text to store."""
    text = tab().text(name)
    if text is None:
        text = new_entry(_loaded(name).session, origin=name, scrub=_scrubs())
    return text


def _stored(name: str, text: str, done: str) -> str:
    """Store a session's text, and return the name under which the workspace stored it. A sample
    never changes, so a new session is stored, named after the sample and what was `done`."""
    if tab().text(name) is None and name in paths.samples():
        return tab().add(_free(f"{name}, {done}"), text)
    return tab().write(name, text)


def name_now(name: str) -> str:
    """Return the present name of a session, which an edit, a run or the user may have changed.

    A callback of a widget that was drawn earlier may have the old name. If the user has chosen
    another session since, return the old name unchanged.
    """
    new = get(STORED_AS + name)
    return str(new) if new and new == (get(_NEXT) or chosen_name()) else name


def _scrubs() -> bool:
    """Return True if secrets are replaced by stars, because texts are written to a disk."""
    return access.current().keeps_sessions


def run_id(of: str = "request") -> str:
    """Return the id of this browser session's last run: of a request, a template or a trial."""
    return str(st.session_state.get(_RUN + of, ""))


def set_run_id(new_id: str, of: str = "request") -> None:
    st.session_state[_RUN + of] = new_id


# edits: the stored steps, which `history.py` makes


def edit_key(name: str, field: str) -> str:
    return f"edit {name} {field}"


def edited_session(name: str) -> Session:
    """Return the session of that name with the user's edits, for the model that its file names."""
    return _edited(_loaded(name).session, edit_steps(name), "", ())[0]


def edit_steps(name: str) -> tuple[Edit, ...]:
    """Return the user's edits of the session of that name."""
    found = entry(name)
    return found.edits if found else ()


def undone_steps(name: str) -> tuple[Edit, ...]:
    """Return the undone edits; the one undone last is at the end."""
    found = entry(name)
    return found.undone if found else ()


def keep_steps(name: str, steps: Sequence[Edit], undone: Sequence[Edit]) -> str:
    """Store `steps` as the session's edits, and `undone` as the edits that can be redone.

    Choose and return the name under which the session is stored. Raises InputFault if an edit
    does not fit the session.
    """
    _edited(_loaded(name).session, tuple(steps), "", ())
    before = _kept_text(name)
    after = _report_stars(with_edits(before, steps, undone, scrub=_scrubs()), before)
    only_expected = all(step.action == "expected calls" for step in steps)
    stored_name = _stored(name, after, "with expected calls" if only_expected else "edited")
    choose(SESSION, stored_name)
    return stored_name


@memoized(16)
def _edited(
    session: Session, steps: tuple[Edit, ...], model: str, recorded: tuple[Recording, ...]
) -> tuple[Session, list[str]]:
    """Return the edited session and a description of the changes. The same edits give the same
    object, because other caches look up values by identity."""
    after = edited(session, steps).with_model(model)
    changed = changes(session, after)
    if recorded:
        after = replace(after, recordings=(*recorded, *after.recordings))
    return after, changed


# adding sessions


def add_file(file_name: str, data: bytes, name: str = "") -> None:
    """Add a file's sessions to the others, and choose the first."""
    stem = name or file_name.rpartition(".")[0] or file_name
    names, starred = list[str](), Counter[str]()
    for index, loaded in enumerate(read_sessions(Source(file_name, data))):
        free = _free(stem if index == 0 else f"{stem} {index + 1}")
        text = new_entry(
            loaded.session, origin=file_name, findings=loaded.findings, scrub=_scrubs()
        )
        names.append(tab().add(free, text))
        starred += Counter(starred_in(text))
    tell_starred_secrets(starred)
    choose(SESSION, names[0])
    put(SEVERAL, [file_name, names] if len(names) > 1 else None)


def add_session(name: str, session: Session) -> None:
    """Add a session under a free name, and choose it."""
    choose(SESSION, keep_session(name, session))


def keep_session(name: str, session: Session) -> str:
    """Add a session under a free name, and return this name."""
    return tab().add(_free(name), _report_stars(new_entry(session, scrub=_scrubs())))


def _free(name: str) -> str:
    """Return a name that no sample has; the workspace adds a number to a name in use."""
    return next(each for each in free_names(name) if each not in paths.samples())


def is_own(name: str) -> bool:
    """Return True if the session of this name was imported or made here, and is not a sample."""
    return tab().text(name) is not None and name not in paths.samples()


# small values in the URL that no widget owns


def url_number(name: str, default: int = 0) -> int:
    text = str(st.query_params.get(name, ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def follow_url(key: str, options: Sequence[str]) -> None:
    """Set a selectbox whose titles differ from its options, before it is drawn. At first and after
    Back or Forward, choose the option in the address; if none there is valid, choose the first."""
    in_address = st.query_params.get(key)
    if in_address in options and (key not in st.session_state or went_back()):
        st.session_state[key] = in_address
    elif st.session_state.get(key) not in options or went_back():
        st.session_state[key] = options[0]


def rename_in_address(key: str, names: Mapping[str, str]) -> None:
    """Replace an older name in the address, before a bound widget is first drawn."""
    in_address = str(st.query_params.get(key, ""))
    if in_address in names and key not in st.session_state:
        st.query_params.pop(key)
        st.session_state[key] = names[in_address]


def correct_names_in_address(key: str, options: Sequence[str]) -> list[str]:
    """Split names that commas join, remove unknown names, and return these. Streamlit ignores such
    a value in the address of a bound widget. Call this before the widget is drawn."""
    in_address, context = st.query_params.get_all(key), get_script_run_ctx()
    if context is None or all(name in options for name in in_address):
        return []
    names = list(dict.fromkeys(name.strip() for value in in_address for name in value.split(",")))
    _set_in_address(context, key, [name for name in names if name in options])
    return [name for name in names if name and name not in options]


def _set_in_address(context: ScriptRunContext, key: str, value: str | list[str]) -> None:
    with context.session_state.query_params() as address:
        if bound := address.get_binding_for_param(key):  # to a widget of the page before
            address.unbind_widget(bound.widget_id)
        address[key] = value
        address.set_initial_query_params_from_current()  # the widget takes its value from these


def set_unless_in_address(key: str, value: str) -> None:
    """Set a bound widget before it is first drawn, unless the address has a value for it. The
    address gets the value: without it, Back would show the widget's default."""
    context = get_script_run_ctx()
    if context and key not in st.query_params and key not in st.session_state:
        _set_in_address(context, key, value)


def went_back() -> bool:
    """Return True if the browser's Back or Forward asked for this run. Streamlit itself then
    follows the address, but only for widgets that are bound to it."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def tell_url(key: str, option: str, usual: str) -> None:
    """Write a value into the address, a selectbox's after it is drawn; leave out the default."""
    if option != usual:
        st.query_params[key] = option
    else:
        st.query_params.pop(key, None)


def forget_url(name: str) -> None:
    """Remove a value from the address."""
    st.query_params.pop(name, None)


def address() -> str:
    """Return the link to the current view."""
    values = {name: st.query_params.get_all(name) for name in st.query_params}
    return f"{st.context.url}?{urlencode(values, doseq=True)}".rstrip("?")


def url_values() -> dict[str, str]:
    """Return all values in the address."""
    return st.query_params.to_dict()


def component_value(key: str, field: str) -> Any:
    """Return a value that a component reported; None before it reports any."""
    found: Any = st.session_state.get(key)
    return found.get(field) if isinstance(found, Mapping) else getattr(found, field, None)


def get(key: str) -> Any:
    """Return the value of this key in the session state, or None."""
    return st.session_state.get(key)


def put(key: str, value: Any) -> None:
    """Store a plain value for as long as the browser's session lasts."""
    st.session_state[key] = value


def choose(key: str, value: Any) -> None:
    """Set a widget's value before the widget is drawn: from a callback, or in every run."""
    st.session_state[key] = value


def forget(key: str) -> None:
    """Remove a value. If it is a widget's, the widget gets its default again."""
    st.session_state.pop(key, None)


def keep_within(key: str, most: int) -> None:
    """Lower a number widget's value to `most`, before the widget is drawn."""
    if st.session_state.get(key, 0) > most:
        st.session_state[key] = most
