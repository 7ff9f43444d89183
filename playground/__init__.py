"""The dialect playground: one session in every tool-call dialect, offline and deterministic.

Names are loaded when they are first used, so that importing this package stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "dialect_names": "playground.dialects",
    "get_dialect": "playground.dialects",
    "Dialect": "playground.dialects",
    "DeclaredDialect": "playground.dialects",
    "parse": "playground.reading",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'playground' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])


if TYPE_CHECKING:
    from playground.dialects import DeclaredDialect, Dialect, dialect_names, get_dialect
    from playground.reading import parse
