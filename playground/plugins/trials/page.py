"""The view Trials of the page Compare, and the trial of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import streamlit as st

from playground.app import answers, navigation, state
from playground.app.serving import access
from playground.app.shared import choosing, say, tables, waiting, widgets
from playground.app.shared.runs import Runs
from playground.app.state import WorkingSession
from playground.base.errors import InputFault, PlaygroundError
from playground.plugins.trials import step_editor
from playground.plugins.trials.doubts import doubts
from playground.plugins.trials.figures import Trial
from playground.plugins.trials.plan import TrialPlan, TrialRun, own_calls
from playground.plugins.trials.plan import trial as planned
from playground.plugins.trials.rows import miss_rows, pair_rows, with_bounds
from playground.sessions.editing import Edit
from playground.sessions.native_format import dump_expected, dump_session
from playground.sessions.session import ExpectedCall, ExpectedReply, Session

_STEP: Final = Edit("expected calls")
_RUN: Final = "trial"
_REPEATS: Final = "trial repeats"
_KEPT: Final = "answers of trial"
RECORDED: Final = "From recordings"
START: Final = "Run trial"


def show(row: Any) -> None:
    """Show a trial: expected calls, and how often dialects and models make them."""
    working = state.working_session()
    expected_calls(working)
    if not working.session.expected:
        st.stop()
    found = _from_recordings(working.session)
    recorded, asked = st.tabs(
        [RECORDED, "Live"],
        default=RECORDED if found else "Live",
        key="trial view",
        on_change="rerun",
        bind="query-params",
    )
    if recorded.open:
        with recorded:
            if found:
                _result(found, working.name)
            else:
                st.info("No recording has the name of a case, so none is counted: see Live.")
    if asked.open:
        with asked:
            live(working)


def expected_calls(working: WorkingSession) -> None:
    """Show the cases: as JSON to edit, or taken from the calls of the session's own model."""
    name, expected, own = working.name, working.session.expected, own_calls(working.session)
    if not expected:
        st.info("Say which calls you expect: those of the session's own model, or others as JSON.")
    else:
        tables.table(
            [
                {
                    "case": each.name or f"message {each.message}",
                    "messages sent": each.message,
                    "expected": ", ".join(call.tool_name for call in each.calls) or "no call",
                }
                for each in expected
            ],
            height="content",
        )
        widgets.show_findings(doubts(working.session), "in what is expected")
    with st.expander("Edit the expected calls", icon=":material/edit:", expanded=not expected):
        shown = step_editor.editor(name, dump_expected(expected) if expected else "", _STEP)
        st.text_area(
            "Expected replies, as JSON",
            shown.value,
            key=shown.key,
            height=120,
            placeholder='[{"message": 1, "calls": [{"tool_name": "…", "args": {…}}]}]',
            help="`message` is how many messages are sent; without `args` any arguments are right; "
            "without `calls` no call is wanted.",
            on_change=shown.on_change,
        )
        if shown.fault:
            st.error("This cannot be read, so the last readable text is in use.")
            say.text(shown.fault)
            st.button(
                "Show the one in use",
                key=f"forget {shown.key}",
                icon=":material/undo:",
                on_click=step_editor.forget_unread,
                args=(name, _STEP),
            )
        say.button(
            f"Expect the calls of the session's own model ({len(own)})",
            key="expect own calls",
            icon=":material/playlist_add_check:",
            disabled=not own,
            on_click=step_editor.take_edit,
            args=(dump_expected(own), name, _STEP),
        )


def _from_recordings(session: Session) -> Trial | None:
    """Return the trial of the session's recordings, or None if none answers a case."""
    try:
        return planned(session).run() if session.recordings else None
    except InputFault:
        return None


