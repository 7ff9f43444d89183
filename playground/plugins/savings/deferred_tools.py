"""The Cache page's section on deferred tools."""

from __future__ import annotations

from concurrent.futures import Future

from playground.app.shared import policies, say, tables, waiting
from playground.app.shared.cache_asked import CacheQuestion
from playground.app.shared.memoized import memoized
from playground.base.errors import InputFault
from playground.dialects.marks.own_policies import OwnPolicy
from playground.plugins.savings.rows import plan_rows, tool_rows
from playground.plugins.savings.tool_plan import ToolPlan, plan_tools
from playground.sessions.session import Session


@memoized(16)
def _plan(
    session: Session, policy: str, own: OwnPolicy | None, seconds_apart: float | None
) -> Future[ToolPlan]:
    marks = policies.chosen(policy, own)
    return waiting.background().submit(
        plan_tools, session, marks=marks, seconds_apart=seconds_apart
    )


def show(question: CacheQuestion) -> None:
    """Draw a folded section: the cheapest way to defer tools, all ways, the tools. Draw nothing
    without tools."""
    if not question.session.tools:
        return
    with say.expander("If tools were deferred", key="deferred-tools", on_change="rerun") as section:
        if section.open:
            _show(question)


def _show(question: CacheQuestion) -> None:
    # imported requests have their own marks, so no policy adds any
    policy = "none" if question.is_imported else question.policy
    future = _plan(question.session, policy, policies.find(policy), question.apart)
    waiting.until_loaded(future.done, "Simulating every way to send the tools …")
    try:
        plan = future.result()
    except InputFault as fault:
        say.text(str(fault))
        return
    say.info(plan.headline.replace("$", "\\$"))
    tables.table(plan_rows(plan), height="content")
    tables.table(tool_rows(plan), key="planned tools")
    for line in plan.assumed:
        say.caption(f"Assumed: {line}.")
    if plan.source:
        say.caption(f"Deferred tools: {plan.source}. Nothing is sent.")
