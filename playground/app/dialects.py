"""Dialects' view Guide: a use case of a dialect, as a model sees it and as it is read back."""

from __future__ import annotations

from typing import Any

import streamlit as st

from playground.app import navigation, state
from playground.app.shared import grammars, say, tables, widgets
from playground.lab.guides import Guide, NoGuide, TextCompletion, UseCase, guide_for
from playground.show import frames, rows


def show(row: Any) -> None:
    """Show a dialect's use cases as a model sees them, and the facts about it."""
    with row:
        name = widgets.dialect_select("Dialect", "guide", widgets.model_dialect())
        arrows = st.toggle("Show line breaks", key="arrows", bind="query-params")
        navigation.link("compare", "Open in Compare", width="content", dialects=name)
    shown = guide_for(name)
    if isinstance(shown, NoGuide):
        say.text(shown.reason)
        st.stop()
    left, right = st.columns([5, 3], gap="medium")
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
        tables.table(frames.guide_summary(shown), height="content")
        if shown.variants():
            tables.table({"also accepted": shown.variants()}, height="content")
        if shown.llama:
            with st.expander("Special tokens"):
                tables.table(frames.special_tokens(shown.llama), height="content")


def case_choice(guide: Guide) -> UseCase:
    """Return the chosen use case; the address may name one of another dialect's guide."""
    titles = [case.title for case in guide.use_cases]
    title = st.segmented_control(
        "Use case", titles, default=titles[0], required=True, key="case", bind="query-params"
    )
    return next((case for case in guide.use_cases if case.title == title), guide.use_cases[0])


def show_case(guide: Guide, case: UseCase, arrows: bool) -> None:
    """Show a use case: its dialogs, with what is read from each response, and its notes."""
    if case.description:
        say.text(case.description)
    for dialog in case.dialogs:
        if isinstance(dialog, str):
            say.text(dialog)
            continue
        widgets.exact_text("Input prompt", guide.prompt(case, dialog), arrows)
        if isinstance(dialog, TextCompletion):
            continue
        if not dialog.response:
            st.text("No recorded response.")
            continue
        widgets.exact_text(f"Model response ({dialog.origin})", dialog.response, arrows)
        st.caption("What is read from it")
        tables.table(rows.events(guide.reading(dialog).events), height="content")
    for note in case.notes:
        say.text(f"• {note}")
