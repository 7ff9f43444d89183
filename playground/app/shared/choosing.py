"""The choice of dialects by name, by family or by a model that speaks them; favourites first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from playground.app import state
from playground.app.shared import belongings, say, widget_changes
from playground.dialects import dialect_names
from playground.dialects.families import families, spoken_by
from playground.dialects.models import dialect_for

DEFAULT_DIALECTS: Final = ("xml", "hermes", "native")
CHOSEN: Final = "dialects"
_FAVOURITES: Final = "favourite dialects"


def dialects() -> list[str]:
    """Show the choice of the dialects that a page compares; return the chosen ones."""
    favourites = [name for name in belongings.value(_FAVOURITES) or [] if name in dialect_names()]
    wrong = state.correct_names_in_address(CHOSEN, dialect_names())
    say.unknown("dialect", wrong, dialect_names())
    with st.container(horizontal=True, vertical_alignment="center", key="dialects-row"):
        chosen = st.multiselect(
            "Dialects",
            list(dict.fromkeys([*favourites, *dialect_names()])),
            default=DEFAULT_DIALECTS,
            key=CHOSEN,
            bind="query-params",
            label_visibility="collapsed",
            select_all=False,  # otherwise "select all" comes first, and Enter would choose it
        )
        with st.popover(
            "Add", icon=":material/add:", key="find dialects", on_change="rerun"
        ) as place:
            if place.open:
                _finder(chosen, favourites)
    return chosen


def _finder(chosen: Sequence[str], favourites: Sequence[str]) -> None:
    model = st.text_input(
        "What does a model speak?", key="model wanted", placeholder="Qwen3-Coder, or a part of it"
    )
    names = dialect_names()
    if model:
        names, known = spoken_by(model), dialect_for(model)
        if known.dialect or not names:
            say.text(f"{model}: {known.reason}.")
    groups = {"Favourites": list(favourites)} if favourites and not model else {}
    for title, listed in (groups | families(names)).items():
        wanted = [name for name in listed if name in chosen]
        key = widget_changes.place(f"family {title}", wanted)
        st.pills(
            title,
            listed,
            selection_mode="multi",
            default=wanted,
            key=key,
            on_change=widget_changes.of(key, _take, listed, shown=wanted),
        )
    st.button(
        "Make the chosen ones favourites",
        icon=":material/star:",
        disabled=list(chosen) == list(favourites),
        on_click=_keep_favourites,
        help="They come first in every list.",
    )


def _keep_favourites() -> None:
    belongings.keep(_FAVOURITES, list(state.get(CHOSEN) or []))


def _take(wanted: list[str] | None, listed: Sequence[str]) -> None:
    """Apply the user's choice in one group of dialects; the choices in the other groups stay."""
    wanted = wanted or []
    kept = [name for name in state.get(CHOSEN) or [] if name not in listed or name in wanted]
    state.choose(CHOSEN, [*kept, *(name for name in wanted if name not in kept)])
