"""What the requests of a session would read and cost: the last tab of the Cache page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from playground.caching.policies import get_policy
from playground.errors import InputFault
from playground.show import figures, frames
from playground.ui import computed
from playground.ui.state import WorkingSession

_APART = {"0:20": 20.0, "4:30": 270.0, "5:30": 330.0, "one hour and more": 3_700.0}
_FORMATS = {"read share": "percent", "cost": "%.3f"}


def cache_costs(working: WorkingSession, dialects: Sequence[str], drawn: str) -> None:
    """A matrix, dialects by policies, and every request of one of its cells."""
    with st.container(horizontal=True):
        apart = st.selectbox("Between requests", list(_APART), key="apart", bind="query-params")
        try:
            cells = computed.simulations(working, dialects, _APART[apart or "0:20"])
        except InputFault as fault:
            st.text(str(fault))  # plain: a model's name may come from a file
            return
        policies = list(dict.fromkeys(cell.policy for cell in cells))
        policy = st.selectbox("Policy", policies, key="policy", bind="query-params")
    st.caption(
        f"Rules of {cells[0].provider}; tokens are estimates, four characters each; cost is that "
        "of all input beside the same input uncached. Nothing is sent."
    )
    st.plotly_chart(figures.cache_matrix(cells), key="cache matrix")
    cell = next(c for c in cells if (c.dialect, c.policy) == (drawn, policy))
    st.subheader(f"{drawn}, {policy}", divider="gray")
    st.caption(f"Policy {policy}: {get_policy(cell.policy).source}.")
    for problem in cell.errors:
        st.error("The provider would refuse requests:")
        st.text(problem)
    formats = {name: st.column_config.NumberColumn(format=form) for name, form in _FORMATS.items()}
    st.dataframe(frames.cache_requests(cell), hide_index=True, column_config=formats)
    with st.expander("All figures"):
        st.dataframe(frames.cache_matrix(cells), hide_index=True, column_config=formats)
