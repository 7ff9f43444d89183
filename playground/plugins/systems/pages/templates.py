"""The view Templates of the page Other formats: choose a set, run a template, see its steps."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Final

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground.app import navigation, state
from playground.app.serving import access
from playground.app.shared import belongings, say, tables, waiting, widget_changes, widgets
from playground.app.shared.memoized import memoized
from playground.app.shared.runs import Runs
from playground.base import paths
from playground.base.errors import InputFault, PlaygroundError
from playground.plugins.systems import drawings
from playground.plugins.systems.aichatflow import (
    Answers,
    RecordedAnswers,
    TemplateSet,
    check_templates,
    parse_templates,
)
from playground.plugins.systems.aichatflow.runs import TemplateRun
from playground.plugins.systems.aichatflow.samples import TemplateFiles, sample
from playground.plugins.systems.drawings import step_text
from playground.sessions.documents import json_of
from playground.sessions.line_ends import as_edited
from playground.sessions.native_format import dump_session
from playground.sessions.source import decode
from playground.sessions.source_texts import tool_text
from playground.sessions.tool_files import read_tool_file

_UPLOAD: Final = "template set"
_CHOSEN: Final = "templates"
_OWN: Final = "own template sets"  # the key of a dict: a file's name -> its text
_DRAFTS: Final = "edits of templates "  # + a set's title: maps an editor's key to its text
_FAULT: Final = "template set fault"
_SHOWN_STEP: Final = "template step"
_RUN: Final = "template"
_HISTORY_OF: Final = "history of "  # + a set's title: the editor's key


@dataclass(frozen=True)
class Settings:
    """The values of the page's widgets."""

    name: str
    templates: TemplateSet
    template: str
    texts: dict[str, str]  # input, answers, functions, tools, history, defaults
    limit: int | None  # the most characters of a request's context
    live: bool
    model: str
    base_url: str


@st.cache_resource(show_spinner=False)
def _runs() -> Runs[TemplateRun]:
    return Runs()


def show(row: Any) -> None:
    """Show a conversation template step by step: source, text, variables, request, answer."""
    _take_brought()
    chosen = settings(row)
    if chosen is None:
        st.info("Choose a set of templates above, or upload one.")
        st.stop()
    try:
        run = current_run(chosen)
    except PlaygroundError as fault:
        st.error("This cannot be run. Nothing was changed.")
        say.text(str(fault))
        st.stop()
    if run is None:
        st.info("Press Run to ask the model.")
        st.stop()
    # counted before the steps are drawn, so that a step that arrives meanwhile is drawn later
    seen = steps_so_far(run)
    if run.fault:
        st.error("The run broke off, and the history is as it was before it.")
        say.text(run.fault)
    # placed above the steps, but filled after them
    progress = st.container()
    steps(run)
    results(chosen, run)
    if seen is not None:
        with progress:
            watch(run, seen)


def settings(row: Any) -> Settings | None:
    """Show the widgets of a run's settings; return their values, or None if nothing can be run."""
    with row:
        own_sets = belongings.value(_OWN) or {}
        names = [*paths.sample_templates(), *own_sets]
        options: Any = {"format_func": say.option, "key": _CHOSEN, "bind": "query-params"}
        title = str(st.selectbox("Templates", names, width=230, **options))
        st.file_uploader(
            "Upload a set",
            type=["yaml", "yml", "json"],
            key=_UPLOAD,
            on_change=widget_changes.of(_UPLOAD, _take_set),
        )
    _reset_buttons(title, title in own_sets)
    files, text = _files(names[0] if title in own_sets else title)
    if fault := state.get(_FAULT):
        st.error("This file cannot be read. Nothing was changed.")
        say.text(str(fault))
        state.forget(_FAULT)
    try:
        is_own = title in own_sets
        templates = parse_templates(
            _edited_set(title, str(own_sets[title]) if is_own else text), title
        )
        if is_own:
            files = TemplateFiles(files.templates, answers=_placeholders(templates))
    except InputFault as fault:
        st.error("This set cannot be read. Nothing was changed.")
        say.text(str(fault))
        return None
    widgets.show_findings(check_templates(templates), "in the set")
    with row:
        # the names are part of the widget's key, because a list of other names needs another widget
        template_names = list(templates)
        key = f"template of {title}: {template_names}"
        template = st.selectbox(
            "Template", template_names, format_func=say.option, key=key, width=200
        )
        origins = ["Scripted", *(["A model's"] if access.current().may_run else [])]
        live = st.segmented_control(
            "Answers", origins, default="Scripted", required=True, key="answers"
        )
        with st.popover("Model", icon=":material/tune:"):
            model = st.text_input("Model", key="template model", placeholder="the template's own")
            is_scripted = live == "Scripted"
            base_url = st.text_input(
                "Server",
                key="template server",
                placeholder="the provider's own",
                disabled=is_scripted or access.current().public,
            )
    base_url = "" if access.current().public else base_url  # a visitor must not choose the server
    if template is None:
        return None
    texts, limit = _texts(title, files, is_scripted)
    return Settings(title, templates, template, texts, limit, not is_scripted, model, base_url)


