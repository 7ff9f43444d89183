"""Tell a user's change of a widget from a stale one.

A browser learns a little late that a widget is gone, or that the app has put another value into
it. With the user's next action it sends its old value, and Streamlit takes that for a change and
calls back: an old role came back as an edit of another message. So a value that is already known
is no change, and where the app changes a value, another widget takes its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from playground.app import state

_WIDGETS: Final = "widgets of "  # + key → how many stood in its place before
_KNOWN: Final = "known of "  # + widget's key → the value that it was drawn with or that was taken


def place(key: str, value: Any) -> str:
    """Return the key of the widget that shows a value which is kept elsewhere, given to it as its
    default in every run.

    A value that is set instead goes to the browser once, and is lost where the user's next action
    ends that run: the widget then stood there empty, and with the next action the emptiness came
    back as an edit. Where something else than the widget's own user changed the value, another
    widget stands in its place.
    """
    count = state.held(_WIDGETS + key) or 0
    held = state.held(_widget(key, count))
    if held is not None and _plain(held) != _plain(value):
        count += 1
        state.hold(_WIDGETS + key, count)
    return _widget(key, count)


def _widget(key: str, count: int) -> str:
    return f"{key} ({count})" if count else key


def of(
    widget: str, take: Callable[..., None], *args: Any, shown: Any = None, field: str = ""
) -> Callable[[], None]:
    """Return the callback of the widget with this key: `take(value, *args)`, if its user changed
    it.

    `shown` is its default; `field` names the part of a component's or a table's values that
    counts.
    """
    known = _value(widget, field)
    state.hold(_KNOWN + widget, _plain(shown if known is None else known))

    def changed() -> None:
        value = _value(widget, field)
        if _plain(value) == state.held(_KNOWN + widget):
            return
        state.hold(_KNOWN + widget, _plain(value))
        take(value, *args)

    return changed


def _value(widget: str, field: str) -> Any:
    return state.component_value(widget, field) if field else state.held(widget)


def _plain(value: Any) -> Any:
    """Return the value to compare and remember: a file by its id, several choices in any order."""
    if isinstance(value, list):
        return sorted(value, key=repr)
    return getattr(value, "file_id", value)
