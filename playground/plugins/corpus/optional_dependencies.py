"""The check that the packages of the extra [corpus], which a corpus needs, are installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from playground.base.errors import InputFault
from playground.base.extras import requirement

_PACKAGES: Final = ("duckdb", "fsspec", "pyarrow", "rensa")


def require_extra() -> None:
    """Raise InputFault if a package of the extra [corpus] is not installed."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        expected = f"pip install {requirement('corpus')}"
        raise InputFault(f"a corpus needs {', '.join(missing)}", expected=expected)
