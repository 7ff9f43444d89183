"""Payload: the HTTP body that each provider would get, beside what the dialect rendered."""

from __future__ import annotations

import streamlit as st

from playground.ui import provider_payloads, state, widgets

working = state.working_session()
left, right = st.columns([1, 2])
with left:
    dialect = widgets.dialect_select("Dialect", "dialect", widgets.model_dialect())
with right:
    providers = provider_payloads.provider_choice()
parameters = provider_payloads.parameters()
if not providers:
    st.info("Choose a provider above.")
    st.stop()
provider_payloads.side_by_side(working, dialect, providers, parameters)
