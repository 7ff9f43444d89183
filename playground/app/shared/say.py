"""Streamlit's elements for the app's own sentences, in which names cannot reorder the text.

The name of a tool, model, file or session may contain characters that change the reading direction
of a line. These functions, the components and the tables guard the app's words against such names.
Pages use them for every text that is not a literal. Texts that a user types, chooses or copies are
not changed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

import streamlit as st

from playground.base.errors import UnknownNameError
from playground.base.wording import keep_order, visible

_P = ParamSpec("_P")
_R = TypeVar("_R")
_WORDS: Final = ("body", "label", "help", "title")


def _in_order(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Wrap a function of Streamlit so that it guards its first argument and other texts."""

    @wraps(function)
    def show(*args: _P.args, **named: _P.kwargs) -> _R:
        guarded: list[Any] = [shown(each) if not at else each for at, each in enumerate(args)]
        words = {key: shown(each) if key in _WORDS else each for key, each in named.items()}
        return function(*guarded, **words)  # type: ignore[arg-type]

    return show


def shown(words: Any) -> Any:
    """Return a text with its reading direction guarded, and any other value unchanged."""
    return keep_order(words) if isinstance(words, str) else words


def option(name: Any) -> str:
    """Return a name for a list of choices or for a link, with its hidden characters escaped."""
    return visible(str(name))


def download_button(label: str, data: Any, file_name: str, **more: Any) -> bool:
    """Draw Streamlit's download button; no character can hide the file name's ending."""
    name = visible(file_name).replace("\\", "")
    return st.download_button(shown(label), data, name, **more)


def unknown(kind: str, names: list[str], known: list[str]) -> None:
    """Say which names of an address are unknown, and name similar ones."""
    for name in names:
        words = f"The address has an {UnknownNameError(kind, name, known)}"
        st.toast(shown(words), icon=":material/link_off:", duration="infinite")


text = _in_order(st.text)
caption = _in_order(st.caption)
header = _in_order(st.header)
error = _in_order(st.error)
warning = _in_order(st.warning)
info = _in_order(st.info)
success = _in_order(st.success)
badge = _in_order(st.badge)
button = _in_order(st.button)
toggle = _in_order(st.toggle)
expander = _in_order(st.expander)
status = _in_order(st.status)
