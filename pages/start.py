"""Start: an introduction, a box for importing, three jobs, the user's sessions, and samples."""

from __future__ import annotations

import streamlit as st

from playground.app import start
from playground.app.shared import bring, shelf, workspace

with st.container(key="start"):
    start.welcome()
    bring.panel()
    start.jobs()
    start.where_it_goes()
    st.header("Yours", anchor=False)
    shelf.show()
    workspace.trash()
    st.header("Samples", anchor=False)
    start.gallery()
