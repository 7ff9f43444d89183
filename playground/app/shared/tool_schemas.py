"""The Tools view of the Compare page: tokens of each tool, and which providers take its schema."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

import streamlit as st

from playground.app.shared import say, tables, waiting, widgets
from playground.app.shared.memoized import memoized
from playground.nouns.tool_formats.portability import schema_targets
from playground.questions.tool_schemas import Portability, ToolCosts, tool_costs, tool_portability
from playground.sessions.session import Session
from playground.show import frames, rows


@memoized(16)
def _costs(session: Session, dialects: list[str]) -> Future[ToolCosts]:
    return waiting.background().submit(tool_costs, session, dialects=dialects)


@memoized(16)
def _portability(session: Session, targets: list[str]) -> Portability:
    return tool_portability(session, targets)


def show(session: Session, dialects: Sequence[str]) -> None:
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
