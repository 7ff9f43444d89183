"""The view Declare of the page Dialects: a declaration, and results for its dialect."""

from __future__ import annotations

import json
from typing import Any, Final
from zlib import crc32

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground.app import state
from playground.app.shared import (
    belongings,
    brought,
    components,
    say,
    tables,
    widget_changes,
    widgets,
)
from playground.app.shared.components import Picture
from playground.app.shared.memoized import memoized
from playground.base.errors import InputFault
from playground.base.wording import counted
from playground.dialects import dialect_names, get_dialect
from playground.dialects.declared import DeclaredDialect
from playground.dialects.files import parse_dialect, plain_dialect
from playground.dialects.prompts import sample_arguments
from playground.dialects.raw_prompts import ChatTemplate
from playground.dialects.reading import parse
from playground.nouns.tools import ToolMetadata
from playground.plugins.own_dialects import (
    declaration_fields,
    declaring,
    dialect_file,
    drawings,
    proposals,
)
from playground.plugins.own_dialects.declaring import DeclarationDraft
from playground.plugins.own_dialects.derivation import (
    ONLY_FORMS,
    DerivedDialect,
    Nearest,
    dialect_from_template,
    nearest_registered,
)
from playground.plugins.own_dialects.laws import LawChecks, check_dialect
from playground.questions.carry import CarryMatrix
from playground.questions.carry import carry as carry_values
from playground.sessions.session import Session
from playground.show import rows

_WAYS: Final = ("A dialect", "A chat template", "Replies")
_REPLY: Final = "own dialect reply"
_DERIVED: Final = "own dialect derived"


def show(row: Any) -> None:
    """Show a declaration at the left; at the right, show the calls, readings and laws of its
    dialect."""
    session = state.working_session().session
    begin()
    draft = declaring.draft()
    with row:
        way = start(draft)
    if way == _WAYS[1]:
        _show_derivation()
    elif way == _WAYS[2]:
        proposals.boxes()
    with st.container(key="own-head"):
        figures = st.container()  # at the top of the page, but filled last
    _show_once(declaring.FAULT, "That did not work; the declaration is unchanged.")
    left, right = st.columns([2, 3], gap="medium")
    with left:
        dialect_file.buttons(draft)
        declaration_fields.fields(draft)
    with right:
        st.header("A call", anchor=False)
        written = call(draft.dialect, session)
        components.verbatim(written, "the call", key="own call", height=200)
        st.header("What is read from a reply", anchor=False)
        show_reply(draft, session, written)
        st.header("System prompt", anchor=False)
        prompt_text = prompt(draft.dialect, session)
        components.verbatim(prompt_text, "the system prompt", key="own prompt", height=250)
        st.header("Grammar", anchor=False)
        show_grammar(draft.dialect, session)
        with figures:
            summary(draft.text, draft.dialect.name)
        st.header("Round-trip checks", anchor=False)
        show_laws(draft.text)
        st.header("Difficult values", anchor=False)
        show_values(draft.text, draft.dialect.name)
        nearest(draft.text)


# ways to start


def begin() -> None:
    """Start from the choice of another page, if there is one: a dialect, its file, or the chat
    template that was uploaded last. Call this before anything is drawn."""
    kind, name, data = state.get(state.DECLARE_FROM) or ("", "", b"")
    state.forget(state.DECLARE_FROM)
    if kind == "dialect":
        declaring.start_from(name)
    elif kind == "file":
        declaring.take(plain_dialect(parse_dialect(data, name)))
    elif kind == "template":
        _from_template()


def start(draft: DeclarationDraft) -> str:
    """Show the three ways to start a declaration, and the button that undoes the last start."""
    way = st.segmented_control(
        "Start from", _WAYS, default=_WAYS[0], required=True, key="start", bind="query-params"
    )
    if way == _WAYS[0]:
        st.selectbox("Dialect", _declared(), key="started dialect", width=260)
        st.button("Start from it", on_click=_from_dialect)
    elif way == _WAYS[1]:
        _template_choice()
    if draft.before is not None:
        label = "Back to what was here"
        say.button(label, icon=":material/undo:", on_click=declaring.take_back)
    return str(way)


def _declared() -> list[str]:
    """Return the dialects that are plain declarations, because only these fit into a file."""
    return [name for name in dialect_names() if type(get_dialect(name)) is DeclaredDialect]


def _from_dialect() -> None:
    declaring.start_from(str(state.get("started dialect")))


def _template_choice() -> None:
    types, key = ["jinja", "jinja2", "json", "txt"], "own template"
    st.file_uploader(
        "Chat template", type=types, key=key, on_change=widget_changes.of(key, _take_template)
    )
    if template := brought.kept_template():
        say.button(f"Derive from {template[0]}", key="from template", on_click=_from_template)


def _show_derivation() -> None:
    """Show how the derived dialect, if there is one, compares with its chat template."""
    if template := state.get(_DERIVED):
        dialect = derived(*template)
        proof = dialect.derivation.proof
        say.text(
            f"{template[0]}: {proof.read} of {len(proof.trials)} calls of the template "
            f"are read back, {proof.written} written byte for byte. {ONLY_FORMS}"
        )
        if turn := dialect.derivation.result_turn:
            say.text(f"Results are sent unmarked; the chat template writes each as {turn!r}")
        widgets.show_findings(dialect.findings(), "in the comparison with the template")


def _take_template(file: UploadedFile | None) -> None:
    if file:
        brought.keep_template(file.name, file.getvalue().decode("utf-8", "replace"))
        _from_template()


