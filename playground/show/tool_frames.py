"""Tools as pandas tables: their tokens, with smaller schemas too, and which target refuses what."""

from __future__ import annotations

import pandas as pd

from playground.base.display import draws
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
