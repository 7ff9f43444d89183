"""The only place that touches session_state and the URL. It keeps plain values and no instances
of classes that a source reload could replace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Any

import streamlit as st

from playground import paths
from playground.caching.own_policies import OwnPolicy, parse_policy
from playground.errors import InputFault
from playground.findings import Finding
from playground.recordings.recording import Recording
from playground.sessions.changes import changes
from playground.sessions.doctor import repair
from playground.sessions.editing import Edit, edited
from playground.sessions.loading import LoadedSession, read_sessions
from playground.sessions.native_format import dump_recording, dump_session, read_recording
from playground.sessions.session import Session
from playground.sessions.source import Source
from playground.tools import ToolMetadata
from playground.ui.shared.kept import kept

SESSION = "session"
MODEL = "model"
SHOWN_FIRST = "02-parallel-calls"  # a session in which dialects differ at first sight
_UPLOADS = "uploads"  # name → file name, bytes, and which of the file's sessions
STEPS = "edits of "  # + session name → the user's edits, each as plain values
UNDONE = "undone edits of "  # + session name → those that were taken back, the last one last
DRAFTS = "unread edits of "  # + session name → editor's key → its text, and what is wrong with it
POLICY_UPLOAD = "policy upload"
_POLICIES = "own policies"  # name → its file's text
_POLICY_ERROR = "policy error"
_RUN = "run id"
_MADE = "recordings of "  # + session name → recordings made here, each as JSON


@dataclass(frozen=True)
class WorkingSession:
    """The chosen session with the user's edits, and the findings about its file.

    `changes` are what the edits and another model come to, in words.
    """

    name: str
    session: Session
    findings: list[Finding]
    changes: list[str]


@kept(16)
def _read(file_name: str, data: bytes, index: int) -> LoadedSession:
    sessions = read_sessions(Source(file_name, data))
    return next(islice(sessions, index, None))


def session_names() -> list[str]:
    samples = sorted(paths.samples(), key=lambda name: name != SHOWN_FIRST)
    return [*samples, *st.session_state.get(_UPLOADS, {})]


def working_session() -> WorkingSession:
    """The chosen session, edits applied."""
    name = st.session_state.get(SESSION) or SHOWN_FIRST
    loaded = _loaded(name)
    recorded = tuple(map(_made, st.session_state.get(_MADE + name, [])))
    model = st.session_state.get(MODEL) or ""
    session, changed = _edited(loaded.session, edit_steps(name), model, recorded)
    return WorkingSession(name, session, loaded.findings, changed)


def original_session(name: str) -> Session:
    """The session of that name as its file has it."""
    return _loaded(name).session


def _loaded(name: str) -> LoadedSession:
    """The session of that name as its file has it."""
    uploads: dict[str, tuple[str, bytes, int]] = st.session_state.get(_UPLOADS, {})
    if name in uploads:
        return _read(*uploads[name])
    path = paths.samples()[name]
    return _read(path.name, path.read_bytes(), 0)


def session_file(working: WorkingSession) -> str:
    """The session, edits and all, as a file of ours."""
    return dump_session(working.session)


def repairs() -> list[str]:
    """What the doctor can mend in the chosen session in one way only, in words."""
    return repair(working_session().session)[1]


def accept_repair() -> None:
    """The repaired session stands beside the one that was loaded, and is chosen."""
    working = working_session()
    mended, _ = repair(working.session)
    name = f"{working.name} (repaired)"
    _add({name: (f"{name}.json", dump_session(mended).encode(), 0)})
    st.session_state[SESSION] = name


def open_session(name: str, session: Session) -> None:
    """A session that was made here stands beside the others, or in the place of the one of its
    name, and is chosen."""
    for kind in (STEPS, UNDONE, DRAFTS):
        st.session_state.pop(kind + name, None)
    _add({name: (f"{name}.json", dump_session(session).encode(), 0)})
    st.session_state[SESSION] = name


def add_recording(name: str, recording: Recording) -> None:
    """A recording that was made here belongs to the session of this name, the newest first."""
    made: list[str] = st.session_state.get(_MADE + name, [])
    others = [text for text in made if _made(text).name != recording.name]
    st.session_state[_MADE + name] = [json.dumps(dump_recording(recording)), *others]


@kept(64)
def _made(text: str) -> Recording:
    """The same object for the same text, which is hashed in a millisecond: as values, the chunks
    of a long reply took 80 ms and more at every run."""
    return read_recording(json.loads(text))


def run_id(of: str = "request") -> str:
    """The id of this browser session's last run: of a request, or of a template."""
    return str(st.session_state.get(_RUN + of, ""))


def set_run_id(known: str, of: str = "request") -> None:
    st.session_state[_RUN + of] = known


def _add(files: dict[str, tuple[str, bytes, int]]) -> None:
    st.session_state[_UPLOADS] = {**st.session_state.get(_UPLOADS, {}), **files}


# edits: the steps that were made; `history.py` makes them


def edit_key(name: str, field: str) -> str:
    return f"edit {name} {field}"


