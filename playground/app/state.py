"""The only place that touches session_state and the URL. It keeps plain values and no instances
of classes that a source reload could replace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

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
SEVERAL = "sessions of one file"  # its name, and theirs
SHOWN_FIRST = "02-parallel-calls"  # a session in which dialects differ at first sight
REFUSED = "workspace fault"  # what the system refused, for the user to be told once
DRAFTS = "unread edits of "  # + session name → editor's key → its text, and what is wrong with it
_ADDRESS = "session of the address"  # what it said after the last run
_NEXT = "session of the next run"  # chosen while the widget that chooses was drawn already
_RUN = "run id"
_WORKSPACE = "workspace"  # of a visitor: the texts of the sessions, and of those in the trash


@dataclass(frozen=True)
class WorkingSession:
    """The chosen session with the user's edits, and the findings about its file.

    `changes` are what the edits and another model come to, in words.
    """

    name: str
    session: Session
    findings: list[Finding]
    changes: list[str]

    @property
    def is_edited(self) -> bool:
        """True if what is sent was edited: not by another model, nor by what is expected."""
        return any(change not in (MODEL, "expected calls") for change in self.changes)


# the sessions: samples, and what this tab sees of the workspace


def tab() -> Tab:
    """This tab's view of the workspace: of this machine's, or of one that is gone with the tab."""
    if access.current().keeps_sessions:
        return Tab(st.session_state, on_disk())
    texts = st.session_state.setdefault(_WORKSPACE, {"shelf": {}, "trash": {}})
    return Tab(st.session_state, Workspace(TabShelf(texts["shelf"]), TabShelf(texts["trash"])))


def session_names() -> list[str]:
    """Samples, and what the workspace has; an entry of a sample's name, which older workspaces
    have, takes the sample's place."""
    samples = sorted(paths.samples(), key=lambda name: name != SHOWN_FIRST)
    return [*samples, *(name for name in tab().names() if name not in samples)]


def chosen_name() -> str:
    """Return the name of the session that is asked for: by the choice, or by a link that was
    opened.
    """
    return str(st.session_state.get(SESSION) or _linked_name() or SHOWN_FIRST)


def _linked_name() -> str:
    """The session that the address names, which has hidden characters of a name escaped."""
    name = str(st.query_params.get(SESSION) or "")
    if "\\" not in name:
        return name
    return next((each for each in session_names() if visible(each) == name), name)


def follow_link() -> None:
    """A link within the app asks for a session: choose it. A widget that is drawn on every page
    keeps its value, whatever the address says, so what the address was is remembered."""
    if following := st.session_state.pop(_NEXT, None):
        st.session_state[SESSION] = following
    asked = _linked_name()
    # of a first run, the widget itself takes the name from the address, unless it stands there with
    # hidden characters in it: the widget knows it with these escaped
    followed = st.session_state.get(SESSION) or visible(asked) != asked
    if asked and followed and asked != st.session_state.get(_ADDRESS):
        st.session_state[SESSION] = asked
    st.session_state[_ADDRESS] = chosen_name()


def look_at(name: str) -> None:
    """Choose a session for the next run, after the widget that chooses was drawn."""
    st.session_state[_NEXT] = name


def entry(name: str) -> Entry | None:
    """Return the workspace's entry of this session. Raises InputFault if it cannot be read."""
    text = tab().text(name)
    return None if text is None else _entry(text, name)


@lru_cache(maxsize=16)  # the hash of a text is computed once, as long as the text lives
def _entry(text: str, name: str) -> Entry:
    return read_entry(text, name)


def working_session() -> WorkingSession:
    """Return the chosen session, edits applied."""
    name = st.session_state.get(SESSION) or SHOWN_FIRST
    loaded = _loaded(name)
    model = st.session_state.get(MODEL) or ""
    found = entry(name)
    recorded = found.recordings if found else ()
    session, changed = _edited(loaded.session, edit_steps(name), model, recorded)
    return WorkingSession(name, session, loaded.findings, changed)


def original_session(name: str) -> Session:
    """Return the session of that name as it came."""
    return _loaded(name).session


def _loaded(name: str) -> LoadedSession:
    """Return the session of that name as it came."""
    if found := entry(name):
        return LoadedSession(found.original, list(found.findings))
    path = paths.samples()[name]
    return _read(path.name, path.read_bytes())


