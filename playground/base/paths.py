"""The paths of the app's own files, inside the wheel or the checkout, and of the user's data."""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from playground.base.errors import InputFault

KEPT: Final = ".jsonl"  # the suffix of files in a workspace
NO_WORKSPACE: Final = "PLAYGROUND_NO_WORKSPACE"  # set by a server that stores nothing
_NAME: Final = "dialect-playground"
_UNWRITABLE: Final = re.compile(r'[\x00-\x1f\x7f%/\\:*?"<>|]')
_PACKAGE = Path(__file__).resolve().parent.parent
_CHECKOUT = _PACKAGE.parent


def _packaged_or_checked_out(packaged: str, checked_out: str) -> Path:
    inside = _PACKAGE / packaged
    return inside if inside.exists() else _CHECKOUT / checked_out


def app_file() -> Path:
    return _PACKAGE / "app" / "main.py"


def server_file() -> Path:
    return _PACKAGE / "app" / "server.py"


def icon() -> Path:
    """Return the app's icon: a file, because a named icon would be loaded from the network."""
    return _PACKAGE / "show" / "icon.svg"


def pages() -> Path:
    return _packaged_or_checked_out("_pages", "pages")


def sample_sessions() -> Path:
    return _packaged_or_checked_out("_sample_sessions", "sample_sessions")


def documents() -> Path:
    """Return the folder of the documents that the app shows."""
    return _packaged_or_checked_out("_docs", "docs")


def server_declarations() -> Path:
    """Return the folder with a TOML file for each known server."""
    return _PACKAGE / "servers" / "declarations"


def streamlit_config() -> Path:
    return _packaged_or_checked_out("_streamlit/config.toml", ".streamlit/config.toml")


def sample_templates() -> dict[str, Path]:
    """Return the sample sets of conversation templates: folders by name, in order."""
    templates = sorted((sample_sessions() / "templates").glob("*/templates.yaml"))
    return {path.parent.name: path.parent for path in templates}


def data() -> Path:
    """Return the folder of the user's data: PLAYGROUND_HOME, or the platform's own."""
    return _data(*map(os.environ.get, ("PLAYGROUND_HOME", *_DATA_VARIABLES)))


WORKSPACE: Final = "workspace:"  # the prefix of names of the workspace's sessions
_NUMBERED: Final = re.compile(r"(.+)#([1-9]\d{0,8})", re.DOTALL)
# The environment variables that decide the folder of data; `Path.home()` reads the last two.
_DATA_VARIABLES: Final = ("LOCALAPPDATA", "XDG_DATA_HOME", "HOME", "USERPROFILE")


@lru_cache(maxsize=8)  # cached: needed for every session of a file
def _data(own: str | None, local: str | None, xdg_home: str | None, *_home: str | None) -> Path:
    if own:
        return Path(own)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / _NAME
    if sys.platform == "win32":
        return (Path(local) if local else Path.home() / "AppData" / "Local") / _NAME
    return (Path(xdg_home) if xdg_home else Path.home() / ".local" / "share") / _NAME


def recordings() -> Path:
    """Return the folder in which the app stores recordings as they arrive."""
    return data() / "recordings"


def tokenizers() -> Path:
    """Return the folder of converted vocabularies, so that each is converted once."""
    return data() / "tokenizers"


def remote_scratch() -> Path:
    """Return the folder for unfinished parts of a corpus at a remote address."""
    return data() / "elsewhere"


def workspace() -> Path:
    """Return the folder of the sessions that the user has brought, edited or recorded."""
    return data() / "workspace"


def dialects() -> Path | None:
    """Return the workspace's folder for the user's own dialects.

    Return None on a server that reads no files of this machine for its visitors.
    """
    return None if os.environ.get(NO_WORKSPACE) else workspace() / "dialects"


def workspace_file(name: str) -> Path:
    """Return the file of a session in the workspace, by the session's name."""
    return workspace() / file_of(name)


def kept_file(name: str) -> Path | None:
    """Return the file of a session that is named `workspace:NAME`; None for any other name, and for
    the path of an existing file.

    Raises InputFault, which lists all names, if there is no such session.
    """
    if not name.startswith(WORKSPACE) or os.path.lexists(name):
        return None
    path = workspace_file(name.removeprefix(WORKSPACE))
    if not path.is_file():
        names = ", ".join(sorted(name_of(file.name) for file in path.parent.glob(f"*{KEPT}")))
        problem = "the workspace has no session of this name"
        raise InputFault(problem, where=name, expected=f"one of: {names or 'none'}")
    return path


def one_of(name: str) -> tuple[str, int]:
    """Split `FILE#2` into the file's name and the number of a session in it, from 1. The number is
    0 if the name has no such ending, or if a file has this name."""
    chosen = None if os.path.lexists(name) else _NUMBERED.fullmatch(name)
    return (chosen[1], int(chosen[2])) if chosen else (name, 0)


def named_file(name: str) -> Path:
    """Return the file of a session by its name: a path, `FILE#2`, `workspace:NAME` or a sample's
    name. The file need not exist."""
    file, _ = one_of(name)
    if os.path.lexists(file):
        return Path(file)
    if file.startswith(WORKSPACE):
        return workspace_file(file.removeprefix(WORKSPACE))
    return samples().get(file, Path(file))


def file_of(name: str) -> str:
    """Return a file's name for any text. Characters that a file system may refuse are
    percent-encoded: a slash becomes `%2F`."""
    escaped = _UNWRITABLE.sub(lambda match: quote(match[0], safe=""), name)
    head, rest = escaped[:1], escaped[1:]
    return f"{'%2E' if head == '.' else head}{rest}{KEPT}"


def name_of(file: str) -> str:
    """Return the text from which `file_of` made a file's name."""
    return unquote(file.removesuffix(KEPT), errors="surrogateescape")


def samples() -> dict[str, Path]:
    """Return the sample sessions by name, in order."""
    return {path.stem: path for path in sorted(sample_sessions().glob("*.json"))}
