"""Compare's answers: every column's request is sent to the model, once or n times as a trial.

Without a key for the model, a scripted server of this project answers, and the page says so. An
answer is recorded while it arrives. It is added to the session, whose messages do not change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final, NamedTuple

import streamlit as st

from playground.app import navigation, state
from playground.app.pages import has_page, page_entry
from playground.app.serving import access, warming
from playground.app.shared import belongings, components, history, keys, say, waiting
from playground.app.shared.memoized import memoized
from playground.app.shared.runs import Runs
from playground.app.state import WorkingSession
from playground.base import paths
from playground.base.errors import InputFault, PlaygroundError
from playground.base.registry import addition
from playground.base.wording import counted, seconds
from playground.dialects import get_dialect
from playground.dialects.preflight import checks_from
from playground.llm.access import missing_keys
from playground.llm.completion_arguments import merge_parameters
from playground.llm.runs import Run
from playground.nouns.tools import ToolMetadata
from playground.parsing.result import ParseResult
from playground.questions.experiments import read_recording
from playground.recordings.recording import Recording
from playground.recordings.scrubbing import describe_stars

_MOST_SHOWN: Final = 4_000  # characters of an answer that is still arriving
_LAST_RUN: Final = "asked in all columns"  # the session's name, the model, the server, run ids
_RUN_WANTED: Final = "to be asked"
_MODEL: Final = "run model"
_SERVER: Final = "run server"
_TEMPERATURE: Final = "run temperature"
_WRITTEN_IN: Final = "run written in"  # a session, and the dialect in which it is written already
_UNSTORED: Final = "recordings in no session"
_SCRIPTED: Final = "openai/demo-taught"


@st.cache_resource(show_spinner=False)
def _runs() -> Runs[Run]:
    return Runs()


@memoized(8)
def _scripted_server(tools: tuple[ToolMetadata, ...]) -> str:
    """Return the address of the server that answers if the model has no key; "" if none does."""
    start = addition("run in all columns")
    return f"{start(tools).url}/v1" if start else ""


@memoized(32)
def _missing_keys(model: str, environment: tuple[str, ...]) -> Future[list[str]]:
    """Return the keys that a model lacks; `environment` names the variables that are set."""
    return waiting.background().submit(missing_keys, model)


class Askable(NamedTuple):
    """The model and the server to ask, and the keys that the model lacks on this machine."""

    model: str
    server: str
    missing: Sequence[str] = ()


def askable(model: str, server: str, tools: tuple[ToolMetadata, ...]) -> Askable:
    """Return what can be asked: the scripted server, if there is one and the model has no key."""
    if server and not access.current().public:  # a visitor may not choose the address
        return Askable(model, server)
    future = _missing_keys(model, tuple(sorted(os.environ)))
    if not future.done():
        waiting.until_loaded(future.done)
    missing: list[str] = []
    with suppress(InputFault):  # the runs report an unknown model
        missing = future.result()
    if missing and (scripted := _scripted_server(tools)):
        return Askable(_SCRIPTED, scripted, missing)
    return Askable(model, "", missing)


def scripted_note(model: str, missing: Sequence[str]) -> str:
    """Say that the scripted server answers, and why."""
    needed = " and ".join(f"${key}" for key in missing)
    return (
        f"Scripted, no model is asked: {model} needs {needed}. This project's own server calls a "
        "tool that fits your words, answers once it has the result, and refuses no request."
    )


# the row of controls


def run_button(working: WorkingSession, dialects: Sequence[str]) -> None:
    """Show the menu *Model* (model, server, temperature) and the button *Run in all columns*."""
    may_run = access.current().may_run
    with st.popover("Model", icon=":material/tune:", key="run settings", disabled=not may_run):
        own = working.session.task.model_name
        st.text_input("Model", own, key=_MODEL, help="As LiteLLM names it.")
        st.text_input(
            "Server",
            key=_SERVER,
            disabled=access.current().public,
            placeholder="the provider's own",
            help="An OpenAI-compatible address. `playground demo-server` prints one.",
        )
        st.number_input("Temperature", 0.0, 2.0, None, key=_TEMPERATURE, placeholder="its own")
        storage = f" Answers are kept in {paths.recordings()}." if access.current().may_keep else ""
        say.caption(
            "Keys are read from the environment of this machine and never stored. Without one, a "
            f"scripted server answers.{storage} Closing this tab ends the requests."
        )
    st.button(
        "Run in all columns",
        key="run",
        type="primary",
        icon=":material/send:",
        disabled=not may_run or _is_busy(),
        help="Ctrl+Enter" if may_run else access.NO_RUNS,
        on_click=want,
    )


def unstored() -> list[str]:
    """Return the names of recordings that are in no session, because their tab was closed."""
    return belongings.value(_UNSTORED) or []


def ask_next(model: str, server: str, dialect: str) -> None:
    """Set the model and the server of the next run; the scripted server is started again.

    The session's request is sent as it is, and its answer is read in this dialect.
    """
    state.put(_WRITTEN_IN, {"of": state.get(state.SESSION), "dialect": dialect})
    state.choose(_MODEL, model)
    state.choose(_SERVER, "" if model == _SCRIPTED else server)


def want() -> None:
    """Let the next run of the page send the session in every column."""
    if access.current().may_run and not _is_busy():
        state.put(_RUN_WANTED, True)


def _last_run() -> Mapping[str, Any]:
    return state.get(_LAST_RUN) or {}


def _runs_by_dialect() -> dict[str, Run]:
    runs_by_name = {
        name: _runs().get(run_id) for name, run_id in _last_run().get("runs", {}).items()
    }
    return {name: run for name, run in runs_by_name.items() if run}


def _is_busy() -> bool:
    return any(run.under_way for run in _runs_by_dialect().values())


# asking


def show(working: WorkingSession, dialects: Sequence[str]) -> None:
    """Start the requested runs, and show the answers below their columns."""
    if keys.is_pressed(keys.RUN):
        want()
    if last := _last_run():  # an edit may have stored a sample under a new name since
        state.put(_LAST_RUN, {**last, "of": state.name_now(last["of"])})
        # the run ended while the page was being drawn or closed
        if not (last["stored"] or _is_busy()):
            _store_answers()
    wanted = state.get(_RUN_WANTED) and access.current().may_run
    if not wanted and _last_run().get("of") != working.name:
        return
    with st.container(key="answers", gap="small"):
        if wanted:
            state.forget(_RUN_WANTED)
            _start(working, dialects)
        runs = {name: run for name, run in _runs_by_dialect().items() if name in dialects}
        if not runs:
            return
        _headline(runs, working.session.tools)
        places = dict(zip(dialects, st.columns(len(dialects), gap="small"), strict=True))
        if _is_busy():
            _watch(runs, places)
        for name, run in runs.items():
            with places[name]:
                _answer(run, name, working)
    if all(run.recorded for run in runs.values()):
        _ask_again(working, dialects, runs)


def _start(working: WorkingSession, dialects: Sequence[str]) -> None:
    own = working.session.task.model_name
    model, server = str(state.get(_MODEL) or own), str(state.get(_SERVER) or "")
    asks, base_url, missing = askable(model, server, working.session.tools)
    old_ids, run_ids = _last_run().get("runs", {}), dict[str, str]()
    files: list[str] = []
    for name in dialects:
        run = _run(working, name, asks, base_url)
        run_ids[name] = _runs().add(run, waiting.tab_watch(), old_ids.get(name, ""))
        if run.path:
            files.append(run.path.name)
    if files:
        belongings.change(_UNSTORED, lambda names: [*(names or ()), *files])
    state.put(
        _LAST_RUN,
        {
            "of": working.name,
            "runs": run_ids,
            "model": model,
            "asks": asks,  # `model`, or the scripted one
            "server": base_url,
            "missing": missing,
            "stored": False,
        },
    )


def _run(working: WorkingSession, name: str, model: str, base_url: str) -> Run:
    """Begin one column's run. An error before anything is sent becomes the run's fault."""
    is_native = get_dialect(name).is_native_toolcalling()
    run = Run(model, (is_native and _written_in(working)) or name)
    try:
        data = working.session.with_model(model).prompt_data()
        rendering = get_dialect(name).with_preflight(*checks_from(os.environ)).render(data)
        run.start(
            rendering.messages,
            rendering.tools or (),
            name=f"{working.name} {name}",
            base_url=base_url,
            parameters=merge_parameters(working.session.parameters, _parameters(), rendering.tools),
            folder=paths.recordings() if access.current().may_keep else None,
            alive=waiting.tab_watch(),
        )
    except PlaygroundError as error:  # such as one of a pre-flight check: nothing is sent
        run.fault = str(error)
    return run


def _written_in(working: WorkingSession) -> str:
    """Return the dialect that the session's text is in already; "" if the columns write it."""
    written = state.get(_WRITTEN_IN) or {}
    return str(written["dialect"]) if written.get("of") == working.name else ""