@memoized(16)
def _read(file_name: str, data: bytes) -> LoadedSession:
    return next(read_sessions(Source(file_name, data)))


def session_file(working: WorkingSession) -> str:
    """Return the session, edits and all, as a file of ours."""
    return dump_session(working.session)


def open_session(name: str, session: Session) -> None:
    """A session that was made here stands beside the others, or in the place of the one of its
    name, and is chosen."""
    choose(SESSION, tab().write(name, _told(new_entry(session, scrub=_scrubs()))))


def tell_starred(counts: Mapping[str, int]) -> None:
    """Say how many secrets of which kind were starred out of what was kept; in passing."""
    if any(counts.values()):
        st.toast(f"{describe_stars(counts)} in what is kept", icon=":material/key_off:")


def _told(text: str, before: str | None = None) -> str:
    """Say what was starred out of an entry that replaces another; return it."""
    known = Counter(starred_in(before)) if before else Counter[str]()
    tell_starred(Counter(starred_in(text)) - known)
    return text


def add_recording(name: str, recording: Recording) -> str:
    """A recording that was made here belongs to the session of this name, the newest first. Return
    the name that the session is kept under; the next run shows it."""
    text = _kept_text(name)
    after = with_recording(text, recording, scrub=_scrubs())
    if after != text:  # a run that is shown again adds nothing
        kept = _stored(name, _told(after, text), "run")
        if kept != name:
            look_at(kept)
        return kept
    return name


def _kept_text(name: str) -> str:
    """Return the stored text of a session, or for a sample the text to store."""
    text = tab().text(name)
    if text is None:
        text = new_entry(_loaded(name).session, origin=name, scrub=_scrubs())
    return text


def _stored(name: str, text: str, done: str) -> str:
    """Store a session's text, and return the name that it has from now on: another one if another
    tab has changed it meanwhile, or if it is a sample. A sample never changes: what is `done` with
    it makes a session of its own."""
    if tab().text(name) is None and name in paths.samples():
        return tab().add(_free(f"{name}, {done}"), text)
    return tab().write(name, text)


def _scrubs() -> bool:
    """Return True if secrets are starred out: in everything that is written to a disk."""
    return access.current().keeps_sessions


def run_id(of: str = "request") -> str:
    """Return the id of this browser session's last run: of a request, or of a template."""
    return str(st.session_state.get(_RUN + of, ""))


def set_run_id(known: str, of: str = "request") -> None:
    st.session_state[_RUN + of] = known


# edits: the steps that were made; `history.py` makes them


def edit_key(name: str, field: str) -> str:
    return f"edit {name} {field}"


def edited_session(name: str) -> Session:
    """Return the session of that name with the user's edits, for its own model."""
    return _edited(_loaded(name).session, edit_steps(name), "", ())[0]


def edit_steps(name: str) -> tuple[Edit, ...]:
    """Return the user's edits of the session of that name."""
    found = entry(name)
    return found.edits if found else ()


def undone_steps(name: str) -> tuple[Edit, ...]:
    """Return those that were taken back, the last one last."""
    found = entry(name)
    return found.undone if found else ()


def keep_steps(name: str, steps: Sequence[Edit], undone: Sequence[Edit]) -> str:
    """These are the edits from now on, and those that can be done again. Return the name that the
    session is kept under, which is chosen. Raises InputFault where the session has no place for an
    edit."""
    _edited(_loaded(name).session, tuple(steps), "", ())
    before = _kept_text(name)
    after = _told(with_edits(before, steps, undone, scrub=_scrubs()), before)
    only_expected = all(step.action == "expected calls" for step in steps)
    kept = _stored(name, after, "with expected calls" if only_expected else "edited")
    choose(SESSION, kept)
    return kept


@memoized(16)
def _edited(
    session: Session, steps: tuple[Edit, ...], model: str, recorded: tuple[Recording, ...]
) -> tuple[Session, list[str]]:
    """Return the same object for the same edits: what was computed for it is found by its
    identity. And what has changed, in words.
    """
    after = edited(session, steps).with_model(model)
    changed = changes(session, after)
    if recorded:
        after = replace(after, recordings=(*recorded, *after.recordings))
    return after, changed


