"""The Cache page's rarely used controls: changes of requests (`WhatIf`), and a policy file."""

from __future__ import annotations

from typing import Final

import streamlit as st

from playground.app.shared import policies, say, widget_changes
from playground.app.shared.memoized import memoized
from playground.cache.answers.known_rules import known_rules
from playground.cache.answers.what_if import ENVIRONMENTS, MOST_PARALLEL, WhatIf
from playground.cache.rules import Rules, rules_of

_AS_MARKED: Final = "as marked"
KEYS: Final = ("if-environment", "if-ttl", "if-parallel", "if-shuffled", "if-clock")


@memoized(64)
def rules(model: str) -> Rules:
    return known_rules("", model)


def choose(model: str) -> WhatIf:
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
    known = rules(model)
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
