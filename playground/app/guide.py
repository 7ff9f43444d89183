"""The Guide page's parts: a use case of a dialect, as a model sees it and as it is read back."""

from __future__ import annotations

import streamlit as st

from playground.app.shared import say, tables, widgets
from playground.lab.guides import Guide, TextCompletion, UseCase
from playground.show import frames


def case_choice(guide: Guide) -> UseCase:
    titles = [case.title for case in guide.use_cases]
    title = st.segmented_control(
        "Use case", titles, default=titles[0], required=True, key="case", bind="query-params"
    )
    # The URL may name a case of another dialect's guide.
    return next((case for case in guide.use_cases if case.title == title), guide.use_cases[0])


def show_case(guide: Guide, case: UseCase, arrows: bool) -> None:
    """Its description, its dialogs with what is read from each response, and its notes."""
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
        tables.table(frames.events(guide.reading(dialog).events), height="content")
    for note in case.notes:
        say.text(f"• {note}")
