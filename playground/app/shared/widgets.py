"""Widgets that pages share. Text of a session is shown as text, never as Markdown or HTML."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

import streamlit as st

from playground.app import state
from playground.app.shared import components, say
from playground.base.findings import CODES, Finding
from playground.base.fixes import FIXES
from playground.base.wording import counted
from playground.dialects import DeclaredDialect, dialect_names, get_dialect
from playground.dialects.models import dialect_for
from playground.parsing.switches import Switches
from playground.show import payloads

if TYPE_CHECKING:
    from playground.llm.payloads import WireCall

_MOST_FINDINGS: Final = 40  # the most findings that are shown one by one
_MOST_PLACES: Final = 12
SWITCHES: Final = (
    ("calls_in_fences", "A call in a code fence is", ("text", "call")),
    ("calls_in_reasoning", "A call in reasoning is", ("unclosed", "call", "reasoning")),
    ("text_after_calls", "Text after a call is", ("text", "finding")),
    ("broken_calls", "The text of a broken call is", ("apart", "text")),
    ("misfits", "A call without required arguments is", ("call", "text")),
    ("entities", "`&lt;` in a value is", ("text", "decoded")),
    ("typing", "Values are typed by", ("schema", "text")),
)


def show_findings(findings: Sequence[Finding], where: str) -> None:
    """Show findings in an expander; draw nothing if there are none.

    Each finding has its code, its places, and its meaning or its remedy. Equal findings at several
    places are joined.
    """
    if not findings:
        return
    places: dict[tuple[str, str, str], list[str]] = {}
    for each in findings:
        places.setdefault((each.severity, each.code, each.message), []).append(each.where)
    count = counted(len(findings), "finding")
    with say.expander(f"{count} {where}", icon=":material/report:"):
        for (severity, code, message), found in islice(places.items(), _MOST_FINDINGS):
            # plain text, because a finding may quote a session
            say.text(f"{severity} · {code}\n{_listed(found)}\n{message}{_advice(code, message)}")
        if len(places) > _MOST_FINDINGS:
            say.text(f"… and {len(places) - _MOST_FINDINGS} other kinds")


def _listed(places: Sequence[str]) -> str:
    named = list(dict.fromkeys(filter(None, places)))
    more = f" and {len(named) - _MOST_PLACES} more places" if len(named) > _MOST_PLACES else ""
    return f"{', '.join(named[:_MOST_PLACES])}{more}"


def _advice(code: str, message: str) -> str:
    """Return a finding's meaning and remedy, unless its message already states them."""
    lines = (CODES[code].meaning if code in CODES else "", FIXES.get(code, ""))
    return "".join(f"\n{line}" for line in lines if line and line not in message)


def dialect_select(label: str, key: str, default: str = "") -> str:
    names = dialect_names()
    index = names.index(default) if default in names else 0
    return st.selectbox(label, names, index=index, key=key, bind="query-params") or names[index]


def model_dialect() -> str:
    """Return the name of the dialect that the session's model writes, or of the nearest one."""
    return dialect_for(state.working_session().session.task.model_name).usable


def exact_text(label: str, text: str, show_breaks: bool, of: str = "", height: int = 0) -> None:
    """Show a text unchanged, with a button that copies it; or with its line breaks as arrows. `of`
    distinguishes equal labels on one page. If `height` is not 0, a text that is higher than this
    many pixels scrolls. The caption counts the invisible line breaks at the text's edges."""
    edges = len(text) - len(text.strip("\n"))
    breaks = counted(edges, "line break")
    hidden = f", with {breaks} at its start or end" if edges else ""
    named = f"{of} {zlib.crc32(text.encode())}".strip()
    with st.container(horizontal=True, vertical_alignment="center"):
        # `label` may quote a file's name, which must not be read as Markdown
        say.text(f"{label}: {len(text):,} characters{hidden}")
        key = f"save {label} {named}"
        say.download_button(
            "Save", text, f"{label}.txt", key=key, icon=":material/download:", width="content"
        )
    if show_breaks:
        say.text(text.replace("\n", "↵\n"))  # without a copy button: ↵ does not belong to the text
    else:
        components.verbatim(text, label, key=f"text {label} {named}", height=height)


def message_page(messages: int) -> int:
    """Return the number of the chosen page of messages, from 1."""
    pages = payloads.page_count(messages)
    return 1 if pages == 1 else st.pagination(pages, key="page", bind="query-params")


def wire_calls(calls: Sequence[WireCall], of: str = "") -> None:
    """Show complete HTTP requests as they would be sent; `of` distinguishes lists on one page."""
    for number, call in enumerate(calls):
        say.text(f"{call.method} {call.url}")
        if call.body:
            json_text("body", call.body, f"body {number} {of}")


def json_text(label: str, value: object, key: str, height: int = 400) -> None:
    """Show a value as JSON."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    components.verbatim(text, label, key=f"json {key}", height=height)


def reading_switches(dialect: str) -> Switches:
    """Draw a choice for each switch that servers set differently, and return the switches.

    The first choice is the dialect's own.
    """
    declared = get_dialect(dialect)
    own = declared.switches if isinstance(declared, DeclaredDialect) else Switches()
    chosen: dict[str, str] = {}
    say.caption(f"How {dialect} is read")
    for field, label, options in SWITCHES:
        default = getattr(own, field)
        listed = [default, *(option for option in options if option != default)]
        named = f"{label} :small[`{field}`]"  # findings name the switch by its field
        picked = st.selectbox(named, listed, key=f"{field}-{dialect}", bind="query-params")
        chosen[field] = picked or default
    return replace(own, **chosen)  # type: ignore[arg-type]
