"""The app's entry: pages, the session that all of them share, nothing else."""

from __future__ import annotations

import streamlit as st

from playground import paths
from playground.ui import widgets

st.set_page_config(page_title="Dialect playground", page_icon=str(paths.icon()), layout="wide")

pages = paths.pages()
compare = st.Page(
    pages / "compare.py", title="Compare", icon=":material/view_column:", url_path="compare"
)


def start() -> None:
    """The bare address leads to the first page, so that every page has a link of its own."""
    st.switch_page(compare, query_params=st.query_params.to_dict())


page = st.navigation(
    [
        st.Page(start, title="Start", visibility="hidden", default=True),
        compare,
        st.Page(pages / "cache.py", title="Cache", icon=":material/bookmark:", url_path="cache"),
        st.Page(
            pages / "replay.py", title="Replay", icon=":material/play_circle:", url_path="replay"
        ),
        st.Page(
            pages / "raw.py", title="Raw prompt", icon=":material/data_object:", url_path="raw"
        ),
        st.Page(pages / "guide.py", title="Guide", icon=":material/menu_book:", url_path="guide"),
        st.Page(pages / "carry.py", title="Carry", icon=":material/luggage:", url_path="carry"),
    ],
    position="top",
)
if page.title != "Start":
    widgets.session_sidebar()
page.run()