# what is added


def add_file(file_name: str, data: bytes, name: str = "") -> None:
    """A file's sessions stand beside the others, and the first is chosen."""
    stem = name or file_name.rpartition(".")[0] or file_name
    there, starred = list[str](), Counter[str]()
    for index, loaded in enumerate(read_sessions(Source(file_name, data))):
        free = _free(stem if index == 0 else f"{stem} {index + 1}")
        text = new_entry(
            loaded.session, origin=file_name, findings=loaded.findings, scrub=_scrubs()
        )
        there.append(tab().add(free, text))
        starred += Counter(starred_in(text))
    tell_starred(starred)
    choose(SESSION, there[0])
    hold(SEVERAL, [file_name, there] if len(there) > 1 else None)


def add_session(name: str, session: Session) -> None:
    """A session stands beside the others under a name that is free, and is chosen."""
    choose(SESSION, keep_session(name, session))


def keep_session(name: str, session: Session) -> str:
    """A session stands beside the others: the free name that it has there."""
    return tab().add(_free(name), _told(new_entry(session, scrub=_scrubs())))


def _free(name: str) -> str:
    """Return a name that is no sample's; the workspace numbers those that it has already."""
    return next(each for each in free_names(name) if each not in paths.samples())


def is_own(name: str) -> bool:
    """Return True if the session of this name was brought or made here, and is no sample."""
    return tab().text(name) is not None and name not in paths.samples()


# small values in the URL that no widget owns


def url_number(name: str, default: int = 0) -> int:
    text = str(st.query_params.get(name, ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def set_url_number(name: str, value: int) -> None:
    st.query_params[name] = str(value)


def follow_url(key: str, options: Sequence[str]) -> None:
    """Before a selectbox whose titles are other than its options' names: it holds the option that
    the address names, the first and usual one where it names none, and one that there is."""
    asked = st.query_params.get(key)
    if asked in options and (key not in st.session_state or went_back()):
        st.session_state[key] = asked
    elif st.session_state.get(key) not in options or went_back():
        st.session_state[key] = options[0]


def lead_on(key: str, names: Mapping[str, str]) -> None:
    """Before a bound widget is drawn first: an older name in the address means the present one."""
    asked = str(st.query_params.get(key, ""))
    if asked in names and key not in st.session_state:
        st.query_params.pop(key)
        st.session_state[key] = names[asked]


def lead_to(key: str, value: str) -> None:
    """Before a bound widget is drawn first: it holds this value, unless the address names one."""
    if key not in st.query_params and key not in st.session_state:
        st.session_state[key] = value


def went_back() -> bool:
    """Return True if the browser's Back or Forward asked for this run.

    Streamlit itself then follows the address, but only for widgets that are bound to it.
    """
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def tell_url(key: str, option: str, usual: str) -> None:
    """After it: the address names the option, unless it is the usual one."""
    if option != usual:
        st.query_params[key] = option
    else:
        st.query_params.pop(key, None)


def forget_url(name: str) -> None:
    """Remove a value from the address."""
    st.query_params.pop(name, None)


def forget_step() -> None:
    """Another recording is seen from its end."""
    forget_url("step")


def url_values() -> dict[str, str]:
    """Everything that the address says."""
    return st.query_params.to_dict()


def component_value(key: str, field: str) -> Any:
    """Return a value that a component reported; None before it did."""
    found: Any = st.session_state.get(key)
    return found.get(field) if isinstance(found, Mapping) else getattr(found, field, None)


def held(key: str) -> Any:
    """Return the value that `hold` stored under this key, or None."""
    return st.session_state.get(key)


def hold(key: str, value: Any) -> None:
    """Keep a plain value as long as the browser's session lasts."""
    st.session_state[key] = value


def choose(key: str, value: Any) -> None:
    """Set a widget's value before the widget is drawn: from a callback, or in every run."""
    st.session_state[key] = value


def forget(key: str) -> None:
    """A widget begins anew, or a held value is gone."""
    st.session_state.pop(key, None)


def keep_within(key: str, most: int) -> None:
    """Before a number's widget is drawn: what it holds is no more than it allows."""
    if st.session_state.get(key, 0) > most:
        st.session_state[key] = most
