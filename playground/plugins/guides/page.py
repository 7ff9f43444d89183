"""The view Guide of the page Dialects: use cases with prompts and the events of replies."""

from __future__ import annotations

from typing import Any, Final

import streamlit as st

from playground.app import dialects, navigation, state, values
from playground.app.shared import components, grammars, say, tables, widgets
from playground.app.shared.components import Picture
from playground.app.shared.memoized import memoized
from playground.plugins.guides import board
from playground.plugins.guides.drawings import special_tokens
from playground.plugins.guides.guide import Guide, NoGuide, guide_for
from playground.plugins.guides.use_case import TextCompletion, UseCase
from playground.servers import ServerReading
from playground.show import rows

_FIRST: Final = "One tool call"  # the use case shown first, if the dialect has it
_HEIGHT: Final = 300  # pixels of a prompt; its reply then stays in sight


def show(row: Any) -> None:
    """Show a dialect's use cases with the model's prompts, and facts about the dialect."""
    with row:
        name = widgets.dialect_select("Dialect", dialects.CHOSEN, widgets.model_dialect())
        arrows = st.toggle("Show line breaks", key="arrows", bind="query-params")
        navigation.link("compare", "Open in Compare", width="content", dialects=name)
    with st.container(horizontal=True, key="guide-columns", gap="small"):
        with st.container(key="guide-list"):
            dialects.listed("guide list", name)
        with st.container(key="guide-page"):
            _page(name, arrows)


def _page(name: str, arrows: bool) -> None:
    shown = guide_for(name)
    if isinstance(shown, NoGuide):
        say.text(shown.reason)
        return
    servers = server_readings(name)
    head = board.guide_head(shown, values.matrix([name]), servers)
    components.board(Picture(head), key="guide head")
    left, right = st.columns([2, 1], gap="small")
    with left:
        cases, grammar = st.tabs(
            ["Use cases", "Grammar"], key="guide_view", on_change="rerun", bind="query-params"
        )
        if cases.open:
            with cases:
                show_case(shown, case_choice(shown), arrows)
        if grammar.open:
            with grammar:
                grammars.show([name], state.working_session().session.tools)
    with right:
        side = board.guide_side(shown, servers)
        components.board(Picture(side), key="guide side")
        if shown.llama:
            with st.expander("Special tokens"):
                tables.table(special_tokens(shown.llama), height="content")


@memoized(32)
def server_readings(name: str) -> list[tuple[str, ServerReading]]:
    """Return what each server that reads this dialect delivers for the same reply."""
    guide = guide_for(name)
    return [] if isinstance(guide, NoGuide) else board.server_readings(guide)


def case_choice(guide: Guide) -> UseCase:
    """Return the chosen use case. A case of another dialect's guide in the address is ignored."""
    titles = [case.title for case in guide.use_cases]
    first = _FIRST if _FIRST in titles else titles[0]
    title = st.segmented_control(
        "Use case",
        titles,
        default=first,
        required=True,
        key="case",
        bind="query-params",
        label_visibility="collapsed",
    )
    return next((case for case in guide.use_cases if case.title == title), guide.use_cases[0])


def show_case(guide: Guide, case: UseCase, arrows: bool) -> None:
    """Show a use case: its dialogs, the events that are read from each response, and its notes."""
    if case.description:
        say.text(case.description)
    for number, dialog in enumerate(case.dialogs):
        if isinstance(dialog, str):
            say.text(dialog)
            continue
        widgets.exact_text("Input prompt", guide.prompt(case, dialog), arrows, height=_HEIGHT)
        if isinstance(dialog, TextCompletion):
            continue
        if not dialog.response:
            st.text("No recorded response.")
            continue
        widgets.exact_text(f"Model response ({dialog.origin})", dialog.response, arrows)
        read = board.reading_board(dialog.response, guide.reading(dialog))
        components.board(Picture(read), key=f"read {case.title} {number}")
        with st.expander("All events", key=f"events {case.title} {number}"):
            tables.table(rows.events(guide.reading(dialog).events), height="content")
    for note in case.notes:
        say.text(f"• {note}")
