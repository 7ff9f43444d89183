"""The Cache page's parts: its controls, its views, the policies, and the request on the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from math import inf, isnan
from typing import Any, Final

import streamlit as st

from playground.app import navigation, state
from playground.app.shared import (
    as_sent,
    choosing,
    components,
    frame,
    own_marks,
    policies,
    say,
    tables,
    waiting,
    widget_changes,
    widgets,
)
from playground.app.shared.cache_asked import CacheQuestion, on_wire, placement, simulations
from playground.app.shared.components import Picture
from playground.app.shared.memoized import memoized
from playground.base.errors import InputFault
from playground.base.registry import addition
from playground.base.wording import percent
from playground.cache.answers.as_sent import has_all_times
from playground.cache.answers.cells import CacheSimulation
from playground.cache.answers.known_rules import known_rules
from playground.cache.answers.requests import billed_for, sent_at
from playground.cache.answers.what_if import ENVIRONMENTS, MOST_PARALLEL, WhatIf
from playground.cache.prefixes import size_between
from playground.cache.rules import Rules, rules_of
from playground.cache.rules.age import aged
from playground.dialects import Dialect, dialect_names, get_dialect
from playground.dialects.marks.policies import POLICIES
from playground.nouns.prompt_data import CacheDialect
from playground.questions.token_counts import count_tokens
from playground.sessions.session import Session
from playground.show import frames, policy_bars, rows, rule_rows
from playground.show.policy_bars import PricedPolicy, best_saving, cheaper_policy, title
from playground.show.rows import AnswerRows
from playground.show.strip import other_findings, strip
from playground.tokens.count import TokenCount

_AS_MARKED: Final = "as marked"
_WHAT_IFS: Final = ("if-environment", "if-ttl", "if-parallel", "if-shuffled", "if-clock")
_AS_NOTED: Final = "as noted"
_SECONDS_APART: Final = {
    "20 s": 20.0,
    "4 min 30 s": 270.0,
    "5 min 30 s": 330.0,
    "over an hour": 3_700.0,
}
_AS_FILE: Final = "as in the session"
_BY_MODEL: Final = "by model"
_SETTINGS: Final[dict[str, tuple[str, Sequence[str]]]] = {  # by the setting's name in the address
    "cache-dialect": ("Cache dialect", [_BY_MODEL, *CacheDialect]),
    "explicit-caching": ("Explicit caching (Gemini)", ["on", "off"]),
    "environment": ("Environment block", ["off"]),
}
_MOST_COUNTED: Final = 100_000  # more tokens take seconds to count
COMPACTION: Final = "Compaction"  # a view that the plugin for savings adds
VIEWS: Final = ("Strip", "Table", COMPACTION, "All policies", "Payload")
_OLDER_VIEWS: Final = {
    "On the messages": "Strip",
    "What it costs": "Strip",
    "If it were shorter": COMPACTION,
    "What is sent": "Payload",
}
_COMPACTION_VIEW: Final = "cache: Compaction"  # plugins add parts under this name and the next
_DEFERRED_TOOLS: Final = "cache: deferred tools"
_MATRIX: Final = "cost matrix"
_CELLS: Final = "cost matrix cells"  # the matrix's dialects, and its policies by title
_STRIP: Final = "strip"
_BARS: Final = "policies"
_HOUR: Final = "1h"
DIALECT: Final = "dialect"
POLICY: Final = "policy"
_LAST_SESSION: Final = "session of the policy"
_LAST_USUAL: Final = "policy of the dialect"


# controls


def draw_controls() -> tuple[CacheQuestion, str]:
    """Return the question that the row of controls asks, and the chosen view."""
    working = state.working_session()
    session = working.session
    with frame.toolbar():
        policy = _policy(working.name, session)
        is_sent = policy == as_sent.NAME
        dialect = "" if is_sent else _dialect()
        timed = bool(session.replies) and sent_at(session, session.replies) is not None
        noted = has_all_times(session) if is_sent else timed
        choices = {**({_AS_NOTED: None} if noted else {}), **_SECONDS_APART}
        apart = st.selectbox("Apart", list(choices), key="apart", bind="query-params", width=170)
        what_if = WhatIf()
        with st.popover("What if", key="what-if", on_change="rerun") as options:
            # a dozen widgets, drawn only if the popover is open or one of them is set
            if options.open or state.url_values().keys() & {*_SETTINGS, *_WHAT_IFS}:
                session = with_cache_settings(session)
                what_if = _choose_what_if(session.task.model_name)
        question = CacheQuestion(session, dialect, policy, choices[apart or "20 s"], what_if)
        if not is_sent:
            with st.popover("Marks", key="marks as a list"):
                question = own_marks.choose(working.name, question)
        with st.container(horizontal=True, key="right", width="content"):
            views = [view for view in VIEWS if view != COMPACTION or addition(_COMPACTION_VIEW)]
            return question, navigation.view_choice(views, _OLDER_VIEWS, key="shown")


def _policy(name: str, session: Session) -> str:
    """Return the chosen policy; `name` is the session's name."""
    usual = _chosen_dialect().marking_policy.name
    own = [each.name for each in policies.own_policies() if each.name != policy_bars.CLICKED]
    names = [*dict.fromkeys([usual, *POLICIES]), *own]
    is_imported = any(not row.sub_agent for row in session.rows)
    if is_imported:
        names = [as_sent.NAME, *names]
    elif session.agent.name in names:  # the transcript's agent has known marks
        names = [session.agent.name, *(each for each in names if each != session.agent.name)]
    is_known = is_imported or session.agent.name in names
    chosen = state.get(state.POLICY_OF + name)
    if is_known and state.get(_LAST_SESSION) not in (None, name):
        # show a newly chosen session first in the form in which it was sent
        state.choose(POLICY, chosen if chosen in names else names[0])
    elif state.get(POLICY) and state.get(POLICY) == state.get(_LAST_USUAL) != usual:
        state.choose(POLICY, names[0])  # the new dialect's usual marks replace the old one's
    elif state.get(POLICY) is None and chosen in names and POLICY not in state.url_values():
        state.choose(POLICY, chosen)  # another page was open, and this one has lost its choice
    state.put(_LAST_SESSION, name)
    state.put(_LAST_USUAL, usual)
    state.follow_url(POLICY, names)
    # not bound, because the address would then hold the title, not the name
    policy = st.selectbox("Policy", names, key=POLICY, format_func=title, width=270)
    state.tell_url(POLICY, policy, names[0])
    state.put(state.POLICY_OF + name, policy)
    return policy


