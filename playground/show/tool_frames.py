"""Tools as pandas tables: their tokens, with smaller schemas too, and which target refuses what."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from playground.base.display import draws
from playground.cache.answers.tool_plan import ToolPlan
from playground.nouns.tool_formats.portability import INSTEAD, schema_targets
from playground.questions.tool_schemas import Portability, ToolCosts


@draws("frame", ToolCosts)
def tool_costs(value: ToolCosts) -> pd.DataFrame:
    """Return a row for each tool and one for all: tokens by model, dialect and smaller schema."""
    rows = [
        {"tool": each.tool, **each.by_model, **each.by_dialect, **each.shorter}
        for each in [*value.tools, value.total]
    ]
    return pd.DataFrame(rows)


@draws("frame", Portability)
def portability(value: Portability) -> pd.DataFrame:
    """Return a row for each finding."""
    rows = [
        {"target": row.title, "where": found.where, "what": found.code, "how": found.message}
        for row in value.rows
        for found in row.findings
    ]
    return pd.DataFrame(rows, columns=["target", "where", "what", "how"])


@draws("frame", ToolPlan)
def tool_plan(value: ToolPlan) -> pd.DataFrame:
    """One row a way of sending the tools. The relative cost is 1 for all in the prefix."""
    own = max(1, value.rows[0].cost)
    rows = [
        {
            "way": row.name,
            "in the prefix": len(value.tools) if row.cut is None else len(row.cut.keep),
            "first prompt, tokens": row.prefix_tokens,
            "tokens sent": row.tokens,
            "read": row.read,
            "breaks": len(row.simulation.breaks),
            "searches": row.searches,
            "relative cost": row.cost / own,
            "costs, $": value.dollars(row),
        }
        for row in value.rows
    ]
    return pd.DataFrame(rows)


def planned_tools(value: ToolPlan) -> pd.DataFrame:
    """One row a tool: its tokens, its use in the session, and where the cheapest way has it."""
    head = ["tool", "tokens, estimated", "calls", "first called at request", "cheapest"]
    deferred: Sequence[str] = value.deferred
    rows = [
        [
            tool.name,
            tool.tokens,
            tool.calls,
            None if tool.first is None else tool.first + 1,
            "defer" if tool.name in deferred else "keep",
        ]
        for tool in value.tools
    ]
    return pd.DataFrame(rows, columns=head).astype({head[3]: "Int64"})


def schema_rules() -> pd.DataFrame:
    """Return a row for each documented rule of a target: keyword, effect, instead, source, date."""
    rows = [
        {
            "target": target.title,
            "keyword": rule.keyword,
            "effect": rule.effect,
            "write instead": INSTEAD[rule.instead],
            "note": rule.note,
            "source": rule.source,
            "date": rule.date,
        }
        for target in schema_targets().values()
        for rule in target.rules
    ]
    return pd.DataFrame(rows)
