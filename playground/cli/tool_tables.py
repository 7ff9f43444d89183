"""Print tools' tokens, and which providers accept their schemas, for `playground tools`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from playground.base.wording import dollars, grouped
from playground.cli.terminal import print_json, report, say, table

if TYPE_CHECKING:
    from playground.cache.answers.tool_plan import ToolPlan
    from playground.nouns.tools import ToolMetadata
    from playground.sessions.session import Session


def print_costs(
    tools: Sequence[ToolMetadata], models: Sequence[str], dialects: Sequence[str], as_json: bool
) -> int:
    """Print tokens by tool; below, the tokens with smaller schemas."""
    from playground.questions.tool_schemas import MODELS, tool_costs

    all_costs = tool_costs(tools, models=models or MODELS, dialects=dialects)
    if as_json:
        print_json(all_costs.as_json())
        return 0
    rows = [*all_costs.tools, all_costs.total]
    head = [name if name in all_costs.exact else f"~ {name}" for name in all_costs.models]
    table(
        ["tool", *head, *all_costs.total.by_dialect],
        [[cost.tool, *map(grouped, (cost.by_model | cost.by_dialect).values())] for cost in rows],
    )
    first = all_costs.models[0]
    say(f"with smaller schemas, for {first}:")
    table(
        ["tool", "as it is", *all_costs.total.shorter],
        [
            [cost.tool, *map(grouped, (cost.by_model[first], *cost.shorter.values()))]
            for cost in rows
        ],
    )
    return 0


def print_portability(tools: Sequence[ToolMetadata], targets: Sequence[str], as_json: bool) -> int:
    """Print how many findings each target has, and all of them; return 1 if there are any.

    Only the JSON has the schemas to send instead.
    """
    from playground.questions.tool_schemas import tool_portability

    portability = tool_portability(tools, targets)
    if as_json:
        print_json(portability.as_json())
        return int(bool(portability.findings))
    counts: dict[str, int] = {}
    for row in portability.rows:
        counts[row.title] = counts.get(row.title, 0) + len(row.findings)
    table(["target", "findings"], [[title, str(count)] for title, count in counts.items()])
    return report(portability.findings)


def print_plan(session: Session, model: str, as_json: bool) -> int:
    """Print what the session's tools cost as they are, and with some of them deferred."""
    from playground.cache.answers.tool_plan import plan_tools

    plan = plan_tools(session, model=model)
    if as_json:
        print_json(plan.as_json())
        return 0
    say(plan.headline)
    head = ["way", "kept", "first prompt", "sent", "read", "breaks", "searches", "cost"]
    table([*head, "dollars"], _ways(plan))
    deferred = set(plan.deferred)
    table(
        ["tool", "~ tokens", "calls", "first at", "cheapest"],
        [
            [
                tool.name,
                grouped(tool.tokens),
                str(tool.calls),
                "" if tool.first is None else f"request {tool.first + 1}",
                "defer" if tool.name in deferred else "keep",
            ]
            for tool in plan.tools
        ],
    )
    for line in plan.assumed:
        say(f"assumed: {line}")
    if plan.source:
        say(f"deferred tools: {plan.source}; model {plan.model}")
    return 0


def _ways(plan: ToolPlan) -> list[list[str]]:
    own = max(1, plan.rows[0].cost)
    rows = []
    for row in plan.rows:
        money = plan.dollars(row)
        kept = len(plan.tools) if row.cut is None else len(row.cut.keep)
        tokens = map(grouped, (row.prefix_tokens, row.tokens, row.read))
        counts = map(str, (len(row.simulation.breaks), row.searches))
        shown = "" if money is None else dollars(money)
        rows.append([row.name, str(kept), *tokens, *counts, grouped(row.cost / own, 2), shown])
    return rows
