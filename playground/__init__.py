"""The dialect playground: one session in every tool-call dialect, offline and deterministic.

Names are loaded when they are first used, so that importing this package stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "DeclaredDialect": "playground.dialects",
    "Dialect": "playground.dialects",
    "Syntax": "playground.parsing.syntax",
    "carry": "playground.carrying",
    "compare": "playground.comparison",
    "detect": "playground.detecting",
    "dialect_names": "playground.dialects",
    "get_dialect": "playground.dialects",
    "load_session": "playground.sessions.loading",
    "parse": "playground.reading",
    "place_cache": "playground.cache_placement",
    "replay": "playground.timeline",
    "sample_sessions": "playground.sessions.loading",
}

__all__ = [
    "DeclaredDialect",
    "Dialect",
    "Syntax",
    "carry",
    "compare",
    "detect",
    "dialect_names",
    "get_dialect",
    "load_session",
    "parse",
    "place_cache",
    "replay",
    "sample_sessions",
]

if TYPE_CHECKING:
    from playground.cache_placement import place_cache
    from playground.carrying import carry
    from playground.comparison import compare
    from playground.detecting import detect
    from playground.dialects import DeclaredDialect, Dialect, dialect_names, get_dialect
    from playground.parsing.syntax import Syntax
    from playground.reading import parse
    from playground.sessions.loading import load_session, sample_sessions
    from playground.timeline import replay


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'playground' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
