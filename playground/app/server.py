"""The app as an ASGI application, with the middleware of `guard`. `launch` runs this file."""

from __future__ import annotations

import streamlit as st

from playground.app.serving import access, guard, launch
from playground.base import paths

app = st.App(
    paths.app_file(), lifespan=launch.announce_links, middleware=guard.gates(access.current())
)
