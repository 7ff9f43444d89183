"""Chat templates as pandas tables: warnings of a rendering, faults of a template or a dialect."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from playground.base.display import draws
from playground.base.findings import Finding
from playground.dialects.raw_prompts.audit import TemplateAudit
from playground.lab.laws import LawChecks
from playground.questions.raw_prompt import RawPrompt


@draws("frame", RawPrompt)
def warnings(value: RawPrompt) -> pd.DataFrame:
    """Return a row for each warning of the chat template."""
    return findings(value.findings)


@draws("frame", TemplateAudit)
def audit(value: TemplateAudit) -> pd.DataFrame:
    """Return a row for each fault of the template."""
    return findings(value.findings)


@draws("frame", LawChecks)
def laws(value: LawChecks) -> pd.DataFrame:
    """Return a row for each law, with the number of examples tried and what breaks it."""
    rows = [[c.law, c.title, c.tried, c.broken.says if c.broken else "holds"] for c in value]
    return pd.DataFrame(rows, columns=["law", "says", "examples", "result"])


def findings(found: Sequence[Finding]) -> pd.DataFrame:
    """Return a row for each finding."""
    rows = [[each.code, each.severity, each.where, each.message] for each in found]
    return pd.DataFrame(rows, columns=["code", "severity", "where", "message"])
