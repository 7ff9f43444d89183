"""Tools as markup: their costs, and the parts that providers refuse."""

from __future__ import annotations

from playground.base.display import draws
from playground.base.wording import counted
from playground.questions.tool_schemas import Portability, ToolCosts
from playground.show import frames, rows
from playground.show.markup import Markup, table


@draws("picture", ToolCosts)
def tool_costs(value: ToolCosts) -> Markup:
    """Return the table of tokens by tool."""
    frame = frames.tool_costs(value)
    exact = ", ".join(value.exact) or "none"
    return Markup(
        "What tools cost",
        f"{counted(len(value.tools), 'tool')}; exact for: {exact}",
        static=table("tokens", list(frame.columns), frame.astype(str).to_numpy()),
    )


@draws("picture", Portability)
def portability(value: Portability) -> Markup:
    """Return the findings by provider."""
    return Markup(
        "Which provider takes these tools",
        counted(len(value.findings), "finding"),
        static=table("findings", *rows.portability(value).texts()),
    )
