"""The Raw prompt page's parts: whose format writes the prompt, and the prompt itself."""

from __future__ import annotations

from typing import Final, get_args

import streamlit as st

from playground.questions.raw_prompt import RawPrompt
from playground.questions.raw_prompt import raw_prompt as raw_prompt_of
from playground.raw_prompts import ChatTemplate
from playground.raw_prompts.llama import ToolFormat
from playground.sessions.session import Session
from playground.ui.shared import brought
from playground.ui.shared.kept import kept

# What the page calls a format, and what the question calls it; "" is a template of the user's.
_FORMATS: Final = {"Llama 3": "llama3", "Llama 4": "llama4", "A chat template": ""}


def format_choice() -> str:
    """Meta's llama3 or llama4, or "" for a chat template."""
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
    """How custom tools are called by llama3 or llama4, the usual way of each first."""
    formats: tuple[ToolFormat, ...] = get_args(ToolFormat)
    return st.selectbox(
        "Custom tools are called as",
        formats,
        index=2 if name == "llama4" else 0,
        key=f"tool format {name}",
        width=260,
    )


def template_upload() -> tuple[str, str] | None:
    """A chat template, chosen here or brought: its name and text. It runs in a sandbox alone."""
    file = st.file_uploader("Chat template", type=["jinja", "jinja2", "json"], key="template")
    if file is None:
        return brought.kept_template()
    return file.name, file.getvalue().decode("utf-8", "replace")


@kept(16)
def by_format(session: Session, name: str, tool_format: ToolFormat | None = None) -> RawPrompt:
    """The session as Meta's own code writes it: llama3 or llama4."""
    return raw_prompt_of(session.prompt_data(), name, tool_format)


@kept(16)
def by_template(session: Session, name: str, text: str) -> RawPrompt:
    """The session as an uploaded template writes it. Raises InputFault, which names the file."""
    return raw_prompt_of(session.prompt_data(), ChatTemplate.loads(text, name))
