"""Navigation: the pages as Streamlit's pages, the bar on top, and ways between pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import streamlit as st

from playground.app import state
from playground.app.pages import (
    ON_TOP,
    PAGES,
    PageEntry,
    listed,
    older_addresses,
    page_entry,
    parent,
    views,
)
from playground.app.serving import warming
from playground.base import paths

_BRAND: Final = ":material/stacked_bar_chart:"
VIEW: Final = "view"
_OF: Final = "page of the view"  # the page for which the view's widget was set last


def link(
    name: str, label: str, *, icon: str | None = None, width: Any = "stretch", **values: str
) -> None:
    """Draw a link to a page or view; `values` go into its address."""
    entry = page_entry(name)
    st.page_link(
        _streamlit_page(parent(entry)),
        label=label,
        icon=icon,
        width=width,
        query_params=_view_of(entry) | values,
    )


def go(name: str) -> None:
    """Go to the page or view of this name, before the page draws its parts.

    This sets no query values, because Streamlit does not let code set or clear a value that is
    both in the address and bound to a widget. So a view is chosen by setting its widget.
    """
    entry = page_entry(name)
    if parent(entry) is not entry:
        state.choose(VIEW, entry.view)
        state.put(_OF, parent(entry).name)
    st.switch_page(_streamlit_page(parent(entry)), query_params={})


def begin(page: PageEntry) -> None:
    """Reset the widgets for view and dialect: the previous page used the same keys, and its choices
    would otherwise get into this page's address."""
    if state.get(_OF) not in (None, page.name):
        state.forget(VIEW)
        state.forget("dialect")
    state.put(_OF, page.name)


def open_view(name: str) -> None:
    """Make the next run show a view of the same page; call this in a callback."""
    state.forget_url(VIEW)
    state.choose(VIEW, page_entry(name).view)


def go_from(page: PageEntry, name: str) -> None:
    """Go from a page to the page or view of this name, before the page draws anything."""
    entry = page_entry(name)
    if parent(entry) is not page:
        go(name)
    elif entry is not page:  # another view of the same page
        open_view(name)


def every_page() -> list[Any]:
    """Return the pages, then the older addresses, which redirect to a page or view."""
    older = [
        st.Page(_redirect(entry), title=entry.title, url_path=address)
        for address, entry in older_addresses().items()
    ]
    return [*map(_streamlit_page, listed()), *older]


def entry_of(script_page: Any) -> PageEntry | None:
    """Return the entry of the page that is shown, or None for an older address."""
    return next((entry for entry in listed() if entry.name == script_page.url_path), None)


def bar(current: PageEntry) -> None:
    """Draw links to the pages: the first ones, and the others in the menu *More*.

    On a narrow screen all pages are in one menu with the name of the current page, because there
    Streamlit's own bar hides every link, and a screen reader does not read its sections as a list.
    """
    st.page_link(_streamlit_page(PAGES[0]), label="Dialect Playground", icon=_BRAND)
    with st.container(horizontal=True, key="pages", gap=None):
        for entry in listed()[:ON_TOP]:
            st.page_link(_streamlit_page(entry), width="content", icon=None)
    more = listed()[ON_TOP:]
    _menu("more pages", current.title if current in more else "More", more, current)
    _menu("all pages", current.title, listed(), current)


def view_select(page: str) -> PageEntry:
    """Let the user choose a view of a page that has several; the address contains the view."""
    entries = views(page_entry(page))
    if len(entries) == 1:
        return entries[0]
    labels = [entry.view for entry in entries]
    chosen = view_choice(labels, {label.lower(): label for label in labels})
    return entries[labels.index(chosen)]


def view_choice(labels: Sequence[str], older: Mapping[str, str], key: str = VIEW) -> str:
    """Let the user choose one of these labels; the address has the label or an `older` name."""
    state.rename_in_address(key, older)
    chosen = st.segmented_control(
        "View",
        labels,
        default=labels[0],
        required=True,
        key=key,
        bind="query-params",
        label_visibility="collapsed",
    )
    return str(chosen)


def current(page: PageEntry) -> PageEntry:
    """Return the view of a page that is shown, or the page itself."""
    shown = state.get(VIEW) or state.url_values().get(VIEW)
    return next((entry for entry in views(page) if entry.view == shown), page)


def show(entry: PageEntry, row: Any) -> None:
    """Draw a view, with its controls in this row of the page."""
    warming.import_parts(entry).show(row)


def _view_of(entry: PageEntry) -> dict[str, str]:
    return {} if parent(entry) is entry else {VIEW: entry.view}


def _redirect(entry: PageEntry) -> Callable[[], None]:
    def lead_on() -> None:
        values = state.url_values() | _view_of(entry)
        st.switch_page(_streamlit_page(parent(entry)), query_params=values)

    return lead_on


def _menu(key: str, label: str, entries: Sequence[PageEntry], current: PageEntry) -> None:
    """Draw a list of pages, which closes when a page is chosen."""
    seen = f"page of {key}"
    if state.get(seen) != current.name:
        state.choose(key, False)
    state.put(seen, current.name)
    with st.popover(label, key=key, on_change="rerun") as menu:
        if menu.open:
            for entry in entries:
                st.page_link(_streamlit_page(entry))


def _streamlit_page(entry: PageEntry) -> Any:
    # An absolute path, because Streamlit would look for a relative one in the folder of main.py.
    script = paths.pages() / f"{entry.name}.py"
    return st.Page(
        script if script.is_file() else _alone(entry),  # a view whose page is not installed
        title=entry.title,
        icon=f":material/{entry.icon}:",
        url_path=entry.name,
    )


def _alone(entry: PageEntry) -> Callable[[], None]:
    return lambda: show(entry, st.container(horizontal=True, key="toolbar"))
