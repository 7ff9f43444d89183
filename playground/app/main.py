"""The app's entry: the list of pages, and the parts that every page has."""

from __future__ import annotations

import streamlit as st

from playground.app.pages import PAGES
from playground.app.serving import access, warming

warming.import_parts(PAGES[0])  # first, under a lock: each tab runs this file in its own thread

from playground.app import navigation  # noqa: E402
from playground.app.shared import bring, callbacks, frame, workspace  # noqa: E402
from playground.base import paths  # noqa: E402

if (host := st.context.headers.get("Host")) and not access.answers_to(host):
    # `streamlit run` of this file skips the gates of `server.py`
    st.error(
        "This app does not answer to the host name in this address. "
        "Open the link that it printed when it started."
    )
    st.stop()

access.hide_workspace()
st.set_page_config(
    page_title="Dialect Playground",
    page_icon=str(paths.icon()),
    layout="wide",
    initial_sidebar_state="collapsed",
)

callbacks.lose_no_click()
pages = navigation.every_page()


def start() -> None:
    """Go from the address without a path to the first page, which has an address of its own."""
    st.switch_page(pages[0], query_params=st.query_params.to_dict())


page = st.navigation(
    [st.Page(start, title="Dialect Playground", url_path="", default=True), *pages],
    position="hidden",
)
if entry := navigation.entry_of(page):  # None for an older address, which redirects to a page
    st.set_page_config(page_title=f"{entry.title} · Dialect Playground")
    navigation.begin(entry)
    bring.go_to_target(entry)  # before the bar: after its widgets, the address is fixed
    if not frame.head(entry):
        workspace.missing()
        st.stop()
    warming.import_parts(entry)
page.run()
warming.page_drawn.set()
