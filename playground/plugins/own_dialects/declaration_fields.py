"""Widgets for the fields of a dialect's declaration; a field's fault is shown under it."""

from __future__ import annotations

import json
from typing import Any, Final
from zlib import crc32

import streamlit as st

from playground.app import state
from playground.app.shared import say, widget_changes
from playground.base.errors import InputFault
from playground.base.wording import counted
from playground.dialects.declared import DeclaredDialect
from playground.dialects.files.fields import meaning
from playground.plugins.own_dialects import declaring
from playground.plugins.own_dialects.declaring import DeclarationDraft

_TEXTS: Final = (
    ("syntax.call", "A call"),
    ("syntax.param", "A parameter"),
    ("syntax.section", "Around all calls"),
    ("syntax.separator", "Between two calls"),
    ("result", "A tool's result"),
    ("rules", "Rules"),
)
_DEFAULTS: Final = {"syntax.separator": "\n", "result": DeclaredDialect.result}
_CHOICES: Final = (
    ("result_role", "Results travel as", ("user", "tool", "ipython")),
    ("tool_docs", "Tools are documented", ("described", "json-lines")),
    ("syntax.untyped", "A value without a schema is", ("text", "json")),
)
_FLAGS: Final = (
    ("parallel", "Several calls in a reply", True),
    ("opens_reasoning", "A reply begins inside reasoning", False),
    ("syntax.section_required", "No call outside of a section", False),
    ("syntax.one_call_a_section", "A section for each call", False),
    ("syntax.known_names", "Only known names are calls", False),
    ("syntax.line_start", "A call begins a line", False),
    ("syntax.reserved", "Markers are control tokens", False),
    ("syntax.cdata", "CDATA around a value is ignored", False),
)
_TWO_LINES: Final = 68  # height in pixels


def fields(draft: DeclarationDraft) -> None:
    """Show the fields of the declaration; a text field's fault is under it, others at the end."""
    _text_field(draft, "name", "Name", 0)
    for path, label in _TEXTS:
        _text_field(draft, path, label, 130 if path == "rules" else _TWO_LINES)
    _tags(draft)
    _lines(draft, "stops", "Stop tokens, one a line")
    with st.expander("More fields", key="more fields", on_change="rerun") as more:
        if more.open:
            _choices(draft)
    with st.expander("The whole file", key="whole file", on_change="rerun") as whole:
        if whole.open:
            _file(draft)
    text_fields = [path for path, _ in (*_TEXTS, ("name", ""))]
    if draft.fault and draft.fault.field not in text_fields:
        _show_fault(draft.fault)


def _text_field(draft: DeclarationDraft, path: str, label: str, height: int) -> None:
    shown = declaring.field(draft.document, path)
    text = _DEFAULTS.get(path, "") if shown is None else shown
    value = text if isinstance(text, str) else json.dumps(text)
    key = _key(draft, path)
    options: dict[str, Any] = {
        "key": key,
        "help": meaning(path),
        "on_change": widget_changes.of(key, _take_text, path, shown=value),
    }
    if height:
        st.text_area(label, value, height=height, **options)
    else:
        st.text_input(label, value, **options)
    if edges := len(value) - len(value.strip()):
        white = counted(edges, "character")
        breaks = f", {counted(lines, 'line break')} in all" if (lines := value.count("\n")) else ""
        say.caption(f"Not visible: {white} of white space at its start or end{breaks}")
    if draft.fault and draft.fault.field == path:
        _show_fault(draft.fault)


def _key(draft: DeclarationDraft, path: str) -> str:
    """Return a widget's key. Each document has its own widgets, so that their typed text is not
    mixed up."""
    return f"own {draft.number} {path}"


def _take_text(text: str, path: str) -> None:
    # the fields that stay in the document if their text is empty
    needed = path in ("name", "rules", "syntax.call", "result", "syntax.separator")
    declaring.set_field(path, text if text or needed else None)


def _show_fault(fault: InputFault) -> None:
    st.error("This cannot be read; the rest of the page uses the last readable version.")
    say.text(str(fault))


def _tags(draft: DeclarationDraft) -> None:
    """Show the first pair of reasoning tags. Further pairs can only be edited in the whole file."""
    tags = declaring.field(draft.document, "reasoning") or [{}]
    first = tags[0] if isinstance(tags, list) and isinstance(tags[0], dict) else {}
    with st.container(horizontal=True):
        for step, label in (("open", "Reasoning opens"), ("close", "Reasoning closes")):
            key = _key(draft, f"reasoning.{step}")
            help_text = meaning(f"reasoning.{step}")
            shown = str(first.get(step, ""))
            on_change = widget_changes.of(key, _take_tags, draft, shown=shown)
            st.text_input(label, shown, key=key, help=help_text, on_change=on_change)


def _take_tags(_: str, draft: DeclarationDraft) -> None:
    opened, closed = (
        str(state.get(_key(draft, f"reasoning.{step}")) or "") for step in ("open", "close")
    )
    rest = (declaring.field(declaring.draft().document, "reasoning") or [])[1:]
    first = [{"open": opened, "close": closed}] if opened else []
    declaring.set_field("reasoning", [*first, *rest] or None)


def _lines(draft: DeclarationDraft, path: str, label: str) -> None:
    items = declaring.field(draft.document, path) or []
    key = _key(draft, path)
    text = "\n".join(map(str, items))
    st.text_area(
        label,
        text,
        height=_TWO_LINES,
        key=key,
        help=meaning(path),
        on_change=widget_changes.of(key, _take_lines, path, shown=text),
    )


def _take_lines(text: str, path: str) -> None:
    declaring.set_field(path, text.split("\n") if text else None)


def _choices(draft: DeclarationDraft) -> None:
    for path, label, options in _CHOICES:
        key = _key(draft, path)
        value = declaring.field(draft.document, path)
        index = options.index(value) if value in options else 0
        on_change = widget_changes.of(key, _take, path, shown=options[index])
        st.selectbox(label, options, index, key=key, help=meaning(path), on_change=on_change)
    for path, label, default in _FLAGS:
        key = _key(draft, path)
        value = declaring.field(draft.document, path)
        on = value if isinstance(value, bool) else default
        on_change = widget_changes.of(key, _take, path, shown=on)
        say.toggle(label, on, key=key, help=meaning(path), on_change=on_change)


def _take(value: str | bool, path: str) -> None:
    declaring.set_field(path, value)


def _file(draft: DeclarationDraft) -> None:
    shown = json.dumps(draft.document, ensure_ascii=False, indent=1)
    key = f"own file {draft.number} {crc32(shown.encode())}"  # a new key if a field has changed
    on_change = widget_changes.of(key, _take_file, shown=shown)
    st.text_area("JSON", shown, height=300, key=key, on_change=on_change)


def _take_file(text: str) -> None:
    try:
        document = json.loads(text)
    except ValueError as error:
        state.put(declaring.FAULT, f"The whole file is not JSON: {error}")
        return
    if isinstance(document, dict):
        declaring.take(document, declaring.draft().seen)
