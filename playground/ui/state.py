"""The only place that touches session_state and the URL. It keeps plain values and no instances
of classes that a source reload could replace."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from playground import paths
from playground.errors import InputFault
from playground.findings import Finding
from playground.sessions.loading import LoadedSession, read_session, read_tool_file
from playground.sessions.session import Session
from playground.tools import ToolMetadata

SESSION = "session"
MODEL = "model"
UPLOADER = "upload"
_UPLOADS = "uploads"  # name → bytes of a session file
_TOOLS = "tools of "  # + session name → JSON text of an uploaded tool list
_ERROR = "upload error"
_NOTICE = "upload notice"


@dataclass(frozen=True)
class WorkingSession:
    """The chosen session with the user's edits; `digest` names its content for caches."""

    name: str
    session: Session
    findings: list[Finding]
    digest: str


@st.cache_resource(max_entries=16, show_spinner=False)
def _read(digest: str, name: str, _data: bytes) -> LoadedSession:
    return read_session(_data, name)


def session_names() -> list[str]:
    return [*paths.samples(), *st.session_state.get(_UPLOADS, {})]


def working_session() -> WorkingSession:
    """The chosen session, edits applied; an edit that cannot be read is left out (see faults)."""
    name = st.session_state.get(SESSION) or session_names()[0]
    data = _bytes_of(name)
    digest = hashlib.sha256(data).hexdigest()
    loaded = _read(digest, name, data)
    edits = _edits(name, loaded.session)
    session = _edited(loaded.session, name, edits)
    if edits:
        digest = hashlib.sha256((digest + json.dumps(edits, sort_keys=True)).encode()).hexdigest()
    return WorkingSession(name, session, loaded.findings, digest)


def original_session(name: str) -> Session:
    data = _bytes_of(name)
    return _read(hashlib.sha256(data).hexdigest(), name, data).session


def _bytes_of(name: str) -> bytes:
    uploads: dict[str, bytes] = st.session_state.get(_UPLOADS, {})
    return uploads[name] if name in uploads else paths.samples()[name].read_bytes()


# edits: widgets keep their texts under these keys


def edit_key(name: str, field: str) -> str:
    return f"edit {name} {field}"


def edited_text(key: str, text: str) -> str:
    """What an editor starts with: the user's text if there is one."""
    return str(st.session_state.get(key, text))


def reset_edits(name: str) -> None:
    for key in [k for k in st.session_state if str(k).startswith(f"edit {name} ")]:
        del st.session_state[key]
    st.session_state.pop(_TOOLS + name, None)
    st.session_state[MODEL] = None


def _edits(name: str, session: Session) -> dict[str, str]:
    prefix = f"edit {name} "
    texts = {
        str(key).removeprefix(prefix): str(value)
        for key, value in st.session_state.items()
        if str(key).startswith(prefix) and value is not None
    }
    originals = {
        "agent prompt": session.task.user_agent_prompt,
        "user prompt": session.task.user_prompt,
    }
    edits = {key: text for key, text in texts.items() if text != originals.get(key)}
    model = st.session_state.get(MODEL)
    if model and model != session.task.model_name:
        edits["model"] = model
    if _TOOLS + name in st.session_state:
        edits["tools"] = st.session_state[_TOOLS + name]
    return edits


def _edited(session: Session, name: str, edits: dict[str, str]) -> Session:
    task = session.task.model_copy(
        update={
            "user_agent_prompt": edits.get("agent prompt", session.task.user_agent_prompt),
            "user_prompt": edits.get("user prompt", session.task.user_prompt),
            "model_name": edits.get("model", session.task.model_name),
        }
    )
    tools = session.tools
    if "tools" in edits:
        tools = tuple(read_tool_file(edits["tools"].encode(), name))
    tools = tuple(_edited_tool(tool, edits.get(f"tool {tool.name}")) for tool in tools)
    return replace(session, task=task, tools=tools)


def _edited_tool(tool: ToolMetadata, text: str | None) -> ToolMetadata:
    try:
        return read_tool_text(text, tool.name) if text else tool
    except InputFault:
        return tool


def read_tool_text(text: str, name: str) -> ToolMetadata:
    """One tool from the text of its editor. Raises InputFault with the line."""
    return read_tool_file(f"[{text}]".encode(), f"tool {name}")[0]


def tool_text(tool: ToolMetadata) -> str:
    return json.dumps(
        tool.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False, indent=1
    )


# uploads


def accept_upload() -> None:
    """Take the uploaded file as a session or a tool list; a bad file changes nothing else."""
    file = st.session_state.get(UPLOADER)
    st.session_state.pop(_ERROR, None)
    st.session_state.pop(_NOTICE, None)
    if file is None:
        return
    try:
        _accept(file.name, file.getvalue())
    except InputFault as fault:
        st.session_state[_ERROR] = str(fault)


def _accept(file_name: str, data: bytes) -> None:
    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    is_tools = isinstance(value, list) or (
        isinstance(value, dict) and "tools" in value and "format" not in value
    )
    if is_tools:
        tools = read_tool_file(data, file_name)
        chosen = st.session_state.get(SESSION) or session_names()[0]
        st.session_state[_TOOLS + chosen] = data.decode("utf-8-sig")
        st.session_state[_NOTICE] = f"{len(tools)} tools of {file_name} are now the session's tools"
        return
    read_session(data, file_name)
    name = file_name.removesuffix(".json")
    while name in paths.samples():
        name += " (uploaded)"
    st.session_state[_UPLOADS] = {**st.session_state.get(_UPLOADS, {}), name: data}
    st.session_state[SESSION] = name
    st.session_state[_NOTICE] = f"{file_name} is loaded"


def upload_error() -> str:
    return str(st.session_state.get(_ERROR, ""))


def upload_notice() -> str:
    return str(st.session_state.get(_NOTICE, ""))


# small values in the URL that no widget owns


def url_number(name: str, default: int = 0) -> int:
    text = str(st.query_params.get(name, ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def set_url_number(name: str, value: int) -> None:
    st.query_params[name] = str(value)


def component_value(key: str, field: str) -> Any:
    """A value that a component reported; None before it did."""
    found: Any = st.session_state.get(key)
    return found.get(field) if isinstance(found, Mapping) else getattr(found, field, None)


def choose(key: str, value: Any) -> None:
    """Set a widget's value from a callback, before the widget is drawn."""
    st.session_state[key] = value


def changed(key: str, value: str) -> bool:
    """Whether the value differs from the one at the last call with this key."""
    before = st.session_state.get(key)
    st.session_state[key] = value
    return bool(before != value)


def to_first_step() -> None:
    st.query_params.pop("step", None)
