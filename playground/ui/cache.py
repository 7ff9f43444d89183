"""The Cache page's parts: own marks, what requests would cost and why, what is really sent."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, Final

import streamlit as st

from playground.caching.own_policies import OwnPolicy, policy_of_places
from playground.caching.policies import POLICIES, as_parts, get_policy
from playground.dialects import get_dialect
from playground.errors import InputFault
from playground.prompt_data import CacheDialect
from playground.questions.cache.headline import headline
from playground.questions.cache.placement import CachePlacement, place_cache
from playground.questions.cache.requests import sent_at
from playground.questions.cache.simulation import CacheSimulation, simulate_cache
from playground.questions.cache.simulation import cache_matrix as simulate_matrix
from playground.questions.cache.what_if import WhatIf
from playground.questions.cache.wire import CacheWire, cache_on_wire
from playground.sessions.session import Session
from playground.show import frames, payloads
from playground.ui import state
from playground.ui.shared import components, policies, waiting, what_ifs, widgets
from playground.ui.shared.components import Picture
from playground.ui.shared.kept import digest, kept

_AS_NOTED: Final = "as noted"
_APART: Final = {"0:20": 20.0, "4:30": 270.0, "5:30": 330.0, "one hour and more": 3_700.0}
_AS_FILE: Final = "as in the session"
_BY_MODEL: Final = "by model"
_FORMATS: Final = {"read share": "percent", "cost": "%.3f"}
_CLICKED: Final = "clicked"  # the policy that the user's clicks make
_MATRIX: Final = "cost matrix"
_CELLS: Final = "cost matrix cells"  # the names of its rows, and of its columns by their titles
_MARKS: Final = "marks widget"  # its key, which follows from the policy's own marks
PANES: Final = "cache panes"
_TITLES: Final = {"azad": "Azad (the default)", "none": "No marks", _CLICKED: "The marks you set"}


# what is computed


@kept(64)
def _placed(session: Session, dialect: str, policy: str, own: OwnPolicy | None) -> CachePlacement:
    return place_cache(session, dialect, own.policy() if own else policy)


def placement(session: Session, dialect: str, policy: str) -> CachePlacement:
    """Where a policy, ours or one of the user's own, puts its marks."""
    return _placed(session, dialect, policy, policies.find(policy))


@kept(16)
def formatted(session: Session, dialect: str) -> list[dict[str, Any]]:
    """The messages that a policy sees: before marks, and before the environment block."""
    bare = session.dynamic.model_copy(update={"dynamic_environment_details_block": ""})
    data = replace(session, dynamic=bare).prompt_data()
    return get_dialect(dialect).with_policy("none").render(data).messages


@kept(32, spinner="Simulating every policy …")
def simulations(
    session: Session, dialect: str, apart: float | None, what_if: WhatIf, own: list[OwnPolicy]
) -> Sequence[CacheSimulation]:
    """The session in a dialect under every policy, the user's own after ours."""
    every = [*POLICIES.values(), *(each.policy() for each in own)]
    return simulate_matrix(session, [dialect], every, seconds_apart=apart, what_if=what_if)


@kept(64)
def _simulated(
    session: Session,
    dialect: str,
    apart: float | None,
    what_if: WhatIf,
    policy: str,
    own: OwnPolicy | None,
) -> CacheSimulation:
    chosen = own.policy() if own else policy
    return simulate_cache(
        session, dialect=dialect, policy=chosen, seconds_apart=apart, what_if=what_if
    )


@kept(16)
def _on_wire(
    session: Session, dialect: str, policy: str, own: OwnPolicy | None
) -> Future[CacheWire]:
    chosen = own.policy() if own else policy
    return waiting.background().submit(cache_on_wire, session, dialect, chosen)


# what is chosen


@dataclass(frozen=True)
class Asked:
    """What the page is asked: a session in a dialect under a policy, sent so far apart, what if."""

    session: Session
    dialect: str
    policy: str
    apart: float | None
    what_if: WhatIf

    @property
    def placement(self) -> CachePlacement:
        return placement(self.session, self.dialect, self.policy)

    def simulated(self, policy: str = "") -> CacheSimulation:
        """Under the policy that is asked about, or another. Raises InputFault."""
        name = policy or self.policy
        given = (self.session, self.dialect, self.apart, self.what_if, name)
        return _simulated(*given, policies.find(name))


