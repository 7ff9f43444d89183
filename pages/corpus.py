"""Corpus: many recorded sessions, asked one question at a time."""

from __future__ import annotations

import streamlit as st

from playground.plugins.corpus import page as corpus

found = corpus.chosen()
if found is None:
    st.stop()
corpus.holds(found)
narrowed = corpus.facets(found)
name, by = corpus.question()
if corpus.was_stopped():
    st.stop()
answer = corpus.ask(found, name, by, narrowed)
if answer is None:
    st.stop()
corpus.show(answer)
if answer.rows:
    corpus.trend(found, name, narrowed)
    corpus.behind(found, answer, by, narrowed)
