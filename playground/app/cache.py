"""The Cache page's parts: own marks, what requests would cost and why, what is really sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from math import isnan
from typing import Any, Final

import streamlit as st

from playground.app import state
from playground.app.shared import (
    as_sent,
    changes,
    components,
    own_marks,
    policies,
    say,
    tables,
    waiting,
    what_ifs,
    widgets,
)
from playground.app.shared.cache_asked import CLICKED, Asked, on_wire, placement, simulations, title
from playground.app.shared.components import Picture
from playground.base.errors import InputFault
from playground.base.wording import grouped
from playground.cache.answers.as_sent import notes_times
from playground.cache.answers.cells import CacheSimulation
from playground.cache.answers.headline import headline
from playground.cache.answers.requests import sent_at
from playground.cache.answers.what_if import WhatIf
from playground.cache.rules.age import aged
from playground.dialects.marks.policies import POLICIES, get_policy
from playground.nouns.prompt_data import CacheDialect
from playground.sessions.session import Session
from playground.show import frames, payloads
from playground.show.grid import grid

_AS_NOTED: Final = "as noted"
_APART: Final = {"0:20": 20.0, "4:30": 270.0, "5:30": 330.0, "one hour and more": 3_700.0}
_AS_FILE: Final = "as in the session"
_BY_MODEL: Final = "by model"
_SETTINGS: Final[dict[str, tuple[str, Sequence[str]]]] = {  # by the address's name for each
    "cache-dialect": ("Cache dialect", [_BY_MODEL, *CacheDialect]),
    "explicit-caching": ("Explicit caching (Gemini)", ["on", "off"]),
    "environment": ("Environment block", ["off"]),
}
_MATRIX: Final = "cost matrix"
_CELLS: Final = "cost matrix cells"  # the names of its rows, and of its columns by their titles
PANES: Final = "cache panes"
POLICY: Final = "policy"
_CHOSEN: Final = "policy of "  # + session's name: the one that was chosen for it last
_SEEN: Final = "session of the policy"


# what is chosen


def asked(dialects: Sequence[str]) -> Asked:
    """Return the row of controls, the policy first: it decides about all that is below."""
    working = state.working_session()
    session, own = working.session, (each.name for each in policies.own())
    names = [*POLICIES, *(name for name in own if name != CLICKED)]
    is_brought = any(not row.sub_agent for row in session.rows)
    if is_brought:
        names = [as_sent.NAME, *names]
    chosen = state.held(_CHOSEN + working.name)
    if is_brought and state.held(_SEEN) not in (None, working.name):
        # what was brought is seen first as it stands, whatever was looked at before it
        state.choose(POLICY, chosen if chosen in names else names[0])
    elif state.held(POLICY) is None and chosen in names and POLICY not in state.url_values():
        state.choose(POLICY, chosen)  # another page was looked at meanwhile
    state.hold(_SEEN, working.name)
    state.follow_url(POLICY, names)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        # not bound to the address, which would hold its title
        policy = st.selectbox("Policy", names, key=POLICY, format_func=title, width=260)
        state.tell_url(POLICY, policy, names[0])
        state.hold(_CHOSEN + working.name, policy)
        noted = _notes_times(session, is_sent=policy == as_sent.NAME)
        choices = {**({_AS_NOTED: None} if noted else {}), **_APART}
        apart = st.selectbox(
            "Between requests", list(choices), key="apart", bind="query-params", width=180
        )
        dialect = widgets.drawn_dialect(dialects)
    what_if = WhatIf()
    with st.expander(
        "Options: settings, what if, a policy of your own", key="what-if", on_change="rerun"
    ) as options:
        # a dozen widgets: not drawn while they are folded and none is set
        if options.open or state.url_values().keys() & {*_SETTINGS, *what_ifs.KEYS}:
            session = with_cache_settings(session)
            what_if = what_ifs.choose(session.task.model_name)
    return Asked(session, dialect, policy, choices[apart or "0:20"], what_if)


def with_cache_settings(session: Session) -> Session:
    """Return the session under the page's cache settings; unless chosen, those of its file."""
    with st.container(horizontal=True):
        wanted, explicit, environment = (
            _setting(key, label, options) for key, (label, options) in _SETTINGS.items()
        )
    update: dict[str, object] = {}
    if wanted:
        update["cache_dialect"] = None if wanted == _BY_MODEL else CacheDialect(wanted)
    if explicit:
        update["enable_explicit_caching"] = explicit == "on"
    if environment:
        update["dynamic_environment_details_block"] = ""
    if not update:
        return session
    return replace(session, dynamic=session.dynamic.model_copy(update=update))


