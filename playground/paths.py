"""Where pages, samples and the configuration are: inside the wheel, or beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent


def _found(packaged: str, checked_out: str) -> Path:
    inside = _PACKAGE / packaged
    return inside if inside.exists() else _CHECKOUT / checked_out


def app_file() -> Path:
    return _PACKAGE / "app.py"


def server_file() -> Path:
    return _PACKAGE / "server.py"


def icon() -> Path:
    """The page's icon: a file, since a named one would be fetched from the network."""
    return _PACKAGE / "show" / "icon.svg"


def pages() -> Path:
    return _found("_pages", "pages")


def sample_sessions() -> Path:
    return _found("_sample_sessions", "sample_sessions")


def documents() -> Path:
    """The documents that the app shows."""
    return _found("_docs", "docs")


def streamlit_config() -> Path:
    return _found("_streamlit/config.toml", ".streamlit/config.toml")


def sample_templates() -> dict[str, Path]:
    """The sample sets of conversation templates: folders by name, in order."""
    found = sorted((sample_sessions() / "templates").glob("*/templates.yaml"))
    return {path.parent.name: path.parent for path in found}


def recordings() -> Path:
    """Where the app keeps what it records: in PLAYGROUND_HOME, or the user's folder for data."""
    home = os.environ.get("PLAYGROUND_HOME")
    if home:
        return Path(home) / "recordings"
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "dialect-playground" / "recordings"


def samples() -> dict[str, Path]:
    """The sample sessions by name, in order."""
    return {path.stem: path for path in sorted(sample_sessions().glob("*.json"))}
