"""The frame of every page: the bar of pages, a heading, the page's question, two buttons."""

from __future__ import annotations

import re

import streamlit as st

from playground.app import navigation
from playground.app.pages import PageEntry
from playground.app.shared import bring, keys, say
from playground.base import paths

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)[^)]*\)")


def head(entry: PageEntry) -> None:
    """The bar and the page's heading; the buttons open dialogs over any page."""
    st.html(paths.app_file().with_name("app.css"))
    bring.prepare()
    navigation.bar()
    with st.container(horizontal=True, vertical_alignment="bottom", key="head"):
        with st.container(width="stretch", gap=None):
            st.title(entry.title, anchor=False)
            say.caption(entry.question)
        if st.button("Bring …", key="bring", icon=":material/content_paste_go:", type="primary"):
            bring.dialog(entry.name)
        if st.button("Documentation", key="documentation", icon=":material/help:"):
            _documentation(entry.document)
        if st.button("Keys", key="show keys", icon=":material/keyboard:", help="All keys: ?"):
            keys.show()
        keys.listen(entry)


@st.dialog("Documentation", width="large")
def _documentation(name: str) -> None:
    """A file of `docs/`; its links lead to other files, which are not pages of the app."""
    text = (paths.documents() / name).read_text(encoding="utf-8")
    st.markdown(_LINK.sub(r"\1", text))