def _setting(key: str, label: str, options: Sequence[str]) -> str:
    """Return the chosen option; "" where the session's file decides."""
    chosen = st.selectbox(label, [_AS_FILE, *options], key=key, bind="query-params", width=200)
    return "" if chosen in (None, _AS_FILE) else str(chosen)


def marks(given: Asked, dialects: Sequence[str]) -> Asked:
    """Show the marks in each dialect; with marks of the user's own, the page is about those."""
    if given.is_sent:
        as_sent.marks(given.session, bool(state.working_session().changes))
        return given
    left, right = st.columns([3, 2])
    with left:
        given = own_marks.choose(given)
    with right:
        placed = [placement(given.session, each, given.policy) for each in dialects]
        tables.table(
            frames.placements(placed),
            height="content",
        )
    return given


def drawn(given: Asked) -> None:
    """The request with its marks, to be set and cleared where a policy sets them."""
    if given.is_sent:
        as_sent.drawn(given.session, PANES)
        return
    picture = Picture({**grid([payloads.placement_pane(given.placement)]), "marks": True})
    components.panes(picture, key=PANES, on_mark=partial(own_marks.take_click, PANES))
    st.caption("A click on a part sets a mark there, or clears it.")


def table(given: Asked) -> None:
    """Every part, or every block of what was brought, with its mark."""
    if given.is_sent:
        as_sent.table(given.session)
    else:
        tables.table(frames.placement(given.placement))


_BOXES: Final = {
    "good": (st.success, ":material/check:"),
    "idle": (st.warning, ":material/info:"),
    "broken": (st.error, ":material/warning:"),
    "refused": (st.error, ":material/block:"),
}


def show_headline(given: Asked) -> None:
    """One sentence from the simulation, whose size and marks one line explains."""
    try:
        simulated = given.simulated()
    except InputFault as fault:
        say.text(str(fault))  # plain: a model's name may come from a file
        return
    verdict, text = headline(simulated)
    box, icon = _BOXES[verdict]
    box(text.replace("$", "\\$"), icon=icon)
    for problem in simulated.errors:
        say.text(f"Why: {problem}.")
    say.caption(_sizes(simulated))
    if given.is_sent:
        say.text(f"{as_sent.TITLE}: {as_sent.SOURCE}.\n{simulated.reach.line}.")
        return
    placed, own = given.placement, policies.find(given.policy)
    source = own.source if own else get_policy(given.policy).source
    say.text(f"{title(given.policy)}: {source}.\n{placed.thresholds}.")
    if placed.refusal:
        why = f"{placed.refusal.explanation} ({placed.refusal.reason})"
        say.text(f"Nothing is marked: {why}.")
    if placed.family == "gemini":
        components.gauge(placed.text_characters, placed.threshold, key="threshold")


def _sizes(simulated: CacheSimulation) -> str:
    """Say how a token is counted on this page, if other pages count otherwise."""
    if all(request.anchored for request in simulated.requests):
        return "Tokens are those that were billed."
    return (
        "Tokens on this page are estimates by kinds of characters, of every block as it is sent, "
        "its JSON included. Compare's *Counts* asks the model's tokenizer about the whole request."
    )


# what it costs