def live(working: WorkingSession) -> None:
    """Let the user choose arms, see the cost, run and watch the trial, and store the answers."""
    if not access.current().may_run:
        st.info(access.NO_RUNS)
        return
    dialects = choosing.dialects()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        own = working.session.task.model_name
        models = st.text_input(
            "Models", own, key="trial models", help="As LiteLLM names them, with commas between."
        )
        repeats = st.number_input("Repeats", 1, 100, 5, key=_REPEATS, width=140)
        base_url = st.text_input(
            "Server",
            key="trial server",
            disabled=access.current().public,
            placeholder="the provider's own",
            help="An OpenAI-compatible address, such as `playground demo-server` prints.",
        )
    names = [each.strip() for each in models.split(",") if each.strip()]
    if not dialects or not names:
        st.info("Choose a dialect and a model.")
        return
    askable = [answers.askable(name, base_url, working.session.tools) for name in names]
    if all(each.missing for each in askable):
        say.caption(answers.scripted_note(names[0], askable[0].missing))
        names, base_url = [askable[0].model], askable[0].server
    ask(working, working.session, dialects, names, repeats, base_url)


def ask(
    working: WorkingSession,
    expecting: Session,
    dialects: Sequence[str],
    models: Sequence[str],
    repeats: int,
    base_url: str = "",
    parameters: Mapping[str, Any] | None = None,
    written_in: str = "",
) -> None:
    """Show the cost of a trial, run it, show its progress, and then its outcome."""
    try:
        plan = planned(
            expecting,
            dialects,
            models=models,
            repeats=repeats,
            base_url=base_url,
            parameters=parameters,
        )
        plan = replace(plan, written_in=written_in)
        cost = waiting.background().submit(lambda: plan.cost)  # LiteLLM knows what it refuses
        waiting.until_loaded(cost.done)
        say.text(f"{cost.result()}. {plan.too_few}".strip())
        if plan.too_few:
            enough = _REPEATS, plan.least_repeats
            say.button(
                f"Set to {enough[1]} times", key="ask enough", on_click=state.choose, args=enough
            )
    except PlaygroundError as fault:
        st.error("This cannot be asked.")
        say.text(str(fault))
        return
    run = _runs().get(state.run_id(_RUN))
    busy = run is not None and run.under_way
    if st.button(START, icon=":material/experiment:", key="run trial", disabled=busy):
        _start(plan)
        st.rerun()  # so that the button is disabled
    if run is None or question(run.plan) != question(plan):
        return
    if busy:
        _watch(run)
    else:
        _outcome(working, run)


def ask_again(
    working: WorkingSession,
    dialects: Sequence[str],
    called: Mapping[str, Sequence[tuple[str, dict[str, Any]]]],
    *,
    model: str,
    base_url: str,
    parameters: Mapping[str, Any],
    written_in: str,
) -> None:
    """Offer a trial of Compare's columns; `called` has the calls of each answer, by dialect. For
    `written_in`, see `TrialPlan`."""
    title = "Trial: ask n times, and see what is proven"
    with say.expander(title, key="trial of columns", on_change="rerun") as place:
        if not place.open:
            return
        cases = _cases(working.session, called)
        if not cases:
            st.info("No call was made, and none is expected: there is nothing to score.")
            return
        with st.container(horizontal=True, vertical_alignment="bottom"):
            right = st.selectbox("Right is", list(cases), format_func=say.option, width=360)
            repeats = st.number_input("Times", 1, 100, 5, key=_REPEATS, width=140)
        expecting = replace(working.session, expected=cases[str(right)])
        times = int(repeats)
        ask(working, expecting, dialects, [model], times, base_url, parameters, written_in)


def _cases(
    session: Session, called: Mapping[str, Sequence[tuple[str, dict[str, Any]]]]
) -> dict[str, tuple[ExpectedReply, ...]]:
    """Return the choices of expected replies: the session's, its own model's, each answer's."""
    own = own_calls(session)
    choices = {"what the session expects": session.expected, "what its own model called": own}
    for name, made in called.items():
        calls = tuple(ExpectedCall(*call) for call in made)
        expected = ExpectedReply(len(session.messages), calls, "the answer")
        choices[f"what {name} just called"] = (expected,) if calls and session.messages else ()
    return {title: cases for title, cases in choices.items() if cases}


