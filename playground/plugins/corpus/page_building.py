"""The parts of the page Corpus that build a corpus in the background, and show the progress."""

from __future__ import annotations

import hashlib
from os.path import expanduser
from pathlib import Path
from typing import Final

import streamlit as st

from playground.app import state
from playground.app.shared import components, say, waiting
from playground.app.shared.components import Picture
from playground.app.shared.runs import Runs
from playground.base import paths
from playground.base.wording import grouped
from playground.plugins.corpus.places import plain_path
from playground.plugins.corpus.questions import question_names
from playground.plugins.corpus.runs import BuildRun
from playground.show.board import Payload, board, card

_RUN: Final = "corpus"
_INPUTS: Final = "corpus inputs"
BUILD: Final = "playground corpus build my-corpus my-transcripts/"
RECORD: Final = "playground proxy -- claude"


def show_build() -> None:
    """Show a form that builds a corpus, the progress or fault of the build, and older corpora."""
    head = board(
        "No corpus is open. There are two ways to get one.",
        "A corpus is built from any folders and session files that this project reads: JSON lines, "
        "transcripts, request bodies.",
    )
    components.board(Picture(head), key="corpus head")
    run = _builds().get(state.run_id(_RUN))
    busy = run is not None and run.under_way
    with st.container(horizontal=True, key="corpus-ways"):
        with st.container(border=True, width="stretch"):
            st.markdown("**Build one from files you have**")
            components.verbatim(BUILD, "the command", key="corpus command")
            _show_form(busy)
        with st.container(border=True, width="stretch"):
            st.markdown("**Record what your agent sends**")
            components.verbatim(RECORD, "the command", key="proxy command")
            st.caption("The proxy runs between an agent and its provider. See Live for its runs.")
    if run is not None:
        _show_run(run)
    components.board(Picture(_corpora_board()), key="corpus places", on_choose=_open)


def _show_form(busy: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Recorded sessions",
            key=_INPUTS,
            placeholder="the samples and my workspace",
            help="Files, folders, patterns and addresses, with commas between.",
            disabled=busy,
        )
        st.button("Build", key="build corpus", on_click=_build, disabled=busy)


def _show_run(run: BuildRun) -> None:
    if run.under_way:
        _watch(run)
    elif run.fault:
        st.error("The corpus could not be built.")
        say.text(run.fault)
    else:
        st.info("Stopped. *Build* continues where it stopped.")


def _corpora_board() -> Payload:
    """Return a board: the corpora that were built in the app, and the questions to ask them."""
    folders = sorted((paths.data() / "corpora").glob("*/corpus.json"), reverse=True)
    built = [{"key": str(file.parent), "name": file.parent.name, "cells": []} for file in folders]
    asked = [{"cells": [question], "tone": ""} for question in question_names().values()]
    cards = [card("facts", "Questions that a corpus answers", rows=asked)]
    listed = card("rows", "Built here before", key="places", heads=[["corpus", "100%"]], rows=built)
    return board(cards=[*[listed] * bool(built), *cards])


def _open() -> None:
    state.forget_url("corpus")
    state.choose("corpus", components.chosen_of("corpus places")[1])


def choose_built() -> None:
    """If the build that this tab started is complete, choose its corpus for the page."""
    run = _builds().get(state.run_id(_RUN))
    if run is not None and run.is_built:
        state.set_run_id("", _RUN)
        state.choose("corpus", str(run.folder))
        state.tell_starred_secrets(run.starred_secrets)


@st.cache_resource(show_spinner=False)
def _builds() -> Runs[BuildRun]:
    return Runs()


def _build() -> None:
    # The field's state is read here, because a click on *Build* may come before its change event.
    sources = str(state.get(_INPUTS) or "")
    names = [name.strip() for name in sources.split(",") if name.strip()]
    inputs = [expanduser(name) for name in names] or _default_inputs()  # noqa: PTH111 - Path's method raises
    title = ", ".join(Path(plain_path(name)).name for name in names) or "samples and workspace"
    digest = hashlib.sha256("\0".join(map(str, inputs)).encode()).hexdigest()[:8]
    run = BuildRun(paths.data() / "corpora" / f"{title[:60]} {digest}", inputs)
    is_alive = waiting.tab_watch()
    run.start(is_alive)
    state.set_run_id(_builds().add(run, is_alive, state.run_id(_RUN)), _RUN)


def _default_inputs() -> list[str]:
    inputs = [*paths.samples().values(), *[paths.workspace()] * paths.workspace().is_dir()]
    return list(map(str, inputs))


def _watch(run: BuildRun) -> None:
    bar = st.progress(0.0)
    st.button("Stop", icon=":material/stop:", key="stop build", on_click=run.stop)

    def show() -> None:
        stopping = ", ending after the current shards" * run.cancel.is_set()
        size = f" of {_megabytes(run.size)}" if run.size else ""
        share = min(run.done / run.size, 1.0) if run.size else 0.0
        text = f"{run.what[:1].upper()}{run.what[1:]}: {_megabytes(run.done)}{size}{stopping}"
        bar.progress(share, text)

    waiting.until(lambda: not run.under_way, show)
    st.rerun()


def _megabytes(size: int) -> str:
    return f"{grouped(size / 1e6, 1)} MB"
