"""Find the extra of this package that installs a missing module."""

from __future__ import annotations

from typing import Final

from playground.base.errors import InputFault

_EXTRAS: Final = {
    "anywidget": "notebook",
    "duckdb": "corpus",
    "fsspec": "corpus",
    "httpx": "app",
    "litellm": "llm",
    "mcp": "mcp",
    "pandas": "frames",
    "plotly": "frames",
    "pyarrow": "corpus",
    "starlette": "app",
    "streamlit": "app",
    "tiktoken": "llm",
    "tokenizers": "llm",
    "uvicorn": "app",
}


class MissingPackageError(InputFault, ImportError):
    """A package of one of the extras is not installed. The message says how to install it."""


def missing_package(error: ModuleNotFoundError) -> MissingPackageError | None:
    """Return the error for a package of an extra, or None if no extra has the missing module."""
    package = (error.name or "").partition(".")[0]
    extra = _EXTRAS.get(package)
    if extra is None:
        return None
    return MissingPackageError(
        f"this needs the package {package}", expected=f"pip install {requirement(extra)}"
    )


def requirement(extra: str) -> str:
    """Return what pip installs for an extra, quoted for a shell: 'dialect-playground[app]'."""
    return f"'dialect-playground[{extra}]'"
