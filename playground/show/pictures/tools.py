"""Tools as markup: what they cost, and which provider refuses what of them."""

from __future__ import annotations

from playground.base.display import draws
from playground.base.wording import counted
from playground.cache.answers.tool_plan import ToolPlan
from playground.questions.tool_schemas import Portability, ToolCosts
from playground.show.markup import Markup, table
from playground.show.tool_frames import planned_tools
from playground.show.tool_frames import portability as finding_rows
from playground.show.tool_frames import tool_costs as cost_rows
from playground.show.tool_frames import tool_plan as plan_rows


@draws("picture", ToolCosts)
def tool_costs(value: ToolCosts) -> Markup:
    """Return the table of tokens by tool."""
    frame = cost_rows(value)
    exact = ", ".join(value.exact) or "none"
    return Markup(
        "What tools cost",
        f"{counted(len(value.tools), 'tool')}; exact for: {exact}",
        static=table("tokens", list(frame.columns), frame.astype(str).to_numpy()),
    )


@draws("picture", Portability)
def portability(value: Portability) -> Markup:
    """Return the findings by provider."""
    frame = finding_rows(value)
    return Markup(
        "Which provider takes these tools",
        counted(len(value.findings), "finding"),
        static=table("findings", list(frame.columns), frame.astype(str).to_numpy()),
    )


@draws("picture", ToolPlan)
def tool_plan(value: ToolPlan) -> Markup:
    """Return the table of ways, that of tools, and what the figures rest on."""
    tables = (("ways of sending the tools", plan_rows(value)), ("tools", planned_tools(value)))
    shown = []
    for caption, frame in tables:
        texts = frame.astype(object).where(frame.notna(), "").astype(str)
        shown.append(table(caption, list(frame.columns), texts.to_numpy()))
    assumed = table("assumed", ["assumption"], [[each] for each in value.assumed])
    static = "".join(shown) + (assumed if value.assumed else "")
    return Markup("What deferring tools would cost", value.headline, static=static)
