"""The components as Streamlit functions. Session text is passed as data, never as markup."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import streamlit as st

from playground.app import state
from playground.base.wording import keep_order
from playground.show.components import component_files


@dataclass(frozen=True)
class Picture:
    """The data that a component draws, as plain JSON values.

    `key` is a digest of the data. The browser draws each key only once: after a rerun it does not
    scroll back, or build a thousand nodes again.
    """

    data: dict[str, Any]

    @cached_property
    def key(self) -> str:
        text = json.dumps(self.data, ensure_ascii=True)
        return blake2b(text.encode(), digest_size=16).hexdigest()

    def keyed(self, **more: Any) -> dict[str, Any]:
        """Return the data, its key, and `more`, whose changes redraw nothing."""
        return {**self.data, **more, "key": self.key}


def _registered(name: str, root_class: str) -> Any:
    html, css, js = component_files(name, root_class)
    return st.components.v2.component(f"playground_{name}", html=html, css=css, js=js)


def _nothing() -> None:
    """Do nothing. Streamlit passes on a component's changed value only if it has a callback."""


def panes(
    panes: Picture,
    *,
    selected: str = "",
    figures: Sequence[Sequence[Sequence[str]]] = (),
    editing: Mapping[str, Any] | None = None,
    base: int = -1,
    key: str,
    on_select: Callable[[], None] = _nothing,
    on_asked: Callable[[], None] = _nothing,
    on_diff: Callable[[], None] = _nothing,
) -> None:
    """Draw requests side by side.

    `selected` is the origin of the highlighted blocks. `figures` are the figures in each request's
    head, as far as they are known. `editing` is the open block ({} for none); if `editing` is None,
    no block can be opened. At first, the others are compared with the request at index `base`.
    """
    data = {"base": base, **panes.keyed(selected=selected, figures=figures, editing=editing)}
    _registered("panes", "panes")(
        data=data,
        key=key,
        on_origin_change=on_select,
        on_draft_change=_nothing,
        on_asked_change=on_asked,
        on_diff_change=on_diff,
    )


def figures(figures: Sequence[Sequence[Sequence[str]]], *, key: str) -> None:
    """Send figures that were computed after the panes were drawn, in the order of the panes."""
    _registered("figures", "figures")(data={"figures": figures, "title": ""}, key=key)


def difference(lines: Picture, *, key: str) -> None:
    """Draw the rows of a diff between two texts."""
    _registered("difference", "diff")(data=lines.keyed(), key=key)


def picture(rows: Sequence[dict[str, Any]], *, key: str) -> None:
    """Draw rows of bars, or of a reply's pieces, without any control."""
    _registered("bars", "bars")(data={"rows": list(rows)}, key=key)


def verbatim(text: str, label: str, *, key: str, height: int = 0) -> None:
    """Draw a text unchanged, with a button that copies it, unless `label` is "".

    The label is the end of the button's name. A text higher than `height` pixels scrolls (0: none
    does).
    """
    data = {"text": text, "label": keep_order(label), "height": height}
    _registered("verbatim", "verbatim")(data=data, key=key)


def strip(requests: Picture, *, key: str, movable: bool, on_mark: Callable[[], None]) -> None:
    """Draw the requests of a cache simulation; `movable` marks can be dragged, set and cleared."""
    data = requests.keyed(movable=movable)
    _registered("strip", "strip")(data=data, key=key, on_mark_change=on_mark)


def policies(
    rows: Sequence[dict[str, Any]], note: str, *, remedy: Any, key: str, on_choose: Any
) -> None:
    """Let the page's strip draw policies as bars; a click on a bar chooses its key. The strip also
    offers the `remedy` at its finding: the key that it chooses, its label, the finding's index."""
    data = {"title": "Policies", "note": note, "rows": list(rows), "remedy": remedy}
    _registered("bars", "bars")(data=data, key=key, on_chosen_change=on_choose)


def board(board: Picture, *, key: str, on_choose: Callable[[], None] = _nothing) -> None:
    """Draw a board: a sentence, figures, cards. `chosen_of` returns a clicked row or button."""
    _registered("board", "board")(data=board.keyed(), key=key, on_chosen_change=on_choose)


def chosen_of(key: str) -> list[str]:
    """Return the clicked card, its clicked row and its button's action; for a board's callback."""
    card, row, action = [*(state.component_value(key, "chosen") or ()), "", "", ""][:3]
    return [str(card), str(row), str(action)]


def player(timeline: Picture, *, step: int, key: str, on_rest: Callable[[], None]) -> None:
    """Draw a player for a timeline; `on_rest` is called when the player stops at another step."""
    data = timeline.keyed(step=step)
    _registered("player", "player")(data=data, key=key, on_position_change=on_rest)


def keys(keys: Sequence[str], page: str, *, key: str, on_pressed: Callable[[], None]) -> str:
    """Return the key in `keys` that was pressed for this run, or "".

    Two letters mean two keys, one after the other; a word is an action: undo (Ctrl+Z), redo, run.
    """
    data = {"keys": list(keys), "page": page}
    show = _registered("keys", "keys")
    result = show(data=data, key=key, width="content", on_pressed_change=on_pressed)
    return str(result.pressed or "")


def bring(
    said: str, number: int, *, key: str, rows: int, focus: bool, on_typed: Callable[[], None]
) -> None:
    """Draw a box for a text or file. `said` is the answer to the text with this `number`."""
    data = {
        "said": keep_order(said),
        "number": number,
        "rows": rows,
        "focus": focus,
        "label": "Paste anything, or drop a file",
        "placeholder": "Paste or drop a reply, a request (JSON, curl, Python), a transcript, "
        "a stream, a chat template …",
    }
    _registered("bring", "bring")(data=data, key=key, on_typed_change=on_typed)
