"""The components as Streamlit functions; session text travels as data, never as markup."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from playground.show.components import source


def _registered(name: str, root_class: str) -> Any:
    html, css, js = source(name, root_class)
    return st.components.v2.component(f"playground_{name}", html=html, css=css, js=js)


def _nothing() -> None:
    """A state key needs a callback to be reported."""


def panes(
    panes: list[dict[str, Any]],
    *,
    content: str,
    selected: str = "",
    key: str,
    on_select: Callable[[], None] = _nothing,
) -> None:
    """Requests side by side. `content` names what is shown: equal names are drawn once."""
    data = {"panes": panes, "key": content, "selected": selected}
    _registered("panes", "panes")(data=data, key=key, on_origin_change=on_select)


def difference(rows: list[tuple[str, str]], *, content: str, key: str) -> None:
    """The rows of a diff."""
    _registered("difference", "diff")(data={"lines": rows, "key": content}, key=key)


def gauge(value: int, threshold: int, *, key: str) -> None:
    """Characters against a threshold."""
    _registered("gauge", "gauge")(data={"value": value, "threshold": threshold}, key=key)


def strip(payload: dict[str, Any], *, content: str, key: str) -> None:
    """The requests of a cache simulation, one at a time."""
    _registered("strip", "strip")(data={**payload, "key": content}, key=key)


def player(
    payload: dict[str, Any], *, content: str, step: int, key: str, on_rest: Callable[[], None]
) -> None:
    """A timeline to play; `on_rest` is called when it comes to rest at another step."""
    data = {**payload, "key": content, "step": step}
    _registered("player", "player")(data=data, key=key, on_position_change=on_rest)
