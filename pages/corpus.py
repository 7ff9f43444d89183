"""Corpus: many recorded sessions, asked one question at a time."""

from __future__ import annotations

import streamlit as st

from playground.plugins.corpus import page as corpus

open_corpus = corpus.choose_corpus()
if open_corpus is None:
    st.stop()
corpus.show_size(open_corpus)
filters = corpus.choose_filters(open_corpus)
name, by = corpus.choose_question()
if corpus.was_stopped():
    st.stop()
answer = corpus.ask(open_corpus, name, by, filters)
if answer is None:
    st.stop()
corpus.show(answer)
if answer.rows:
    corpus.trend(open_corpus, name, filters)
    corpus.show_sessions(open_corpus, answer, by, filters)