def _chosen_dialect() -> Dialect:
    """Return the dialect that `_dialect` will return; the policy's widget is drawn before it."""
    chosen = state.get(DIALECT) or state.url_values().get(DIALECT)
    return get_dialect(chosen if chosen in dialect_names() else widgets.model_dialect())


def _dialect() -> str:
    """Return the dialect of the requests: the chosen dialect, or that of the session's model."""
    names, usual = dialect_names(), widgets.model_dialect()
    chosen = st.selectbox(
        "Dialect",
        names,
        index=None,
        key=DIALECT,
        bind="query-params",
        placeholder=say.shown(usual),
        width=200,
    )
    return chosen or usual


def with_cache_settings(session: Session) -> Session:
    """Return the session with the cache settings chosen on the page in place of its file's."""
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
    """Return the chosen option; "" if the session's file decides."""
    chosen = st.selectbox(label, [_AS_FILE, *options], key=key, bind="query-params", width=200)
    return "" if chosen in (None, _AS_FILE) else str(chosen)


# the answer


def show_strip(question: CacheQuestion) -> None:
    """Show the sentence, the figures, the strip with its movable marks, and the policies."""
    try:
        cell = question.simulated()
    except InputFault as fault:
        say.text(str(fault))  # shown as plain text: a model's name may come from a file
        return
    for problem in cell.errors:
        say.text(f"Refused by the provider: {problem}.")
    placed = question.placement if question.what_if.leaves_blocks_unchanged else None
    picture = strip(cell, placed)
    # The space that app.css keeps free for the strip depends on the number of findings.
    with st.container(key=f"findings {min(2, len(picture['findings']))}"):
        components.strip(
            Picture(picture),
            key=_STRIP,
            movable=not question.is_imported,
            on_mark=partial(own_marks.take_move, _STRIP),
        )
    _policies(question, cell)
    own = policies.find(question.policy)
    policy = own or POLICIES.get(question.policy) or _chosen_dialect().marking_policy
    source = as_sent.SOURCE if question.is_imported else policy.source
    say.caption(f"{title(question.policy)}: {source}. {_about_sizes(question, cell)}")
    if question.is_imported and state.working_session().changes:
        st.caption("The request is shown as it was imported: your edits are not in it.")
    if show_deferred_tools := addition(_DEFERRED_TOOLS):
        show_deferred_tools(question)
    _rules(cell)


def _about_sizes(question: CacheQuestion, cell: CacheSimulation) -> str:
    """Say how the strip's sizes were found, and how many tokens Compare counts."""
    billed = ", then scaled to the bills" if any(cell.billed) else ""
    text = f"The size of each block is estimated from its text{billed}."
    if not cell.requests or cell.requests[-1].total > _MOST_COUNTED:
        return text
    try:
        count = _counted(question.session, "" if question.is_imported else question.wire_dialect)
    except InputFault:
        return text
    low, high = count.range
    exact = "exactly" if low == high else size_between(low, inf if high is None else high)
    is_sent = question.is_imported
    counts = "Diff counts the last request as sent" if is_sent else "Compare counts the session"
    return (
        f"{text} {counts} as a whole, with the tokenizer of the model or of its family and the "
        f"tokens that the provider adds: {count.tokens:,} ({exact})."
    )


