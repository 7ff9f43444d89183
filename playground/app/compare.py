"""The Compare page's parts: the columns, the counts, the schema facts that get lost, the diff."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from threading import Lock

import streamlit as st

from playground.app import state
from playground.app.navigation import VIEW
from playground.app.pages import page_entry, views
from playground.app.shared import (
    components,
    in_place,
    say,
    tables,
    waiting,
    widget_changes,
    widgets,
)
from playground.app.shared.components import Picture
from playground.app.shared.memoized import memoized
from playground.app.state import WorkingSession
from playground.base import paths
from playground.base.findings import Finding
from playground.dialects import Dialect
from playground.dialects.checking import check_tool_call
from playground.dialects.schema_losses import MOST_FACTS
from playground.nouns.messages import ToolCallPart
from playground.nouns.tool_formats.portability import schema_targets
from playground.nouns.tools import ToolMetadata
from playground.questions.comparison import Column, Comparison
from playground.questions.comparison import compare as compare_session
from playground.questions.tool_schemas import Portability, ToolCosts, tool_costs, tool_portability
from playground.sessions.loading import load_session
from playground.sessions.session import Session
from playground.show import exports, frames, payloads, rows
from playground.show.board import Figure
from playground.show.frames import with_tokens
from playground.show.grid import grid, with_row
from playground.show.heads import PENDING, heads
from playground.tokens.count import TokenCount

_MOMENT = 0.03  # seconds that the page waits for tokens before it is drawn without them
_DIFF = "diff"  # the address names the column that the others are compared with
_MOST_CHECKED = 20_000  # calls, each in one dialect
_checked: OrderedDict[tuple[int, ...], tuple[list[Finding], tuple[object, ...]]] = OrderedDict()
_lock = Lock()  # every browser session runs in a thread of its own
_SHORT = 60  # messages; findings of shorter sessions are computed at once
PANES = "compare panes"
VIEWS = ("As sent", "Counts", "Tools", "Grammar", "Lines")
PARTS = {entry.view: entry for entry in views(page_entry("compare"))[1:]}
_OLDER_VIEWS = {"Side by side": "As sent", "Difference": "Lines"}
COUNTING = f"Tokens are being counted. {waiting.LOADING}"


def prepare() -> None:
    """Load the tokenizer's vocabulary in advance: the first count of tokens needs it."""
    _tokens(load_session(next(iter(paths.samples().values()))), "xml").result()


# computing


@memoized(24)
def column(session: Session, dialect: str) -> Column:
    """Return a session in one dialect."""
    made = compare_session(session, [dialect]).columns[0]
    return replace(made, check_call=_check_call)


def _check_call(
    dialect: Dialect, call: ToolCallPart, tools: Sequence[ToolMetadata]
) -> list[Finding]:
    """Return the findings of `check_tool_call`, cached: after an edit, unchanged calls keep theirs.

    A cached entry's key is the identities of its call, tools and dialect. The entry holds these
    objects, so that Python gives their identities to no other object; the app never changes them.
    """
    objects = (dialect, call, *tools)
    key = tuple(map(id, objects))
    with _lock:
        if key in _checked:
            _checked.move_to_end(key)
            return _checked[key][0]
    findings = check_tool_call(dialect, call, tools)
    with _lock:
        _checked[key] = findings, objects
        if len(_checked) > _MOST_CHECKED:
            _checked.popitem(last=False)
    return findings


def comparison(session: Session, dialects: Sequence[str]) -> Comparison:
    """Return a session in several dialects; each column is cached separately."""
    return Comparison(session, [column(session, name) for name in dialects])


def side_by_side(working: WorkingSession, dialects: list[str], origin: str) -> bool:
    """Show the session in each dialect; a click on a block edits the block there. Return True if
    the figures in the panes' heads are complete."""
    opened = in_place.open_block(working, PANES)
    session = opened.session if opened else working.session
    drafted = opened is not None and opened.data["drafted"]
    head_figures = figures(comparison(session, dialects), drafted)
    against = state.url_values().get(_DIFF, "")
    components.panes(
        panes(session, dialects, opened.origin if opened else ""),
        selected=origin,
        figures=head_figures,
        editing=opened.data if opened else {},
        base=dialects.index(against) if against in dialects else -1,
        key=PANES,
        on_select=widget_changes.of(PANES, take_origin, field="origin"),
        on_asked=lambda: in_place.on_asked(working.name, PANES),
        on_diff=lambda: state.tell_url(_DIFF, state.component_value(PANES, _DIFF) or "", ""),
    )
    return drafted or not any(PENDING in figure for head in head_figures for figure in head)


