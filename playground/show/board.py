"""The data of a board: a page's sentence and figures, and its cards (`components/board.js`).

Every text is guarded here against characters that change the reading direction. Only keys, texts
that a button copies, and texts in which a search looks stay exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from playground.base.wording import keep_order

Payload = dict[str, Any]
Figure = tuple[str, str, str]  # a value, its label, and "good", "bad" or ""
Kind = Literal["bars", "columns", "rows", "facts", "findings", "strips", "matrix", "pieces"]
_EXACT: Final = ("key", "given", "found")  # a key, a text to copy, a text to search


def board(
    sentence: str = "",
    note: str = "",
    figures: Sequence[Figure] = (),
    *,
    cards: Sequence[Payload] = (),
) -> Payload:
    """Return the data of a board."""
    data = {"sentence": sentence, "note": note, "figures": figures, "cards": cards}
    return dict(_guarded(data))


def card(
    kind: Kind, title: str = "", note: str = "", *, key: str = "", grow: float = 1, **content: Any
) -> Payload:
    """Return a card; `content` is what the function in `board.js` that draws its kind takes."""
    head = {"kind": kind, "title": title, "note": note, "key": key or title, "grow": grow}
    return head | content


def _guarded(value: Any) -> Any:
    if isinstance(value, str):
        return keep_order(value)
    if isinstance(value, dict):
        return {name: each if name in _EXACT else _guarded(each) for name, each in value.items()}
    return [_guarded(each) for each in value] if isinstance(value, list | tuple) else value
