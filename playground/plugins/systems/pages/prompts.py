"""The view Prompts of the page Other formats: a prompt's variables, its forms, and tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

import streamlit as st

from playground.app import state
from playground.app.serving import access
from playground.app.shared import say, tables, waiting, widgets
from playground.app.shared.runs import Runs
from playground.base.errors import InputFault
from playground.plugins.systems import drawings
from playground.plugins.systems.flink_agents.chat_model import ChatModel
from playground.plugins.systems.flink_agents.chat_run import ChatRun, scripted, setup_of
from playground.plugins.systems.flink_agents.litellm_model import LiteLLMModel
from playground.plugins.systems.flink_agents.prompt import Prompt
from playground.plugins.systems.flink_agents.views import (
    PromptView,
    ToolView,
    read_prompts,
    view_prompt,
    view_tool,
)
from playground.sessions.documents import json_of

_FORMS_IN_A_ROW: Final = 2
_CHAT: Final = "chat"  # names this view in the ids of runs


def show(row: Any) -> None:
    """Show a prompt with variables in every form that is sent, and the session's tools."""
    del row
    left, right = st.columns(2)
    with left:
        template = st.text_area(
            "Prompt: a text, a JSON list of messages, or Flink-Agents prompts (in YAML or Python)",
            "You answer for the harbour of {port}. {question}",
            key="prompt template",
            height=110,
        )
    with right:
        values_text = st.text_area("Values", '{"port": "Brest"}', key="prompt values", height=110)
    values = read_values(values_text or "")
    if values is None:
        st.error("The values are not a JSON object.")
        st.stop()
    try:
        prompts = read_prompts(template or "")
        name = next(iter(prompts))
        if len(prompts) > 1:
            name = str(st.selectbox("Prompt to show", list(prompts), key="prompt of several"))
        view = view_prompt(prompts[name], values)
    except InputFault as fault:
        st.error("This prompt cannot be filled. Nothing was changed.")
        say.text(str(fault))
        st.stop()
    tables.table(drawings.prompt_variables(view, values), height="content")
    for index in view.lost_calls:
        say.warning(f"Message {index}: its tool calls do not reach Anthropic.")
    show_forms(view)
    chat = "Ask a chat model with this prompt"
    with say.expander(chat, key="prompt chat", on_change="rerun") as place:
        if place.open:
            show_chat(prompts[name], values)
    if tools := state.working_session().session.tools:
        title = "The session's tools, as Flink-Agents would send them"
        with say.expander(title, key="tool views", on_change="rerun") as place:
            if place.open:
                tool_views([view_tool(tool) for tool in tools])


def show_chat(prompt: Prompt, values: dict[str, Any]) -> None:
    """Show each event of a chat with the session's tools; answers are scripted, or a model's."""
    origins = ["Scripted", *(["A model's"] if access.current().may_run else [])]
    origin = st.segmented_control(
        "Answers", origins, default="Scripted", required=True, key="chat origin"
    )
    is_scripted = origin == "Scripted"
    left, right = st.columns(2)
    with left:
        question = st.text_input("Question", "When is high water?", key="chat question")
        results = st.text_area("Results by tool", "{}", key="chat results", height=120)
    with right:
        model = _scripted_answers() if is_scripted else _live_model()
    try:
        tools = state.working_session().session.tools
        results_by_tool = json_of(results or "{}", "results", dict)
        setup = setup_of(model(), prompt, tools, results_by_tool)
    except InputFault as fault:
        _refuse(str(fault))
        return
    arguments = setup, question or "", values
    run = ChatRun().run(*arguments) if is_scripted else _live_run(arguments)
    if run is None:
        return
    if run.fault:
        _refuse(run.fault)
    if run.rows:
        tables.table(list(run.rows), height="content")
    if run.under_way:
        _watch(run, len(run.rows))


def _refuse(problem: str) -> None:
    st.error("This chat cannot be run. Nothing was changed.")
    say.text(problem)


def _scripted_answers() -> Callable[[], ChatModel]:
    """Show the editor of scripted answers; return a function that makes a model of them."""
    answers = st.text_area(
        "Answers, a JSON list of texts or messages, in order",
        '["At 05:12."]',
        key="chat answers",
        height=200,
    )
    return lambda: scripted(json_of(answers or "[]", "answers", list))


def _live_model() -> Callable[[], ChatModel]:
    """Show the fields of a model that LiteLLM reaches; return a function that makes the model."""
    public = access.current().public
    name = st.text_input("Model", key="chat model", placeholder="openai/gpt-4o-mini")
    base_url = st.text_input(
        "Server", key="chat server", placeholder="the provider's own", disabled=public
    )
    st.text("Keys are read from the environment of this machine and never stored.")
    server = "" if public else base_url or ""  # a visitor must not choose the server

    def make_model() -> ChatModel:
        if not name:
            raise InputFault("no model is named", expected="a name as LiteLLM has it")
        return LiteLLMModel(name, server)

    return make_model


@st.cache_resource(show_spinner=False)
def _runs() -> Runs[ChatRun]:
    return Runs()


def _live_run(arguments: tuple[Any, ...]) -> ChatRun | None:
    """Return the chat that the user has started, if any; a press of the button starts a chat."""
    run = _runs().get(state.run_id(_CHAT))
    busy = run is not None and run.under_way
    if st.button("Run", icon=":material/send:", key="run chat", disabled=busy, type="primary"):
        is_open = waiting.tab_watch()
        run = ChatRun()
        run.start(*arguments)
        state.set_run_id(_runs().add(run, is_open, state.run_id(_CHAT)), _CHAT)
        st.rerun()  # so that the button is disabled
    return run


def _watch(run: ChatRun, seen: int) -> None:
    """Follow a live chat: draw the page again after each event and at the end."""
    st.button("Stop", icon=":material/stop:", on_click=run.stop, key="stop chat")
    progress = f"{seen} events so far. {waiting.LOADING}"
    status = say.status(progress, state="running")
    waiting.until(
        lambda: not run.under_way or len(run.rows) != seen, lambda: status.update(label=progress)
    )
    st.rerun()


def read_values(text: str) -> dict[str, Any] | None:
    """Read the variables' values; return None if the text is not a JSON object."""
    try:
        values = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def show_forms(view: PromptView) -> None:
    """Show the prompt in every form in which it is sent."""
    forms = list(view.forms().items())
    for start in range(0, len(forms), _FORMS_IN_A_ROW):
        row = forms[start : start + _FORMS_IN_A_ROW]
        for column, (name, text) in zip(st.columns(_FORMS_IN_A_ROW), row, strict=False):
            with column:
                widgets.exact_text(name, text, False)


def tool_views(views: Sequence[ToolView]) -> None:
    """Show each tool's schema next to the schema that Flink-Agents would build from it."""
    for view in views:
        say.text(view.name)
        if view.fault:
            say.text(view.fault)
        left, right = st.columns(2)
        with left:
            _schema("Kept as given", view.kept, view.name)
        with right:
            _schema("Rebuilt by Flink-Agents", view.rebuilt, view.name)


def _schema(label: str, schema: object | None, tool: str) -> None:
    say.caption(label)
    if schema is not None:
        widgets.json_text(label, schema, f"{label} {tool}", height=0)
