"""Distinguish a user's change of a widget from a stale value.

A browser learns a little late that a widget is gone, or that the app has set another value. With
the user's next action it still sends the old value; Streamlit takes that for a change and calls
back. An old role came back in this way as an edit of another message. So a value that is already
known is no change, and if the app changes a value, a new widget replaces the old one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from playground.app import state

_WIDGETS: Final = "widgets of "  # + key → the number of widgets before it in this place
_KNOWN: Final = "known of "  # + widget's key → the value that it was drawn with or that was applied


def place(key: str, value: Any) -> str:
    """Return the key of the widget that shows a value which is stored elsewhere.

    Pass the value as the widget's default in every run. A value set by code instead is sent to the
    browser once; the user's next action may end that run first. The widget then stayed empty, and
    the browser reported the empty text as an edit. If anything but the user changed the value, a
    new widget replaces the old one.
    """
    count = state.get(_WIDGETS + key) or 0
    held = state.get(_widget(key, count))
    if held is not None and _plain(held) != _plain(value):
        count += 1
        state.put(_WIDGETS + key, count)
    return _widget(key, count)


def _widget(key: str, count: int) -> str:
    return f"{key} ({count})" if count else key


def of(
    widget: str, take: Callable[..., None], *args: Any, shown: Any = None, field: str = ""
) -> Callable[[], None]:
    """Return a widget's callback, which calls `take(value, *args)` if the user changed the widget.

    `shown` is the widget's default; `field` names the part of a component's or a table's values to
    compare.
    """
    known = _value(widget, field)
    state.put(_KNOWN + widget, _plain(shown if known is None else known))

    def changed() -> None:
        value = _value(widget, field)
        if _plain(value) == state.get(_KNOWN + widget):
            return
        state.put(_KNOWN + widget, _plain(value))
        take(value, *args)

    return changed


def _value(widget: str, field: str) -> Any:
    return state.component_value(widget, field) if field else state.get(widget)


def _plain(value: Any) -> Any:
    """Return a value to compare and store: a file by its id, several choices in any order."""
    if isinstance(value, list):
        return sorted(value, key=repr)
    return getattr(value, "file_id", value)
