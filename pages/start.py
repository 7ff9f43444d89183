"""Start: a box for anything of one's own, the three jobs, the samples."""

from __future__ import annotations

import streamlit as st

from playground.app import start
from playground.app.shared import bring, workspace

st.header("Bring something of yours", anchor=False)
bring.panel()
st.header("Three jobs", anchor=False)
start.jobs()
st.header("Your workspace", anchor=False)
workspace.shelf()
workspace.trash()
st.header("Samples", anchor=False)
start.gallery()