def _parameters() -> dict[str, Any]:
    temperature = state.get(_TEMPERATURE)
    return {} if temperature is None else {"temperature": temperature}


def _watch(runs: Mapping[str, Run], places: Mapping[str, Any]) -> None:
    """Show every answer as it arrives, with a button that stops it; store them all at the end."""
    texts: dict[str, tuple[Any, Any]] = {}
    for name, run in runs.items():
        with places[name], st.container(key=f"answer {name}", gap=None):
            with st.container(horizontal=True, vertical_alignment="center"):
                status = st.empty()
                if run.under_way:
                    st.button("Stop", key=f"stop {name}", on_click=run.stop, type="tertiary")
            texts[name] = status, st.empty()

    def update() -> None:
        for name, run in runs.items():
            status, text = texts[name]
            status.text(_progress(run))
            text.text(run.text[-_MOST_SHOWN:])

    waiting.until(lambda: not _is_busy(), update)
    _store_answers()


def _store_answers() -> None:
    """Add the answers to the session that was sent, if it still exists; then rerun the page."""
    of = _last_run()["of"]
    for run in _runs_by_dialect().values():
        if run.recorded and of in state.session_names():
            of = history.copy_values(of, state.add_recording(of, run.recorded.recording))
    stored = {run.path.name for run in _runs_by_dialect().values() if run.path}
    belongings.change(_UNSTORED, lambda names: sorted({*(names or ())} - stored))
    state.put(_LAST_RUN, {**_last_run(), "of": of, "stored": True})
    st.rerun()