def _from_template() -> None:
    """Replace the declaration by one derived from the chat template that was uploaded last."""
    state.forget(_DERIVED)
    if template := brought.kept_template():
        try:
            declaring.take(plain_dialect(derived(*template)))
        except InputFault as fault:
            state.put(declaring.FAULT, str(fault))
        else:
            state.put(_DERIVED, list(template))


@memoized(16, spinner="Rendering the template …")
def derived(name: str, text: str) -> DerivedDialect:
    """Derive a dialect from a template, and prove it. Raises InputFault if that fails."""
    return dialect_from_template(ChatTemplate.loads(text, name))


def _show_once(key: str, words: str) -> None:
    if fault := state.get(key):
        say.error(words)
        say.text(str(fault))
        state.forget(key)


# results


def call(dialect: DeclaredDialect, session: Session) -> str:
    """Return calls as the dialect writes them: the calls of the first message that has any, or else
    an example call of the session's first tool."""
    for message in session.messages:
        if message.tool_calls:
            return dialect.format_reply(message.tool_calls, session.tools)
    tool = session.tools[0] if session.tools else _TIDES
    return dialect.format_example(tool.name, sample_arguments(tool), tool)


_TIDES: Final = ToolMetadata(name="get_tides", parameters={"port": "The harbour."})


def show_reply(draft: DeclarationDraft, session: Session, written: str) -> None:
    """Show a box for a reply, at first with a call that the dialect wrote, and the events that the
    dialect reads from it."""
    typed = belongings.value(belongings.of_this_browser(_REPLY))
    # a key for each call, because with the same key the box would still show the earlier call
    key = "own reply" if typed else f"own reply {crc32(written.encode())}"
    text = st.text_area(
        "A reply",
        typed or written,
        height=130,
        key=key,
        on_change=widget_changes.of(key, _take_reply, shown=typed or written),
    )
    result = parse(text or "", draft.dialect, session.tools)
    for read in result.tool_calls:
        say.text(f"{read.name} {json.dumps(read.arguments, ensure_ascii=False)}")
    aborted = f", {len(result.aborted)} aborted" if result.aborted else ""
    left = counted(len(result.content.strip()), "character")
    say.text(f"{counted(len(result.tool_calls), 'call')}{aborted}, {left} left as text.")
    tables.table(rows.events(result.events), height=250)
    widgets.show_findings(result.findings, "in the reply")


def _take_reply(text: str) -> None:
    belongings.keep(belongings.of_this_browser(_REPLY), text or None)


def summary(text: str, name: str) -> None:
    """Show two figures: the number of laws that hold, and of difficult values that are read
    back."""
    checks, matrix = laws(text), values(text)
    data = drawings.declared_head(name, checks, matrix)
    components.board(Picture(data), key="own figures")


def show_laws(text: str) -> None:
    """Show that each law holds for 50 random examples, or the smallest example against it."""
    checks = laws(text)
    components.board(Picture(drawings.laws_board(checks)), key="own laws")
    for check in checks.broken:
        if check.broken:
            say.error(f"Law {check.law} is broken. The smallest example:")
            example = "\n".join(f"{label}:\n{shown}" for label, shown in check.broken.shown)
            components.verbatim(example, f"law {check.law}", key=f"own law {check.law}", height=300)


@memoized(32, spinner="Trying the laws …")
def laws(text: str) -> LawChecks:
    """Return the checks of the laws for a dialect's file."""
    return check_dialect(parse_dialect(text, "own"))


def show_values(text: str, name: str) -> None:
    """Show the difficult values that are not read back, or say that all are."""
    refused = values(text).refused(name)
    if not refused:
        st.text("All of them.")
    else:
        tables.table({"does not come back": refused}, height="content")


@memoized(32, spinner="Writing and reading back …")
def values(text: str) -> CarryMatrix:
    """Return the carry matrix of a dialect's file."""
    return carry_values([parse_dialect(text, "own")])


def nearest(text: str) -> None:
    """Show on request which of all registered dialects read this dialect's calls."""
    title = "Nearest registered dialects"
    with say.expander(title, key="nearest", on_change="rerun") as place:
        if place.open:
            _show_nearest(text)


def _show_nearest(text: str) -> None:
    dialects = near(text)
    if not dialects:
        st.text("No registered dialect reads this dialect's example calls.")
        return
    rows = [
        {
            "dialect": each.dialect,
            "reads": f"{each.reads} of 3",
            "writes alike": f"{each.writes} of 3",
            "differs in": ", ".join(each.differs) or "nothing",
        }
        for each in dialects
    ]
    tables.table(rows, height="content")


@memoized(32, spinner="Asking every dialect …")
def near(text: str) -> list[Nearest]:
    """Return the registered dialects that are nearest to the dialect in a file."""
    return nearest_registered(parse_dialect(text, "own"))


def prompt(dialect: DeclaredDialect, session: Session) -> str:
    """Return the system prompt of the session, as this dialect writes it."""
    content = dialect.format_system_prompt(session.prompt_data())["content"]
    return "".join(part["text"] for part in content)


def show_grammar(dialect: DeclaredDialect, session: Session) -> None:
    """Show the grammar, or why there is none, and where it differs from the tools' schemas."""
    grammar = dialect.grammar(session.tools)
    if grammar.gbnf:
        components.verbatim(grammar.gbnf, "the grammar", key="own grammar", height=250)
    widgets.show_findings(grammar.findings, "in the grammar, compared with the tools' schemas")
