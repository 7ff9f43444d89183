"""The app's entry: pages, the session that all of them share, nothing else."""

from __future__ import annotations

import streamlit as st

from playground import paths
from playground.ui import widgets

st.set_page_config(page_title="Dialect playground", page_icon=":material/forum:", layout="wide")

pages = paths.pages()
page = st.navigation(
    [
        st.Page(
            pages / "compare.py",
            title="Compare",
            icon=":material/view_column:",
            url_path="compare",
            default=True,
        ),
        st.Page(pages / "cache.py", title="Cache", icon=":material/bookmark:", url_path="cache"),
        st.Page(
            pages / "replay.py", title="Replay", icon=":material/play_circle:", url_path="replay"
        ),
    ],
    position="top",
)
widgets.session_sidebar()
page.run()
