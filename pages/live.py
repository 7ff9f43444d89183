"""Live: what passes the proxy, session by session, expected beside billed."""

from __future__ import annotations

import streamlit as st

from playground.plugins.proxy import page as live

run = live.chosen_run()
if run is None:
    st.stop()
seen = live.read(run)
st.markdown(live.headline(seen))
if seen.sessions:
    live.session(run, live.sessions(seen))
live.follow(run)