@memoized(16)
def _files(name: str) -> tuple[TemplateFiles, str]:
    files = sample(name)
    return files, files.templates.read_text("utf-8")


def _placeholders(templates: TemplateSet) -> list[str]:
    """Return texts that stand for a model's answers, so that a set without answers can be run: one
    for each request of its longest template, and one for the request at its end."""
    most = max(sum(m.role == "request" for m in messages) for messages in [[], *templates.values()])
    return [f"(answer {number})" for number in range(1, most + 2)]


def _edited_set(title: str, text: str) -> str:
    """Show an editor for the set's text, and return the text as edited."""
    with st.expander("Edit the templates", icon=":material/edit_document:"):
        key = f"set of {title}"
        return _editor("YAML", title, key, text, height=300)


def _editor(label: str, title: str, key: str, text: str, **options: Any) -> str:
    """Show an editor and return its text. It begins with the text that the user typed last, in
    this tab or another."""
    text_now = as_edited((belongings.value(_DRAFTS + title) or {}).get(key, text))
    place = widget_changes.place(key, text_now)
    on_change = widget_changes.of(place, _store_draft, title, key, shown=text_now)
    return st.text_area(label, text_now, key=place, on_change=on_change, **options) or ""


def _store_draft(text: str, title: str, key: str) -> None:
    belongings.change(_DRAFTS + title, lambda drafts: {**(drafts or {}), key: text})


def _take_set(upload: UploadedFile | None) -> None:
    """Add an uploaded file to the sets and choose it; a file that cannot be read is reported."""
    if upload:
        try:
            text = decode(upload.getvalue(), upload.name)
        except InputFault as fault:
            state.put(_FAULT, str(fault))
            return
        belongings.change(_OWN, lambda sets: {**(sets or {}), upload.name: text})
        _discard(upload.name)
        state.choose(_CHOSEN, upload.name)


def _take_brought() -> None:
    """Choose an imported set, or put an imported history before the messages of the next run."""
    if text := state.get("brought template set"):
        name = str(state.get("brought template name"))
        state.forget("brought template set")
        belongings.change(_OWN, lambda sets: {**(sets or {}), name: text})
        _discard(name)
        state.choose(_CHOSEN, name)
    if history := state.get("brought template history"):
        state.forget("brought template history")
        title = str(state.get(_CHOSEN) or next(iter(paths.sample_templates())))
        _store_draft(str(history), title, _HISTORY_OF + title)


def _reset_buttons(title: str, is_own: bool) -> None:
    """Show buttons that discard the edits of a set, and that forget an uploaded set."""
    with st.container(horizontal=True):
        if belongings.value(_DRAFTS + title):
            st.button("Discard the edits of this set", on_click=_discard, args=(title,))
        if is_own:
            st.button("Remove this set", on_click=_forget_set, args=(title,))


def _discard(title: str) -> None:
    belongings.keep(_DRAFTS + title, None)


def _forget_set(title: str) -> None:
    _discard(title)
    remaining = {
        name: text for name, text in (belongings.value(_OWN) or {}).items() if name != title
    }
    belongings.keep(_OWN, remaining or None)
    state.forget(_CHOSEN)


def _texts(
    title: str, files: TemplateFiles, is_scripted: bool
) -> tuple[dict[str, str], int | None]:
    """Show editors of a run's data, at first the sample's; return the texts and the limit."""
    tools = ",\n".join(tool_text(tool) for tool in files.tools)
    texts = {
        "input": json.dumps(files.input, ensure_ascii=False, indent=1),
        "answers": json.dumps(files.answers, ensure_ascii=False, indent=1),
        "functions": json.dumps(files.functions, ensure_ascii=False, indent=1),
        "tools": f"[{tools}]",
        "history": "[]",
        "defaults": "{}",
    }
    labels = {
        "input": "Input",
        "answers": "Answers, one for each request",
        "functions": "Results by function",
        "tools": "Functions, as tools of any form",
        "history": "History: the messages before this run",
        "defaults": "Parameters of requests without a default-request",
    }
    is_brought = _HISTORY_OF + title in (belongings.value(_DRAFTS + title) or {})
    label = "Input, answers, functions, history and limits"
    with st.expander(label, icon=":material/edit:", expanded=is_brought):
        left, right = st.columns(2)
        edited = {}
        for index, (field, text) in enumerate(texts.items()):
            with (left, right)[index % 2]:
                key = f"{field} of {title}"
                off = field == "answers" and not is_scripted
                edited[field] = _editor(labels[field], title, key, text, height=160, disabled=off)
        limit = st.number_input(
            "Most characters of a context",
            min_value=1,
            value=None,
            step=1000,
            key=f"limit of {title}",
            placeholder="the model's own limit",
            width=260,
        )
    return edited, int(limit) if limit else None


