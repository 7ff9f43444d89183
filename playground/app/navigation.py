"""The list of pages as Streamlit's pages: for the bar on top and for going from one to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import streamlit as st

from playground.app import state
from playground.app.pages import ON_TOP, PAGES, PageEntry, listed, page_entry, views
from playground.base import paths

_BRAND: Final = ":material/stacked_bar_chart:"


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


def bar(shown: PageEntry) -> None:
    """Links to the pages: the first ones, the others behind *More*; on a narrow screen all of them
    behind the name of the page that is shown.

    Not Streamlit's own bar, which hides every link on a narrow screen, and whose sections are no
    list to a screen reader.
    """
    st.page_link(_streamlit_page(PAGES[0]), label="Dialect Playground", icon=_BRAND)
    with st.container(horizontal=True, key="pages", gap=None):
        for entry in listed()[:ON_TOP]:
            st.page_link(_streamlit_page(entry), width="content", icon=None)
    _menu("More", listed()[ON_TOP:], shown)
    _menu(views(shown)[0].title, listed(), shown)


def view_links(shown: PageEntry) -> None:
    """Links to the views of the page that is shown, where it has some."""
    with st.container(horizontal=True, key="views", gap=None):
        for entry in views(shown):
            label = entry.view or entry.title
            st.page_link(_streamlit_page(entry), label=label, width="content")


def _menu(label: str, entries: Sequence[PageEntry], shown: PageEntry) -> None:
    """A list of pages that closes when one is chosen."""
    key = "more pages" if label == "More" else "all pages"
    seen = f"page of {key}"
    if state.held(seen) != shown.name:
        state.choose(key, False)
    state.hold(seen, shown.name)
    with st.popover(label, key=key, on_change="rerun") as menu:
        if menu.open:
            for entry in entries:
                st.page_link(_streamlit_page(entry))


def _streamlit_page(entry: PageEntry) -> Any:
    # An absolute path: Streamlit would look for a relative one beside app.py, inside the package.
    return st.Page(
        paths.pages() / f"{entry.name}.py",
        title=entry.title,
        icon=f":material/{entry.icon}:",
        url_path=entry.name,
    )