def late_figures(compared: Comparison) -> None:
    """Send the panes' heads the tokens and findings that were not ready when the heads were drawn.
    Do this without a rerun, which would close a dialog. The user's next action ends the wait."""
    place = st.empty()
    futures = [_tokens(each.session, each.dialect.name) for each in compared.columns]
    waiting.until(lambda: all(future.done() for future in futures), lambda: place.text(""))
    for column in compared.columns:
        _ = column.findings  # compute the findings now, because they also take a while
    with place:
        components.figures(figures(compared), key="late figures")


@memoized(16)
def panes(session: Session, dialects: list[str], origin: str) -> Picture:
    """Return the session in each dialect, side by side, with a row for `origin`, if given."""
    columns = comparison(session, dialects).columns
    data = grid([payloads.comparison_pane(column) for column in columns])
    return Picture(with_row(data, origin, payloads.label_of(origin)) if origin else data)


@memoized(32)
def difference(session: Session, first: str, second: str, page: int) -> Picture:
    """Show how a page of messages differs between two dialects, line by line."""
    compared = comparison(session, [first, second])
    pages = payloads.page_count(len(session.messages))
    shown = payloads.page_origins(compared.columns, page, pages)
    return Picture({"lines": payloads.difference(compared.diff(first, second, shown))})


@memoized(256)
def _tokens(session: Session, dialect: str) -> Future[TokenCount]:
    counted = column(session, dialect)
    return waiting.background().submit(lambda: counted.tokens)


def token_count(session: Session, dialect: str) -> TokenCount | None:
    """Return the count, or None while it is being computed."""
    future = _tokens(session, dialect)
    return future.result() if future.done() else None


def token_counts(compared: Comparison) -> list[TokenCount | None]:
    """Return the count in each dialect; None while it is being computed."""
    return [token_count(each.session, each.dialect.name) for each in compared.columns]


def figures(compared: Comparison, drafted: bool = False) -> list[list[Figure]]:
    """Return the figures in each pane's head; for a draft, at first without tokens and findings.

    A count that is not ready within a moment is left to `late_figures`.
    """
    columns = compared.columns
    if drafted:
        return heads(columns, [None] * len(columns), [False] * len(columns))
    wait([_tokens(each.session, each.dialect.name) for each in columns], _MOMENT)
    is_checked = ["findings" in vars(each) or _is_short(each.session) for each in columns]
    return heads(columns, token_counts(compared), is_checked)


def _is_short(session: Session) -> bool:
    """Return True if a session is short enough to compute its findings at once."""
    return len(session.messages) <= _SHORT


# drawing


def view_select() -> str:
    """Return the chosen view. This module draws some views, other modules draw the others."""
    options = [*VIEWS, *PARTS]
    state.rename_in_address(VIEW, _OLDER_VIEWS | {view.lower(): view for view in options})
    chosen = st.selectbox(
        "View", options, key=VIEW, bind="query-params", label_visibility="collapsed", width=140
    )
    return str(chosen)


def origin_select(origins: list[str]) -> str:
    """Return the origin (tool, message or prompt part) that every pane shows; "" for none."""
    chosen = st.selectbox(
        "Jump to",
        origins,
        index=None,
        format_func=say.option,
        key="origin",
        bind="query-params",
        placeholder="Jump to",
        label_visibility="collapsed",
        width=170,
    )
    return chosen or ""


def take_origin(origin: str | None) -> None:
    """Choose the origin of a clicked block, in the list and in the URL."""
    state.choose("origin", origin or None)


def counts_table(compared: Comparison) -> None:
    """Show characters by kind, and tokens as soon as the background thread has counted them."""
    place = st.empty()
    frame = frames.frame(rows.comparison(compared))
    most = int(frame["characters"].max())
    bars = st.column_config.ProgressColumn(format=tables.WHOLE, min_value=0, max_value=most)

    def shown() -> bool:
        counts = token_counts(compared)
        tables.table(
            with_tokens(frame, counts),
            place,
            width="stretch",
            height="content",
            columns={"characters": bars},
        )
        return None not in counts

    waiting.until_loaded(shown, COUNTING)
    model = compared.session.task.model_name
    counted_first = token_count(compared.session, compared.columns[0].dialect.name)
    source = f": {counted_first.source}" if counted_first else ""
    say.text(f"Tokens of the whole request for {model}{source}.")
    for note in counted_first.notes if counted_first else ():
        say.text(f"Not exact: {note}.")


