"""Distinguish a user's change of a widget from a stale value.

A browser learns late that the app has removed a widget or set another value. With the user's next
action it may still send the old value. Streamlit takes this for a change, and calls the widget's
callback: an old role once became an edit of another message. Therefore a value that is already
known is not a change, and when the app changes a value, a new widget replaces the old one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from playground.app import state

_WIDGETS: Final = "widgets of "  # + key -> the number of widgets that were replaced so far
_KNOWN: Final = "known of "  # + key -> the value with which it was drawn, or the last applied one


def place(key: str, value: Any) -> str:
    """Return the key of a widget whose value is stored elsewhere.

    Pass the value as the widget's default in every run, because a value that code sets is sent to
    the browser only once. The user's next action may end that run first. Then the widget would stay
    empty, and the browser would report the empty text as an edit. If something other than
    the user changed the value, the key is new, so that a new widget replaces the old one.
    """
    count = state.get(_WIDGETS + key) or 0
    current = state.get(_widget(key, count))
    if current is not None and _plain(current) != _plain(value):
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
    """Return a value to compare and store: a file as its id, several choices in a fixed order."""
    if isinstance(value, list):
        return sorted(value, key=repr)
    return getattr(value, "file_id", value)
