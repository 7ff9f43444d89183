"""Print tools' tokens, and which providers accept their schemas, for `playground tools`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from playground.base.wording import grouped
from playground.cli.terminal import print_json, report, say, table

if TYPE_CHECKING:
    from playground.nouns.tools import ToolMetadata


def costs(
    tools: Sequence[ToolMetadata], models: Sequence[str], dialects: Sequence[str], as_json: bool
) -> int:
    """Print tokens by tool; below, the tokens with smaller schemas."""
    from playground.questions.tool_schemas import MODELS, tool_costs

    found = tool_costs(tools, models or MODELS, dialects)
    if as_json:
        print_json(found.as_json())
        return 0
    rows = [*found.tools, found.total]
    head = [name if name in found.exact else f"~ {name}" for name in found.models]
    table(
        ["tool", *head, *found.total.by_dialect],
        [[each.tool, *map(grouped, (each.by_model | each.by_dialect).values())] for each in rows],
    )
    first = found.models[0]
    say(f"with smaller schemas, for {first}:")
    table(
        ["tool", "as it is", *found.total.shorter],
        [
            [each.tool, *map(grouped, (each.by_model[first], *each.shorter.values()))]
            for each in rows
        ],
    )
    return 0


def portable(tools: Sequence[ToolMetadata], targets: Sequence[str], as_json: bool) -> int:
    """Print how many findings each target has, and all of them; return 1 if there are any.

    Only the JSON has the schemas to send instead.
    """
    from playground.questions.tool_schemas import tool_portability

    found = tool_portability(tools, targets)
    if as_json:
        print_json(found.as_json())
        return int(bool(found.findings))
    counts: dict[str, int] = {}
    for row in found.rows:
        counts[row.title] = counts.get(row.title, 0) + len(row.findings)
    table(["target", "findings"], [[title, str(count)] for title, count in counts.items()])
    return report(found.findings)