def schema_losses(compared: Comparison) -> None:
    """Show which facts of the tools' schemas each dialect's prompt has, and which it lacks."""
    if not compared.session.tools:
        st.info("This session has no tools.")
        return
    tables.table(frames.schema_losses(compared), height="content")
    say.caption(
        "The number of facts in the tools' schemas that the prompt states. Each fact was removed "
        "in turn: if the prompt stays the same, the dialect drops the fact. Only the first "
        f"{MOST_FACTS} facts of a tool are tried."
    )
    for column in compared.columns:
        dropped = rows.dropped_facts(column)
        if not dropped.cells:
            continue
        with say.expander(f"{column.dialect.name} drops {len(dropped.cells)}"):
            tables.table(dropped, height="content")
    _show_tools(compared.session, [column.dialect.name for column in compared.columns])


def take_along(compared: Comparison, name: str) -> None:
    """Show a dialect's complete request, to copy and to save exactly as it is sent."""
    chosen = [column.dialect.name for column in compared.columns]
    with st.popover(
        "Copy", icon=":material/content_copy:", key="take along", on_change="rerun"
    ) as place:
        if not place.open:
            return
        dialect = st.selectbox("Dialect", chosen, key="taken dialect")
        texts = exports.request_texts(compared.column(str(dialect)))
        form = st.segmented_control(
            "As", list(texts), default="JSON", required=True, key="taken as"
        )
        ending, text = texts[str(form)]
        say.download_button("Save", text, f"{name} {dialect}.{ending}", icon=":material/download:")
        components.verbatim(text, "request", key="taken text", height=300)


# tools


@memoized(16)
def _costs(session: Session, dialects: list[str]) -> Future[ToolCosts]:
    return waiting.background().submit(tool_costs, session, dialects=dialects)


@memoized(16)
def _portability(session: Session, targets: list[str]) -> Portability:
    return tool_portability(session, targets)


def _show_tools(session: Session, dialects: Sequence[str]) -> None:
    """Show two folded tables: tokens by tool, and what providers refuse, drop or change."""
    with st.expander("Tokens of each tool", key="tool tokens", on_change="rerun") as tokens:
        if tokens.open:
            _show_costs(session, dialects)
    with st.expander(
        "Which provider takes these schemas", key="tool portability", on_change="rerun"
    ) as takes:
        if takes.open:
            _show_portability(session)


def _show_costs(session: Session, dialects: Sequence[str]) -> None:
    future = _costs(session, list(dialects))
    waiting.until_loaded(future.done, f"Tokens are being counted. {waiting.LOADING}")
    answer = future.result()
    tables.table(frames.tool_costs(answer), height="content")
    exact = ", ".join(answer.exact) or "no model"
    say.caption(
        f"Exact for {exact}; estimates for the others. Dialects and smaller schemas are counted in "
        f"the tokens of {answer.models[0]}."
    )


def _show_portability(session: Session) -> None:
    titles = {name: target.title for name, target in schema_targets().items()}
    chosen = st.multiselect(
        "Provider",
        list(titles),
        default=list(titles),
        format_func=titles.__getitem__,
        key="targets",
        bind="query-params",
    )
    answer = _portability(session, chosen) if chosen else None
    if answer is None or not answer.findings:
        st.text("No chosen provider is known to refuse anything.")
    else:
        tables.table(rows.portability(answer))
        _schema_to_send(answer)


def _schema_to_send(answer: Portability) -> None:
    """Show the schema to send instead, for a chosen tool and target. The values of the select box
    are indexes, not names from the session."""
    rows = [row for row in answer.rows if row.findings]
    number = st.selectbox(
        "Write instead",
        range(len(rows)),
        format_func=lambda at: say.shown(f"{rows[at].title}: {rows[at].tool}"),
        key=f"instead {len(rows)}",
    )
    widgets.json_text("schema", rows[number or 0].schema, f"instead {number}")