def cache_costs(given: Asked, dialects: Sequence[str]) -> None:
    """A matrix, dialects by policies, what was really paid above it, and every request of the cell
    that the page is about."""
    own = policies.own()
    try:
        cells = [
            cell
            for name in dialects
            for cell in simulations(given.session, name, given.apart, given.what_if, own)
        ]
    except InputFault:
        return  # the headline has told it
    say.caption(
        f"Rules of {cells[0].provider}. Cost is that of all input as a share of its full price, "
        "the price without a cache. Nothing is sent."
    )
    if cells[0].paid:
        say.text(f"{cells[0].paid} What stands in the table is predicted.")
    _matrix(cells)
    of_page = (given.dialect, given.policy)
    cell = next((c for c in cells if (c.dialect, c.policy) == of_page), None) or given.simulated()
    with st.expander("All figures", key="all figures", on_change="rerun") as figures:
        if figures.open:
            tables.table(frames.cache_matrix(cells))
    _cell(cell)
    tables.table(frames.cache_requests(cell))


def _matrix(cells: Sequence[CacheSimulation]) -> None:
    """Show each policy's cost in each dialect; a click on a cell makes the page about that cell."""
    costs = frames.cost_matrix(cells)
    titles = {title(policy): policy for policy in costs.columns}
    state.hold(_CELLS, [list(costs.index), titles])
    st.dataframe(
        costs.rename(columns=title)
        .style.format(partial(grouped, places=2), na_rep="refused")
        .map(_by_cost),
        key=_MATRIX,
        height="content",
        selection_mode="single-cell",
        on_select=changes.of(_MATRIX, _take_cell, field="selection"),
    )


def _by_cost(cost: object) -> str:
    """Greener is cheaper; the full price has no colour, more than that is red."""
    if not isinstance(cost, float) or isnan(cost):  # refused
        return ""
    strength = min(abs(1 - cost), 0.9) * 0.45
    return f"background-color: rgba({'0, 158, 115' if cost < 1 else '213, 94, 0'}, {strength:.2f})"


def _take_cell(chosen: Mapping[str, Any] | None) -> None:
    dialects, policies = state.held(_CELLS)
    for row, column in (chosen or {}).get("cells", ())[:1]:
        policy = policies[column]
        state.choose("drawn", dialects[row])
        if policy != CLICKED:  # which is no choice of its own
            state.choose(POLICY, policy)


def _cell(cell: CacheSimulation) -> None:
    """One dialect under one policy: its strip, what counts for it, what is wrong."""
    say.header(cell.dialect or as_sent.TITLE, divider="gray", anchor=False)
    components.strip(Picture(payloads.strip(cell)), key="strip")
    say.text("\n".join(aged(cell.origins, date.today())))
    widgets.show_findings(cell.findings, "in these requests")
    if cell.rules:
        with say.expander(f"Rules: {cell.rules.title}", key="rules", on_change="rerun") as rules:
            if rules.open:
                tables.table(frames.rules(cell.rules))


def _notes_times(session: Session, is_sent: bool) -> bool:
    """Return True if the session says when its requests were sent.

    They are those that were brought, or those of a transcript.
    """
    if is_sent:
        return notes_times(session)
    return bool(session.replies) and sent_at(session, session.replies) is not None


def what_is_sent(given: Asked) -> None:
    """The next request as LiteLLM's adapter would send it, and the marks that get lost."""
    if given.is_sent:
        as_sent.body(given.session)
        return
    own = policies.find(given.policy)
    future = on_wire(given.session, given.dialect, given.policy, own)
    waiting.until_loaded(future.done)
    try:
        wire = future.result()
    except InputFault as fault:
        say.text(str(fault))
        return
    st.caption("As LiteLLM's own adapter writes it; nothing is sent.")
    named = given.session.task.model_name
    if wire.model != named:
        say.text(f"{named} names no provider: shown is {wire.model}.")
    if wire.findings:
        say.warning(f"Marks that get lost on the way: {len(wire.findings)}")
    widgets.show_findings(wire.findings, "on the way")
    tables.table(frames.wire(wire))
    widgets.wire_calls(wire.calls)