def edited_text(key: str, text: str) -> str:
    """What an editor starts with: the user's text if there is one."""
    return str(st.session_state.get(key, text))


def edited_session(name: str) -> Session:
    """The session of that name with the user's edits, for its own model."""
    return _edited(_loaded(name).session, edit_steps(name), "", ())[0]


def edit_steps(name: str) -> list[dict[str, Any]]:
    """The user's edits of the session of that name: the fields of an `Edit` each."""
    return list(st.session_state.get(STEPS + name, []))


def keep_steps(name: str, steps: list[dict[str, Any]]) -> None:
    """These are the edits from now on. Raises InputFault where the session has no place for one."""
    _edited(_loaded(name).session, steps, "", ())
    st.session_state[STEPS + name] = steps


@kept(16)
def _edited(
    session: Session, steps: list[dict[str, Any]], model: str, recorded: tuple[Recording, ...]
) -> tuple[Session, list[str]]:
    """The same object for the same edits: what was computed for it is found by its identity. And
    what has changed, in words."""
    after = edited(session, [Edit(**step) for step in steps]).with_model(model)
    changed = changes(session, after)
    if recorded:
        after = replace(after, recordings=(*recorded, *after.recordings))
    return after, changed


def tool_text(tool: ToolMetadata) -> str:
    return json.dumps(
        tool.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False, indent=1
    )


# what is added


def add_file(file_name: str, data: bytes, sessions: int, name: str = "") -> None:
    """A file's sessions stand beside the others, and the first is chosen."""
    stem = _free_name(name or file_name.rpartition(".")[0] or file_name)
    names = [stem if index == 0 else f"{stem} {index + 1}" for index in range(sessions)]
    _add({each: (file_name, data, index) for index, each in enumerate(names)})
    st.session_state[SESSION] = stem


def add_session(name: str, session: Session) -> None:
    """A session stands beside the others under a name that is free, and is chosen."""
    open_session(_free_name(name), session)


def _free_name(name: str) -> str:
    taken = session_names()
    numbered = (f"{name} ({number})" for number in count(2))
    return name if name not in taken else next(each for each in numbered if each not in taken)


def is_own(name: str) -> bool:
    """Whether the session of this name was brought or made here, and is no sample."""
    return name in st.session_state.get(_UPLOADS, {})


def accept_policy() -> None:
    """A policy file was given: keep it, or say what is wrong with it."""
    given = st.session_state.get(POLICY_UPLOAD)
    st.session_state[_POLICY_ERROR] = ""
    if given is None:
        return
    try:
        keep_policy(parse_policy(given.getvalue(), given.name))
    except InputFault as fault:
        st.session_state[_POLICY_ERROR] = str(fault)


def policy_error() -> str:
    return str(st.session_state.get(_POLICY_ERROR, ""))


def own_policies() -> list[OwnPolicy]:
    """The user's own policies, as long as the browser's session lasts."""
    texts: dict[str, str] = st.session_state.get(_POLICIES, {})
    return [parse_policy(text, name) for name, text in texts.items()]


def own_policy(name: str) -> OwnPolicy | None:
    """One of the user's own policies; None for any other."""
    return next((own for own in own_policies() if own.name == name), None)


def keep_policy(own: OwnPolicy) -> None:
    st.session_state[_POLICIES] = {**st.session_state.get(_POLICIES, {}), own.name: own.dumps()}


def drop_policy(name: str) -> None:
    kept = st.session_state.get(_POLICIES, {})
    st.session_state[_POLICIES] = {key: text for key, text in kept.items() if key != name}


# small values in the URL that no widget owns


def url_number(name: str, default: int = 0) -> int:
    text = str(st.query_params.get(name, ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def set_url_number(name: str, value: int) -> None:
    st.query_params[name] = str(value)


def url_values() -> dict[str, str]:
    """Everything that the address says."""
    return st.query_params.to_dict()


def component_value(key: str, field: str) -> Any:
    """A value that a component reported; None before it did."""
    found: Any = st.session_state.get(key)
    return found.get(field) if isinstance(found, Mapping) else getattr(found, field, None)


def held(key: str) -> Any:
    """What `hold` keeps under this key; None before it did."""
    return st.session_state.get(key)


def hold(key: str, value: Any) -> None:
    """Keep a plain value as long as the browser's session lasts."""
    st.session_state[key] = value


def choose(key: str, value: Any) -> None:
    """Set a widget's value from a callback, before the widget is drawn."""
    st.session_state[key] = value


def show(key: str, value: Any) -> None:
    """Before a widget is drawn: it has this value. Set again, it would take what is being typed."""
    if st.session_state.get(key) != value:
        st.session_state[key] = value


def keep_within(key: str, most: int) -> None:
    """Before a number's widget is drawn: what it holds is no more than it allows."""
    if st.session_state.get(key, 0) > most:
        st.session_state[key] = most


def changed(key: str, value: str) -> bool:
    """Whether the value differs from the one at the last call with this key."""
    before = st.session_state.get(key)
    st.session_state[key] = value
    return bool(before != value)


def forget_step() -> None:
    """Another recording is seen from its end."""
    st.query_params.pop("step", None)
