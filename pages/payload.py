"""Payload: the HTTP body that each provider would get, beside what the dialect rendered."""

from __future__ import annotations

import streamlit as st

from playground.app import payload, state
from playground.app.shared import widgets

working = state.working_session()
left, right = st.columns([1, 2])
with left:
    dialect = widgets.dialect_select("Dialect", "dialect", widgets.model_dialect())
with right:
    providers = payload.provider_choice()
parameters = payload.parameters()
if not providers:
    st.info("Choose a provider above.")
    st.stop()
payload.side_by_side(working.session, dialect, providers, parameters)
