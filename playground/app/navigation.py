"""The list of pages as Streamlit's pages: for the bar on top and for going from one to another."""

from __future__ import annotations

from typing import Any

import streamlit as st

from playground.app.pages import ON_TOP, PAGES, PageEntry, page_entry
from playground.base import paths


def page(name: str) -> Any:
    """One page, by its name: for a link to it."""
    return _streamlit_page(page_entry(name))


def go(name: str) -> None:
    """To the page of this name, in the middle of a run.

    Without the address's values: what is bound to a widget can neither be set nor cleared, where
    the address has it, and comes back by itself.
    """
    st.switch_page(page(name), query_params={})


def every_page() -> list[Any]:
    return [_streamlit_page(entry) for entry in PAGES]


def entry_of(shown: Any) -> PageEntry:
    """Return the entry of the page that is shown."""
    return page_entry(shown.url_path)


def bar() -> None:
    """Links to the pages: the first ones in a row that wraps, the others behind one button.

    Not Streamlit's own bar, which hides every link on a narrow screen, and whose sections are no
    list to a screen reader.
    """
    with st.container(horizontal=True, key="pages", vertical_alignment="center"):
        for entry in PAGES[:ON_TOP]:
            st.page_link(_streamlit_page(entry), width="content")
        with st.popover("More", icon=":material/apps:"):
            for entry in PAGES[ON_TOP:]:
                st.page_link(_streamlit_page(entry))


def _streamlit_page(entry: PageEntry) -> Any:
    # An absolute path: Streamlit would look for a relative one beside app.py, inside the package.
    return st.Page(
        paths.pages() / f"{entry.name}.py",
        title=entry.title,
        icon=f":material/{entry.icon}:",
        url_path=entry.name,
    )