def asked(dialects: Sequence[str]) -> Asked:
    """The row of controls, the policy first: it decides about all that is below."""
    session = state.working_session().session
    names = [*POLICIES, *(own.name for own in policies.own() if own.name != _CLICKED)]
    choices = {**({_AS_NOTED: None} if _notes_times(session) else {}), **_APART}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        policy = st.selectbox(
            "Policy", names, key="policy", bind="query-params", format_func=_title, width=260
        )
        apart = st.selectbox(
            "Between requests", list(choices), key="apart", bind="query-params", width=180
        )
        dialect = widgets.drawn_dialect(dialects)
    with st.expander("Options: settings, what if, a policy of your own", key="what-if"):
        session = with_cache_settings(session)
        what_if = what_ifs.choose(session.task.model_name)
    return Asked(session, dialect, policy or names[0], choices[apart or "0:20"], what_if)


def _title(policy: str) -> str:
    return _TITLES.get(policy, policy)


def with_cache_settings(session: Session) -> Session:
    """The session under the page's cache settings; unless chosen, those of its file."""
    with st.container(horizontal=True):
        wanted = _setting("Cache dialect", "cache-dialect", [_BY_MODEL, *CacheDialect])
        explicit = _setting("Explicit caching (Gemini)", "explicit-caching", ["on", "off"])
        environment = _setting("Environment block", "environment", ["off"])
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


def _setting(label: str, key: str, options: list[str]) -> str:
    """The chosen option; "" where the session's file decides."""
    chosen = st.selectbox(label, [_AS_FILE, *options], key=key, bind="query-params", width=200)
    return "" if chosen in (None, _AS_FILE) else str(chosen)


def own_marks(given: Asked) -> Asked:
    """Marks to set and to clear; what differs from the policy is one of the user's own, and is
    what the page is about then."""
    session, dialect = given.session, given.dialect
    messages = formatted(session, dialect)
    places = {
        f"message {number} part {part} · {message['role']}": (number, part)
        for number, message in enumerate(messages)
        for part in range(len(as_parts(message.get("content"))))
    }
    marked = sorted((part.message, part.part) for part in given.placement.marks)
    # Other marks are another widget: one that is kept would ignore a new default.
    key = f"marks of {digest(session).hex()} {dialect} {marked}"
    state.hold(_MARKS, [key, {f"part:{m}.{p}": label for label, (m, p) in places.items()}])
    chosen = st.multiselect(
        "Marks",
        list(places),
        default=[label for label, place in places.items() if place in marked],
        key=key,
        help="Remove marks or add some: a policy that places them so is compared too.",
    )
    clicked = sorted(places[label] for label in chosen)
    if clicked == marked:
        policies.drop(_CLICKED)
        return given
    own = policy_of_places(_CLICKED, messages, clicked)
    policies.keep(own)
    st.download_button("These marks as a policy file", own.dumps(), "policy.json")
    return replace(given, policy=_CLICKED)


def take_mark() -> None:
    """A drawn part was clicked: its mark is set, or cleared."""
    key, labels = state.held(_MARKS)
    label = labels.get(state.component_value(PANES, "mark"))
    if label is None:  # the environment block, which no policy sees
        return
    chosen = state.held(key) or []
    state.choose(
        key, [each for each in chosen if each != label] if label in chosen else [*chosen, label]
    )


_BOXES: Final = {
    "good": (st.success, ":material/check:"),
    "idle": (st.warning, ":material/info:"),
    "broken": (st.error, ":material/warning:"),
    "refused": (st.error, ":material/block:"),
}


def show_headline(given: Asked) -> None:
    """One sentence from the simulation, whose size and marks one line explains."""
    placed = given.placement
    try:
        verdict, text = headline(given.simulated())
    except InputFault as fault:
        st.text(str(fault))  # plain: a model's name may come from a file
        return
    box, icon = _BOXES[verdict]
    box(text.replace("$", "\\$"), icon=icon)
    own = policies.find(given.policy)
    source = own.source if own else get_policy(given.policy).source
    st.text(f"{_title(given.policy)}: {source}.\n{placed.thresholds}.")
    if placed.refusal:
        why = f"{placed.refusal.explanation} ({placed.refusal.reason})"
        st.text(f"Nothing is marked: {why}.")


