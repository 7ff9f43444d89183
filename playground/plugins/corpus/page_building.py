"""The parts of the page Corpus that build a corpus in the background, and show the progress."""

from __future__ import annotations

import hashlib
from os.path import expanduser
from pathlib import Path
from typing import Final

import streamlit as st

from playground.app import state
from playground.app.shared import components, say, waiting
from playground.app.shared.runs import Runs
from playground.base import paths
from playground.base.wording import grouped
from playground.plugins.corpus.places import plain_path
from playground.plugins.corpus.runs import BuildRun

_RUN: Final = "corpus"
BUILD: Final = "playground corpus build my-corpus my-transcripts/"


def show_build() -> None:
    """Show a form that builds a corpus, the progress of the build, and what came of it."""
    st.info("Build a corpus from many recorded sessions, here or by the command, and then ask it:")
    components.verbatim(BUILD, "the command", key="corpus command")
    run = _builds().get(state.run_id(_RUN))
    busy = run is not None and run.under_way
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sources = st.text_input(
            "Recorded sessions",
            key="corpus inputs",
            placeholder="the samples and my workspace",
            help="Files, folders, patterns and addresses, with commas between.",
            disabled=busy,
        )
        st.button("Build", key="build corpus", on_click=_build, args=(sources,), disabled=busy)
    if run is None:
        return
    if busy:
        _watch(run)
    elif run.fault:
        st.error("The corpus could not be built.")
        say.text(run.fault)
    else:
        st.info("Stopped. *Build* continues where it stopped.")


def choose_built() -> None:
    """Choose the corpus that was built in this tab as the one to ask, if its build is complete."""
    run = _builds().get(state.run_id(_RUN))
    if run is not None and run.is_built:
        state.set_run_id("", _RUN)
        state.choose("corpus", str(run.folder))
        state.tell_starred(run.starred)


@st.cache_resource(show_spinner=False)
def _builds() -> Runs[BuildRun]:
    return Runs()


def _build(sources: str) -> None:
    names = [name.strip() for name in sources.split(",") if name.strip()]
    inputs = [expanduser(name) for name in names] or _default_inputs()  # noqa: PTH111, which may raise
    title = ", ".join(Path(plain_path(name)).name for name in names) or "samples and workspace"
    digest = hashlib.sha256("\0".join(map(str, inputs)).encode()).hexdigest()[:8]
    run = BuildRun(paths.data() / "corpora" / f"{title[:60]} {digest}", inputs)
    alive = waiting.tab_is_open()
    run.start(alive)
    state.set_run_id(_builds().add(run, alive, state.run_id(_RUN)), _RUN)


def _default_inputs() -> list[str]:
    inputs = [*paths.samples().values(), *[paths.workspace()] * paths.workspace().is_dir()]
    return list(map(str, inputs))


def _watch(run: BuildRun) -> None:
    bar = st.progress(0.0)
    st.button("Stop", icon=":material/stop:", key="stop build", on_click=run.stop)

    def show() -> None:
        stopping = ", ending after what is in hand" * run.cancel.is_set()
        size = f" of {_megabytes(run.size)}" if run.size else ""
        share = min(run.done / run.size, 1.0) if run.size else 0.0
        text = f"{run.what[:1].upper()}{run.what[1:]}: {_megabytes(run.done)}{size}{stopping}"
        bar.progress(share, text)

    waiting.until(lambda: not run.under_way, show)
    st.rerun()


def _megabytes(size: int) -> str:
    return f"{grouped(size / 1e6, 1)} MB"
