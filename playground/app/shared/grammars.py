"""Show the dialects' grammars on Guide and Compare, for the user to choose, read and copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from playground.app.shared import say, widgets
from playground.app.shared.memoized import memoized
from playground.dialects import get_dialect
from playground.nouns.tools import ToolMetadata
from playground.parsing.grammars import AUTO, FORMS, REQUIRED, Grammar

_MEANT: Final = {AUTO: "text or calls", REQUIRED: "calls, no text"}


@memoized(64)
def grammar(dialect: str, tools: tuple[ToolMetadata, ...], choice: str, thoughts: bool) -> Grammar:
    """Return a dialect's grammar for a session's tools."""
    return get_dialect(dialect).grammar(tools, choice, reasoning=thoughts)


def show(dialects: Sequence[str], tools: Sequence[ToolMetadata]) -> None:
    """Show each dialect's grammar in the format of one engine."""
    if not tools:
        st.info("This session has no tools: there is no call that a grammar could allow.")
        return
    form, choice, thoughts = _chosen(tools)
    for name in dialects:
        made = grammar(name, tuple(tools), choice, thoughts)
        if made.rules:
            widgets.exact_text(f"{name}, {form}", made.form(form), show_breaks=False)
        widgets.show_findings(made.findings, f"in the grammar of {name}")


def _chosen(tools: Sequence[ToolMetadata]) -> tuple[str, str, bool]:
    """Return the format, the tool choice, and True if a reply may begin with a thought."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        form = st.segmented_control(
            "Form", list(FORMS), default="lark", required=True, key="form", bind="query-params"
        )
        names = list(dict.fromkeys([AUTO, REQUIRED, *(tool.name for tool in tools)]))
        choice = st.selectbox(
            "The reply is",
            names,
            key="choice",
            bind="query-params",
            format_func=lambda name: _MEANT.get(name, say.shown(f"a call of {name}")),
            width=300,
        )
        thoughts = st.toggle("Thoughts", key="thoughts", bind="query-params")
    return form, choice, thoughts