# what it costs


def cache_costs(given: Asked, dialects: Sequence[str]) -> None:
    """A matrix, dialects by policies, and every request of the cell that the page is about."""
    own = policies.own()
    try:
        cells = [
            cell
            for name in dialects
            for cell in simulations(given.session, name, given.apart, given.what_if, own)
        ]
    except InputFault:
        return  # the headline has told it
    st.caption(
        f"Rules of {cells[0].provider}. Cost is that of all input as a share of its full price, "
        "the price without a cache. Nothing is sent."
    )
    _matrix(cells)
    cell = next(c for c in cells if (c.dialect, c.policy) == (given.dialect, given.policy))
    formats = {name: st.column_config.NumberColumn(format=form) for name, form in _FORMATS.items()}
    with st.expander("All figures"):
        st.dataframe(frames.cache_matrix(cells), hide_index=True, column_config=formats)
    _cell(cell)
    st.dataframe(frames.cache_requests(cell), hide_index=True, column_config=formats)


def _matrix(cells: Sequence[CacheSimulation]) -> None:
    """What each policy costs in each dialect; a click on a cell makes the page about that cell."""
    costs = frames.cost_matrix(cells)
    titles = {_title(policy): policy for policy in costs.columns}
    state.hold(_CELLS, [list(costs.index), titles])
    st.dataframe(
        costs.rename(columns=_title).style.format("{:.2f}", na_rep="refused").map(_by_cost),
        key=_MATRIX,
        height="content",
        selection_mode="single-cell",
        on_select=_take_cell,
    )


def _by_cost(cost: object) -> str:
    """Greener is cheaper; the full price has no colour, more than that is red."""
    if not isinstance(cost, float) or isnan(cost):  # refused
        return ""
    strength = min(abs(1 - cost), 0.9) * 0.45
    return f"background-color: rgba({'0, 158, 115' if cost < 1 else '213, 94, 0'}, {strength:.2f})"


def _take_cell() -> None:
    chosen = state.component_value(_MATRIX, "selection")
    dialects, policies = state.held(_CELLS)
    for row, title in (chosen or {}).get("cells", ())[:1]:
        policy = policies[title]
        state.choose("drawn", dialects[row])
        if policy != _CLICKED:  # which is no choice of its own
            state.choose("policy", policy)


def _cell(cell: CacheSimulation) -> None:
    """One dialect under one policy: its strip, what counts for it, what is wrong."""
    st.header(cell.dialect, divider="gray", anchor=False)
    for problem in cell.errors:
        st.error("The provider would refuse these requests:")
        st.text(problem)
    components.strip(Picture(payloads.strip(cell)), key="strip")
    st.text("\n".join(cell.origins))
    widgets.show_findings(cell.findings, "in these requests")
    if cell.rules:
        with st.expander(f"Rules: {cell.rules.title}"):
            st.dataframe(frames.rules(cell.rules), hide_index=True)


def _notes_times(session: Session) -> bool:
    """Whether the session says when its requests were sent."""
    replies = [i for i, message in enumerate(session.messages) if message.role == "assistant"]
    return bool(replies) and sent_at(session, replies) is not None


def what_is_sent(given: Asked) -> None:
    """The next request as LiteLLM's adapter would send it, and the marks that get lost."""
    own = policies.find(given.policy)
    future = _on_wire(given.session, given.dialect, given.policy, own)
    waiting.until_loaded(future.done)
    try:
        wire = future.result()
    except InputFault as fault:
        st.text(str(fault))
        return
    st.caption("As LiteLLM's own adapter writes it; nothing is sent.")
    if wire.findings:
        st.warning(f"Marks that get lost on the way: {len(wire.findings)}")
    widgets.show_findings(wire.findings, "on the way")
    st.dataframe(frames.wire(wire), hide_index=True)
    widgets.wire_calls(wire.calls)
