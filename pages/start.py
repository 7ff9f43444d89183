"""Start: an introduction, a box for importing, three jobs, the user's sessions, and samples."""

from __future__ import annotations

import streamlit as st

from playground.app import start
from playground.app.shared import bring, shelf, workspace

with st.container(key="start"):
    start.welcome()
    bring.panel()
    start.jobs()
    st.caption(
        "What you import stays on the machine that runs this app. If you run a model, the "
        "request goes to its provider, or to the server that you name."
    )
    st.header("Yours", anchor=False)
    shelf.show()
    workspace.trash()
    st.header("Samples", anchor=False)
    start.gallery()
