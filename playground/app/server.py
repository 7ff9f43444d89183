"""The app as an ASGI application within its gates; `launch` gives this file to Streamlit."""

from __future__ import annotations

import streamlit as st

from playground.app.serving import access, guard, launch
from playground.base import paths

app = st.App(
    paths.app_file(), lifespan=launch.announce_links, middleware=guard.gates(access.current())
)
