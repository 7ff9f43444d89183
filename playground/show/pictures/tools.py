"""Tools as markup: their costs, and the parts that providers refuse."""

from __future__ import annotations

from playground.base.display import draws
from playground.base.wording import counted
from playground.questions.tool_schemas import Portability, ToolCosts
from playground.show import rows
from playground.show.markup import Markup, table


@draws("picture", ToolCosts)
def tool_costs(value: ToolCosts) -> Markup:
    """Return the table of tokens by tool."""
    lines = [
        {"tool": cost.tool, **cost.by_model, **cost.by_dialect, **cost.shorter}
        for cost in [*value.tools, value.total]
    ]
    exact = ", ".join(value.exact) or "none"
    return Markup(
        "What tools cost",
        f"{counted(len(value.tools), 'tool')}; exact for: {exact}",
        static=table("tokens", list(lines[0]), [list(map(str, line.values())) for line in lines]),
    )


@draws("picture", Portability)
def portability(value: Portability) -> Markup:
    """Return the findings by provider."""
    return Markup(
        "Which provider takes these tools",
        counted(len(value.findings), "finding"),
        static=table("findings", *rows.portability(value).texts()),
    )
