"""Files in: a session or a list of tools from a path or from uploaded bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playground import paths
from playground.errors import InputFault
from playground.findings import Finding, finding
from playground.sessions.checking import check
from playground.sessions.native_format import MAX_BYTES, parse_session, read_json
from playground.sessions.places import line_of
from playground.sessions.session import Session
from playground.tools import ToolMetadata, read_tools

_LONE = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class LoadedSession:
    """A session and what was noticed while it was read."""

    session: Session
    findings: list[Finding]


def load_session(path: str | Path) -> Session:
    """Read a session file. Raises InputFault with file, line, field and what would be right."""
    return read_session(file_bytes(path), str(path)).session


def sample_sessions() -> dict[str, Session]:
    """The sample sessions that come with the playground, by name."""
    return {name: load_session(path) for name, path in paths.samples().items()}


def read_session(data: bytes, where: str) -> LoadedSession:
    """Read a session from a file's bytes; `where` names it in errors."""
    value, text = read_json(data, where)
    found: list[Finding] = []
    if _ESCAPED.search(text):
        value = _whole_characters(value, "", found)
    session = parse_session(value, text, where)
    return LoadedSession(session, found + check(session))


def read_tool_file(data: bytes, where: str) -> list[ToolMetadata]:
    """Read tools from a file's bytes: a list of tools in any known form, or one under `tools`."""
    value, text = read_json(data, where)
    try:
        return read_tools(value)
    except InputFault as fault:
        path = [int(step) if step.isdigit() else step for step in fault.field.split(".")]
        path = path[1:] if isinstance(value, list) else path
        raise InputFault(
            fault.problem,
            where=where,
            line=line_of(text, path),
            field=fault.field,
            expected=fault.expected,
        ) from fault


def file_bytes(path: str | Path) -> bytes:
    """A file's content; a folder, a missing or an oversized file is an InputFault."""
    path = Path(path)
    try:
        if path.is_dir():
            raise InputFault("this is a folder", where=str(path), expected="a session file")
        size = path.stat().st_size
        if size > MAX_BYTES:
            limit = f"at most {MAX_BYTES // 1024**2} MB"
            raise InputFault(
                f"{size / 1024**2:.0f} MB are too much", where=str(path), expected=limit
            )
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise InputFault(reason, where=str(path), expected="a readable session file") from error


def _whole_characters(value: Any, place: str, found: list[Finding]) -> Any:
    """Replace half surrogates, which no encoding can carry, and say where."""
    match value:
        case str() if _LONE.search(value):
            found.append(finding("lone-surrogate", place))
            return _LONE.sub("\ufffd", value)
        case list():
            return [_whole_characters(v, f"{place}.{i}", found) for i, v in enumerate(value)]
        case dict():
            return {
                _LONE.sub("\ufffd", k): _whole_characters(v, f"{place}.{k}".strip("."), found)
                for k, v in value.items()
            }
        case _:
            return value
