"""Own dialect: a declaration at the left, and at the right what it does, at once."""

from __future__ import annotations

import streamlit as st

from playground.app import own, state
from playground.app.shared import components, declaration_fields, declaring, dialect_file

session = state.working_session().session
own.begin()
draft = declaring.draft()
own.start(draft)
left, right = st.columns([2, 3], gap="medium")
with left:
    st.header("Declaration", anchor=False)
    dialect_file.keeping(draft)
    declaration_fields.fields(draft)
with right:
    figures = st.container()  # above all, but waited for when the rest is drawn
    st.header("A call", anchor=False)
    written = own.call(draft.dialect, session)
    components.verbatim(written, "the call", key="own call", height=200)
    st.header("What is read from a reply", anchor=False)
    own.show_reply(draft, session, written)
    st.header("What the model is told", anchor=False)
    prompt = own.prompt(draft.dialect, session)
    components.verbatim(prompt, "the system prompt", key="own prompt", height=250)
    st.header("Grammar", anchor=False)
    own.show_grammar(draft.dialect, session)
    with figures:
        own.summary(draft.text, draft.dialect.name)
    st.header("Laws", anchor=False)
    own.show_laws(draft.text)
    st.header("Hostile values that come back", anchor=False)
    own.show_values(draft.text, draft.dialect.name)
    own.nearest(draft.text)
