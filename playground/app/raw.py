"""The view Raw prompt of the page Compare: a choice of formats, and the prompt in one of them."""

from __future__ import annotations

from typing import Any, Final, get_args

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground.app import state
from playground.app.shared import brought, say, widget_changes, widgets
from playground.app.shared.memoized import memoized
from playground.base.errors import InputFault
from playground.base.registry import addition
from playground.dialects.raw_prompts import ChatTemplate
from playground.dialects.raw_prompts.llama import ToolFormat
from playground.questions.raw_prompt import RawPrompt
from playground.questions.raw_prompt import raw_prompt as raw_prompt_of
from playground.sessions.session import Session

_UPLOAD: Final = "template"
# A format's title on the page -> its name in code; "" stands for a template of the user's.
_FORMATS: Final = {"Llama 3": "llama3", "Llama 4": "llama4", "A chat template": ""}


def show(row: Any) -> None:
    """Show the session as one text, by Meta's code or by a model's own chat template."""
    session = state.working_session().session
    with row:
        form = format_choice()
        tool_format = tool_format_choice(form) if form else None
        file = None if form else template_upload()
        show_audit = audit_view() if file else None
        show_breaks = st.toggle("Show line breaks", key="arrows", bind="query-params")
    if not form and file is None:
        st.info("Upload a .jinja file or a tokenizer_config.json: it is rendered in a sandbox.")
        st.stop()
    if file and show_audit:
        show_audit(*file)
        st.stop()
    try:
        prompt = by_template(session, *file) if file else by_format(session, form, tool_format)
    except InputFault as fault:
        st.error("The session cannot be written in this format. Nothing was changed.")
        say.text(str(fault))
        st.stop()
    widgets.show_findings(prompt.findings, "about the template")
    reader = prompt.dialect
    say.text(f"Replies are read by: {reader}." if reader else "No dialect reads such calls.")
    widgets.exact_text(f"The prompt by {prompt.format}", prompt.text, show_breaks)


def format_choice() -> str:
    """Return the chosen format: llama3, llama4, or "" for a chat template."""
    chosen = st.segmented_control(
        "Written by",
        list(_FORMATS),
        default="Llama 3",
        required=True,
        key="format",
        bind="query-params",
    )
    return _FORMATS[str(chosen)]


def tool_format_choice(name: str) -> ToolFormat | None:
    """Return the format of custom tools' calls in llama3 or llama4, by default the usual one."""
    formats: tuple[ToolFormat, ...] = get_args(ToolFormat)
    return st.selectbox(
        "Custom tools are called as",
        formats,
        index=2 if name == "llama4" else 0,
        key=f"tool format {name}",
        width=260,
    )


def template_upload() -> tuple[str, str] | None:
    """Return the name and text of the chat template that was uploaded here or imported last.

    A template runs only in a sandbox.
    """
    types = ["jinja", "jinja2", "json", "txt"]
    st.file_uploader(
        "Chat template",
        type=types,
        key=_UPLOAD,
        on_change=widget_changes.of(_UPLOAD, _take_template),
    )
    found = brought.kept_template()
    if found:
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            say.text(found[0], width="content")
            st.button("Remove", key="forget template", on_click=brought.forget_template)
    return found


def _take_template(file: UploadedFile | None) -> None:
    if file:
        brought.keep_template(file.name, file.getvalue().decode("utf-8", "replace"))


def audit_view() -> Any:
    """If the user chooses the audit, return the plugin's function that shows it; otherwise None."""
    show_audit, views = addition("raw prompt: audit"), ["The prompt", "Audit"]
    if show_audit is None:
        return None
    chosen = st.segmented_control(
        "Show", views, default=views[0], required=True, key="template view", bind="query-params"
    )
    return show_audit if chosen == views[1] else None


@memoized(16)
def by_format(session: Session, name: str, tool_format: ToolFormat | None = None) -> RawPrompt:
    """Return the session as Meta's own code for llama3 or llama4 writes it."""
    return raw_prompt_of(session.prompt_data(), name, tool_format)


@memoized(16)
def by_template(session: Session, name: str, text: str) -> RawPrompt:
    """Return the session as an uploaded template writes it. An InputFault names the file."""
    return raw_prompt_of(session.prompt_data(), ChatTemplate.loads(text, name))
