"""Widgets that pages share. Text of a session is shown as text, never as Markdown or HTML."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import streamlit as st

from playground.counts import counted
from playground.dialects import DeclaredDialect, dialect_names, get_dialect
from playground.dialects.models import dialect_for
from playground.findings import Finding
from playground.parsing.switches import Switches
from playground.show import payloads
from playground.ui import state

if TYPE_CHECKING:
    from playground.llm.payloads import WireCall

_HIGHLIGHTED: Final = 20_000  # characters: beyond it, colouring freezes the page
_SWITCHES: Final = (
    ("calls_in_fences", "A call in a code fence is", ("text", "call")),
    ("calls_in_reasoning", "A call in open reasoning is", ("call", "reasoning")),
    ("text_after_calls", "Text after a call is", ("text", "finding")),
    ("broken_calls", "A broken call stands", ("apart", "text")),
    ("misfits", "A call without required arguments is", ("call", "text")),
    ("entities", "`&lt;` in a value is", ("text", "decoded")),
    ("typing", "Values are typed by", ("schema", "text")),
)


def show_findings(findings: Sequence[Finding], where: str) -> None:
    """A list of findings in an expander; nothing where there are none."""
    if not findings:
        return
    count = counted(len(findings), "finding")
    with st.expander(f"{count} {where}", icon=":material/report:"):
        rows = [
            {"severity": f.severity, "code": f.code, "where": f.where, "message": f.message}
            for f in findings
        ]
        st.dataframe(rows, hide_index=True)


def drawn_dialect(chosen: Sequence[str]) -> str:
    """The one of the chosen dialects whose messages are drawn."""
    drawn = st.segmented_control(
        "Shown dialect", chosen, default=chosen[0], required=True, key="drawn", bind="query-params"
    )
    return drawn if drawn in chosen else chosen[0]


def dialect_select(label: str, key: str, default: str = "") -> str:
    names = dialect_names()
    index = names.index(default) if default in names else 0
    return st.selectbox(label, names, index=index, key=key, bind="query-params") or names[index]


def model_dialect() -> str:
    """The dialect that the session's model writes by itself, or the nearest to it."""
    return dialect_for(state.working_session().session.task.model_name).usable


def exact_text(label: str, text: str, arrows: bool) -> None:
    """A text as it is, with a button to copy it; `arrows` show its line breaks.

    One cannot see line breaks at a text's edges: the caption counts them.
    """
    edges = len(text) - len(text.strip("\n"))
    breaks = counted(edges, "line break")
    hidden = f", {breaks} at its edges among them" if edges else ""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text(f"{label}: {len(text):,} characters{hidden}")  # a file's name is no Markdown
        key = f"save {label} {zlib.crc32(text.encode())}"
        st.download_button(
            "Save", text, f"{label}.txt", key=key, icon=":material/download:", width="content"
        )
    if arrows:
        st.text(text.replace("\n", "↵\n"))  # which cannot be copied: ↵ is no part of the text
    else:
        st.code(f"\n{text}\n", language=None, wrap_lines=True)  # it drops a break at each edge


def message_page(messages: int) -> int:
    """The page, from 1, of so many messages."""
    pages = payloads.page_count(messages)
    if pages == 1:
        return 1
    return st.pagination(pages, key="page", bind="query-params")


def wire_calls(calls: Sequence[WireCall]) -> None:
    """HTTP requests as they would be sent, whole."""
    for call in calls:
        st.text(f"{call.method} {call.url}")
        if call.body:
            json_text(call.body)


def json_text(value: object) -> None:
    """A value as JSON; what is long is not coloured, which would freeze the page."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    language = "json" if len(text) < _HIGHLIGHTED else None
    st.code(text, language=language, wrap_lines=True, height=400)


def reading_switches(dialect: str) -> Switches:
    """What servers decide differently: the dialect's own decision first, each may be changed."""
    declared = get_dialect(dialect)
    own = declared.switches if isinstance(declared, DeclaredDialect) else Switches()
    chosen: dict[str, str] = {}
    with st.expander("How the reply is read", icon=":material/tune:"):
        columns = st.columns(3)
        for index, (field, label, options) in enumerate(_SWITCHES):
            default = getattr(own, field)
            listed = [default, *(option for option in options if option != default)]
            with columns[index % 3]:
                picked = st.selectbox(label, listed, key=f"{field}-{dialect}", bind="query-params")
            chosen[field] = picked or default
    return replace(own, **chosen)  # type: ignore[arg-type]