@memoized(8)
def _counted(session: Session, dialect: str) -> TokenCount:
    return count_tokens(session, dialect)


def _policies(question: CacheQuestion, cell: CacheSimulation) -> None:
    """Show the cost under each policy, also with marks for an hour if the provider has them. Each
    policy is simulated, and the cheapest comes first; the strip offers this policy at the first
    finding that the policy mends, or else below all findings. No policy is offered if a bill is the
    sum of several rounds on the server, because a simulated request has only one round."""
    own = policies.own_policies()
    every = simulations(
        question.session, question.wire_dialect, question.apart, question.what_if, own
    )
    found = [
        PricedPolicy(e.policy, title(e.policy), e) for e in every if e.policy != question.policy
    ]
    found.append(PricedPolicy(question.policy, title(question.policy), cell))
    lives = cell.rules.rules.get("ttls") if cell.rules else None
    if not (question.is_imported or question.what_if.ttl) and lives and _HOUR in lives.value:
        hour = replace(question, what_if=replace(question.what_if, ttl=_HOUR)).simulated()
        found.append(PricedPolicy(_HOUR, f"{title(question.policy)}, for an hour", hour))
    saving, best = best_saving(found, cell), cheaper_policy(found, cell)
    remedy = None
    if best and not _runs_on_server(question):
        remaining = {each.code for each in best.cell.findings}
        findings = other_findings(cell)  # bills' findings come before them
        places = enumerate(findings, -len(findings))
        mended = next((place for place, each in places if each.code not in remaining), None)
        remedy = {"key": best.key, "label": f"Switch policy: {saving}", "finding": mended}
    written = ", as a dialect writes the requests" if question.is_imported else ""
    components.policies(
        policy_bars.policy_bars(found, question.policy),
        f"predicted, in % of uncached{written}",
        key=_BARS,
        remedy=remedy,
        on_choose=_take_bar,
    )


def _runs_on_server(question: CacheQuestion) -> bool:
    """Return True if a bill of the session is the sum of several rounds."""
    is_imported = any(not row.sub_agent for row in question.session.rows)
    sent = as_sent.simulated(question.session, question.apart).billed if is_imported else ()
    return any(bill and bill.summed for bill in (*billed_for(question.session), *sent))


def _take_bar() -> None:
    """Apply the chosen policy, or marks that live for an hour."""
    chosen = state.component_value(_BARS, "chosen")
    if chosen == _HOUR:
        state.choose("if-ttl", _HOUR)
    elif chosen and chosen != policy_bars.CLICKED:
        state.choose(POLICY, chosen)


def _rules(cell: CacheSimulation) -> None:
    if cell.rules:
        label = f"Where the figures come from: {cell.rules.title}"
        with say.expander(label, key="rules", on_change="rerun") as rules:
            if rules.open:
                say.text("\n".join(aged(cell.origins, date.today())))
                tables.table(rule_rows.rules(cell.rules))


def show_table(question: CacheQuestion) -> None:
    """Show every request with its outcome, and every part or block with its mark."""
    try:
        cell = question.simulated()
    except InputFault as fault:
        say.text(str(fault))
        return
    requests, answers = read_by_people(cell)
    if answers is not None:
        tables.table(answers)
    tables.table(requests)
    if question.is_imported:
        as_sent.table(question.session)
    else:
        tables.table(rows.placement(question.placement))
    _rules(cell)


def read_by_people(cell: CacheSimulation) -> tuple[AnswerRows, AnswerRows | None]:
    """Return the table of requests. If the provider made statements about its cache, also return
    a table of these with the predictions and the bills; otherwise None."""
    found = rows.cache_requests(cell)
    if not any(cell.diagnoses):
        return found, None
    return found.without(*rows.WORDS), found.only("request", *rows.WORDS)


def show_compaction(question: CacheQuestion) -> None:
    """Show the savings of a shorter history, as drawn by the plugin that adds this view."""
    addition(_COMPACTION_VIEW)(question)


def show_every_policy(question: CacheQuestion) -> None:
    """Show a matrix of dialects by policies; a click on a cell applies its dialect and policy."""
    chosen = list(dict.fromkeys([*choosing.dialects(), question.wire_dialect]))
    own = policies.own_policies()
    try:
        cells = [
            cell
            for name in chosen
            for cell in simulations(question.session, name, question.apart, question.what_if, own)
        ]
    except InputFault as fault:
        say.text(str(fault))
        return
    say.caption(
        f"Rules of {cells[0].provider}. Cost: all input, as a share of its price without a cache. "
        "Predicted; nothing is sent."
    )
    if provider_words := cells[0].assumption:
        say.text(provider_words)
    _matrix(cells)
    listed = frames.frame(rows.cache_matrix(cells))
    tables.table(listed.assign(policy=listed["policy"].map(title)))
    placed = [placement(question.session, each, question.policy) for each in chosen]
    if not question.is_imported:
        tables.table(rows.placements(placed), height="content")