def _progress(run: Run) -> str:
    if run.chunks:
        return f"{counted(run.chunks, 'chunk')}, {counted(len(run.text), 'character')} so far"
    return "Waiting for the first chunk" if run.under_way else run.fault


# the answers


@memoized(64)
def _parse(recording: Recording, dialect: str, tools: tuple[ToolMetadata, ...]) -> ParseResult:
    return read_recording(recording, dialect, tools)


def _calls(run: Run, tools: tuple[ToolMetadata, ...]) -> list[tuple[str, dict[str, Any]]]:
    if not run.recorded:
        return []
    result = _parse(run.recorded.recording, run.dialect, tools)
    return [(call.name, dict(call.arguments)) for call in result.tool_calls]


def _headline(runs: Mapping[str, Run], tools: tuple[ToolMetadata, ...]) -> None:
    """Show which model or server answers, and whether all answers make the same calls."""
    last_run = _last_run()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("**Answers**", width="content")
        if all(run.recorded for run in runs.values()) and len(runs) > 1:
            calls = [_calls(run, tools) for run in runs.values()]
            if all(other == calls[0] for other in calls):
                same = counted(len(calls[0]), "call").removeprefix("1 ")
                summary = f"the same {same}" if calls[0] else "no call"
                say.badge(f"{summary} in all {len(runs)}", color="green")
            else:
                say.badge("the calls differ", color="orange")
        if last_run["missing"]:
            say.caption(scripted_note(last_run["model"], last_run["missing"]), width="content")
        else:
            say.caption(f"from {last_run['model']}", width="content")


def _answer(run: Run, name: str, working: WorkingSession) -> None:
    """Show one column's answer: its text, its calls, its error, and a button to Replay."""
    if run.recorded is None:
        say.text(run.fault or "Nothing was recorded.")
        return
    recording = run.recorded.recording
    result = _parse(recording, run.dialect, working.session.tools)
    timed = f", {seconds(recording.chunks[-1].at)}" if recording.chunks else ""
    end = "an error" if recording.error else recording.stop_reason or "no end"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        summary = f"{counted(len(recording.chunks), 'chunk')}{timed}, {end}"
        say.caption(summary, width="content")
        navigation.link(
            "replay", "Open in Replay", session=working.name, recording=say.option(recording.name)
        )
    if recording.error:
        say.text(str(recording.error.get("message", recording.error)))
    if run.recorded.starred:
        say.text(f"{describe_stars(run.recorded.starred)}.")
    if result.content.strip():
        say.text(result.content.strip()[:_MOST_SHOWN])
    rows = [
        {"name": call, "pieces": [["argument", ", ".join(arguments)]]}
        for call, values in _calls(run, working.session.tools)
        for arguments in [[f"{k}: {json.dumps(v, ensure_ascii=False)}" for k, v in values.items()]]
    ]
    if rows:
        components.picture(rows, key=f"calls of {name}")
    for finding in result.findings[:2]:
        say.text(f"{finding.code}: {finding.message}")


# a trial: the same requests, n times


def _ask_again(working: WorkingSession, dialects: Sequence[str], runs: Mapping[str, Run]) -> None:
    """Offer to repeat these requests in a trial, if the plugin for trials is installed."""
    if not has_page("trials"):
        return
    last_run = _last_run()
    warming.import_parts(page_entry("trials")).ask_again(
        working,
        list(dialects),
        {name: _calls(run, working.session.tools) for name, run in runs.items()},
        model=last_run["asks"],
        base_url=last_run["server"],
        parameters=_parameters(),
        written_in=_written_in(working),
    )