def question(plan: TrialPlan) -> tuple[object, ...]:
    """Return a value that is equal for plans with the same session, dialects and cases."""
    return plan.session.title, [dialect.name for dialect in plan.dialects], plan.cases


@st.cache_resource(show_spinner=False)
def _runs() -> Runs[TrialRun]:
    return Runs()


def _start(plan: TrialPlan) -> None:
    run = TrialRun(plan)
    alive = waiting.tab_watch()
    run.start(alive)
    state.set_run_id(_runs().add(run, alive, state.run_id(_RUN)), _RUN)


def _watch(run: TrialRun) -> None:
    bar = st.progress(0.0, _progress(run))
    st.button("Cancel", icon=":material/stop:", on_click=run.stop, key="cancel trial")
    table = st.empty()

    def show() -> None:
        bar.progress(len(run.done) / run.plan.requests, _progress(run))
        if run.done:
            _arms(run.trial, table)

    waiting.until(lambda: not run.under_way, show)
    st.rerun()


def _progress(run: TrialRun) -> str:
    if not run.done:
        return f"Waiting for the first answer. {waiting.LOADING}"
    return f"{len(run.done):,} of {run.plan.requests:,} answers"


def _outcome(working: WorkingSession, run: TrialRun) -> None:
    found = run.trial
    if run.fault:
        st.error("The trial ended before its time.")
        say.text(run.fault)
    if len(found.attempts) < run.plan.requests:
        say.warning(f"Stopped after {len(found.attempts)} of {run.plan.requests} answers.")
    if not found.attempts:
        return
    recordings = tuple(each.recording for each in found.attempts if each.recording)
    if not recordings:
        _result(found, "")
        return
    kept = replace(run.plan.session, recordings=recordings)
    name = _kept_name(working.name, kept)
    with st.container(horizontal=True, vertical_alignment="center"):
        say.text(f"Every answer is in a session of its own: {name}")
        values = {"session": say.option(name), "trial view": RECORDED}
        navigation.link("trials", "Open it", width="content", **values)
        say.download_button(
            "Download",
            lambda: dump_session(kept),
            f"{working.name} trial.json",
            key="save trial",
            icon=":material/download:",
        )
    _result(found, name)


def _arms(trial: Trial, place: Any = None) -> None:
    """Show a row for each arm, narrow enough for the page."""
    head, cells = with_bounds(trial)
    tables.table([dict(zip(head, row, strict=True)) for row in cells], place, height="content")


def _kept_name(of: str, kept: Session) -> str:
    """Return the name of the session with the answers of this run. The session is stored when a
    page first sees that the run has ended."""
    key = f"{_KEPT} {state.run_id(_RUN)}"
    if not state.get(key):
        state.put(key, state.keep_session(f"{of} trial", kept))
    return str(state.get(key))


def _result(trial: Trial, name: str) -> None:
    """Show the verdict, the figures, and how wrong answers differ from the expected calls. `name`
    is the name of the session that has the answers."""
    say.info(trial.verdict)
    if not any(arm.answered for arm in trial.arms):
        return
    _arms(trial)
    st.caption(
        "Shares with their 95 % intervals (Wilson). Parsed: every call was read whole. Each share "
        "counts only answers that the share before it counts. Times are medians since the request."
    )
    if len(trial.arms) > 1:
        tables.table(pair_rows(trial), height="content")
        st.caption(
            "Two at a time on the same attempts, by right arguments; p is the probability of a "
            "split at least this uneven if neither is better (exact sign test)."
        )
    misses = miss_rows(trial)
    if misses.cells:
        st.header("What was not right", divider="gray", anchor=False)
        tables.table(misses, height="content", key="misses")
        navigation.link(
            "replay",
            "Replay the first of them",
            session=say.option(name),
            recording=say.option(trial.misses[0].recording),
        )
    reasons = (each.fault or each.broken_off for each in trial.attempts)
    faults = list(dict.fromkeys(filter(None, reasons)))
    for fault in faults[:3]:
        say.text(fault)