def current_run(values: Settings) -> TemplateRun | None:
    """Return the run with these settings, or None if the user has not started one.

    With scripted answers the run starts at once; a model is asked when the user presses Run. Raises
    PlaygroundError for data that cannot be read.
    """
    if not values.live:
        answers: list[Any] = json_of(values.texts["answers"] or "[]", "answers", list)
        return TemplateRun().run(*_arguments(values, Answers(answers)), **_options(values))
    label = f"{values.name}, {values.template}"
    run = _runs().get(state.run_id(f"{_RUN} {label}"))
    busy = run is not None and run.under_way
    if st.button("Run", icon=":material/send:", key="run template", disabled=busy, type="primary"):
        is_open = waiting.tab_watch()
        recorded = RecordedAnswers(values.model, values.base_url, alive=is_open)
        run = TemplateRun(answers=recorded)
        run.start(*_arguments(values, recorded), **_options(values))
        previous = state.run_id(f"{_RUN} {label}")
        state.set_run_id(_runs().add(run, is_open, previous), f"{_RUN} {label}")
        st.rerun()  # so that the button is disabled
    st.text("Keys are read from the environment of this machine and never stored.")
    return run


def _arguments(values: Settings, answers: Any) -> tuple[Any, ...]:
    return values.templates, json_of(values.texts["input"] or "{}", "input", dict), answers


def _options(values: Settings) -> dict[str, Any]:
    tools = values.texts["tools"].strip()
    empty = tools in ("", "[]")
    return {
        "template": values.template,
        "tools": [] if empty else read_tool_file(tools.encode(), "functions").tools,
        "call": json_of(values.texts["functions"] or "{}", "results", dict),
        "model": values.model,
        "history": json_of(values.texts["history"] or "[]", "history", list),
        "defaults": json_of(values.texts["defaults"] or "{}", "defaults", dict),
        "most_characters": values.limit,
    }


def steps_so_far(run: TemplateRun) -> int | None:
    """Return the number of steps so far of a run that is under way, or None if it has ended."""
    return len(run.steps) if run.under_way else None


def watch(run: TemplateRun, seen: int) -> None:
    """Follow a live run: draw the page again after each step and at the end."""
    st.button("Stop", icon=":material/stop:", on_click=run.stop, key="stop template")
    progress = f"{seen} steps so far. {waiting.LOADING}"
    status = say.status(progress, state="running")
    waiting.until(
        lambda: not run.under_way or len(run.steps) != seen, lambda: status.update(label=progress)
    )
    st.rerun()


def steps(run: TemplateRun) -> None:
    """Show all steps in a table, and one of them in detail."""
    if not run.steps:
        return
    steps = list(run.steps)
    tables.table(drawings.template_steps(steps), height="content")
    state.keep_within(_SHOWN_STEP, len(steps))
    number = st.number_input(
        "Step", 1, len(steps), key=_SHOWN_STEP, help="Its source, text, variables and request."
    )
    step = steps[int(number) - 1]
    if step.sent is not None:
        live = run.answers is not None
        form = "as LiteLLM got it" if live else "in OpenAI's older form, with functions"
        say.text(f"The request, {form}")
        widgets.json_text("request", step.sent.body(modern=live), "sent")
        return
    if not step.source:
        widgets.exact_text(step.what.capitalize(), step_text(step), False)
        return
    left, right = st.columns(2)
    with left:
        widgets.exact_text("Source", step.source, False)
    with right:
        widgets.exact_text("Text", step_text(step), False)
    tables.table(drawings.variables(step), height="content")


def results(values: Settings, run: TemplateRun) -> None:
    """Show the run's findings and history, and let the user open or save a request."""
    requests = [step.sent for step in run.steps if step.sent is not None]
    if not requests or run.under_way:
        return
    recordings = tuple(run.answers.recordings) if run.answers else ()
    if run.outcome:
        widgets.show_findings(run.outcome.findings, "about what was sent")
        # The history is drawn only when opened, because a long one takes the browser seconds.
        with st.expander("The new history", key="new history", on_change="rerun") as history:
            if history.open:
                widgets.json_text("history", run.outcome.history, "history")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.selectbox("Request", range(1, len(requests) + 1), index=len(requests) - 1)
        name = f"{values.name} {values.template}, request {number}"
        session = replace(requests[number - 1].session(name), recordings=recordings)
        st.button(
            "Use as the session",
            icon=":material/move_to_inbox:",
            key="open request",
            on_click=state.open_session,
            args=(name, session),
            help="Adds it to the list of sessions, on every page.",
        )
        if state.working_session().name == name:
            navigation.link("compare", "Open in Compare", session=say.option(name))
        say.download_button("Save", dump_session(session), f"{name}.json", key="save request")