def _matrix(cells: Sequence[CacheSimulation]) -> None:
    """Show each policy's cost in each dialect; a click on a cell applies both."""
    costs = frames.cost_matrix(cells)
    titles = {title(policy): policy for policy in costs.columns}
    state.put(_CELLS, [list(costs.index), titles])
    st.dataframe(
        costs.rename(columns=title).style.format(_percent_of).map(_by_cost),
        key=_MATRIX,
        height="content",
        placeholder="refused",
        selection_mode="single-cell",
        on_select=widget_changes.of(_MATRIX, _take_cell, field="selection"),
    )


def _percent_of(cost: object) -> str:
    return percent(cost) if isinstance(cost, float) else ""


def _by_cost(cost: object) -> str:
    """Return a cell's colour: green below the full price, red above; "" if it was refused."""
    if not isinstance(cost, float) or isnan(cost):  # refused
        return ""
    strength = min(abs(1 - cost), 0.9) * 0.45
    return f"background-color: rgba({'0, 158, 115' if cost < 1 else '213, 94, 0'}, {strength:.2f})"


def _take_cell(chosen: Mapping[str, Any] | None) -> None:
    dialects, policies = state.get(_CELLS)
    for row, column in (chosen or {}).get("cells", ())[:1]:
        policy = policies[column]
        state.choose(DIALECT, dialects[row])
        if policy != policy_bars.CLICKED:  # this policy cannot be chosen in the list
            state.choose(POLICY, policy)


def what_is_sent(question: CacheQuestion) -> None:
    """Show the next request as LiteLLM's adapter would send it, and which marks it drops."""
    if question.is_imported:
        as_sent.body(question.session)
        return
    own = policies.find(question.policy)
    future = on_wire(question.session, question.dialect, question.policy, own)
    waiting.until_loaded(future.done)
    try:
        wire = future.result()
    except InputFault as fault:
        say.text(str(fault))
        return
    st.caption("Built by LiteLLM; not sent.")
    named = question.session.task.model_name
    if wire.model != named:
        say.text(f"{named} names no provider: {wire.model} is shown.")
    if wire.findings:
        say.warning(f"Marks that get lost on the way: {len(wire.findings)}")
    widgets.show_findings(wire.findings, "on the way")
    tables.table(rows.wire(wire))
    widgets.wire_calls(wire.calls)


# changes of requests, and policies of the user


@memoized(64)
def _rules_for(model: str) -> Rules:
    return known_rules("", model)


def _choose_what_if(model: str) -> WhatIf:
    """Draw the controls of a `WhatIf`, and return their values."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        environment = st.selectbox(
            "Environment block", ENVIRONMENTS, key="if-environment", bind="query-params"
        )
        ttl = st.selectbox(
            "Lifetime of marks", [_AS_MARKED, *_lifetimes(model)], key="if-ttl", bind="query-params"
        )
        parallel = st.number_input(
            "Rounds in a turn", 1, MOST_PARALLEL, key="if-parallel", bind="query-params"
        )
        shuffled = st.toggle("Shuffle the tools", key="if-shuffled", bind="query-params")
        clock = st.toggle("Put a clock in the system prompt", key="if-clock", bind="query-params")
    st.caption("If a block is put into a session that has none, it has about 1,500 characters.")
    _policy_upload()
    return WhatIf(
        environment=environment or "as it is",
        shuffled_tools=shuffled,
        timestamp=clock,
        ttl="" if ttl in (None, _AS_MARKED) else ttl,
        parallel=int(parallel),
    )


def _lifetimes(model: str) -> list[str]:
    """Return the lifetimes of a mark by the model's cache rules, or else by Anthropic's."""
    known = _rules_for(model)
    if known.match == "unknown":
        known = rules_of("anthropic")
    return list(known.value("ttls"))


def _policy_upload() -> None:
    st.file_uploader(
        "A policy of your own",
        type="json",
        key=policies.UPLOAD,
        on_change=widget_changes.of(policies.UPLOAD, policies.accept),
        help='{"name": "tail", "marks": [{"role": ["user", "tool"], "nth": -1}]}',
    )
    for name in policies.stored_names():
        with st.container(horizontal=True, vertical_alignment="center"):
            say.text(name)
            st.button("Remove", key=f"forget {name}", on_click=policies.forget, args=(name,))
    if fault := policies.error():
        st.error("This policy cannot be read:")
        say.text(fault)
