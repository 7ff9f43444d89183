"""Print the tokens of tools, and the providers that accept their schemas (`playground tools`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from playground.base.wording import grouped
from playground.cli.terminal import CSV, failed, is_set, print_json, report, say, show_rows, table

if TYPE_CHECKING:
    from playground.nouns.tools import ToolMetadata


def print_costs(
    tools: Sequence[ToolMetadata], models: Sequence[str], dialects: Sequence[str], as_json: bool
) -> int:
    """Print tokens by tool, and below this table the tokens with smaller schemas."""
    from playground.questions.tool_schemas import MODELS, tool_costs
    from playground.show import rows

    all_costs = tool_costs(tools, models=models or MODELS, dialects=dialects)
    if as_json:
        print_json({**all_costs.as_json(), "rows": rows.tool_costs(all_costs).dicts()})
        return 0
    if is_set(CSV):
        show_rows(rows.tool_costs(all_costs))
        return 0
    costs = [*all_costs.tools, all_costs.total]
    head = [name if name in all_costs.exact else f"~ {name}" for name in all_costs.models]
    table(
        ["tool", *head, *all_costs.total.by_dialect],
        [[cost.tool, *map(grouped, (cost.by_model | cost.by_dialect).values())] for cost in costs],
    )
    first = all_costs.models[0]
    say(f"with smaller schemas, for {first}:")
    table(
        ["tool", "as it is", *all_costs.total.shorter],
        [
            [cost.tool, *map(grouped, (cost.by_model[first], *cost.shorter.values()))]
            for cost in costs
        ],
    )
    return 0


def print_portability(tools: Sequence[ToolMetadata], targets: Sequence[str], as_json: bool) -> int:
    """Print the number of findings of each target, and all findings. With --strict, return 1 if
    there are findings. The schemas to send instead are only in the JSON."""
    from playground.questions.tool_schemas import tool_portability
    from playground.show import rows

    portability = tool_portability(tools, targets)
    if as_json:
        print_json(portability.as_json())
        return failed(bool(portability.findings))
    if is_set(CSV):
        show_rows(rows.portability(portability))
        return failed(bool(portability.findings))
    counts: dict[str, int] = {}
    for row in portability.rows:
        counts[row.title] = counts.get(row.title, 0) + len(row.findings)
    table(["target", "findings"], [[title, str(count)] for title, count in counts.items()])
    return report(portability.findings)
