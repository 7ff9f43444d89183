"""What a chat template makes of a session, and what is wrong with it, as pandas tables."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from playground.display import draws
from playground.findings import Finding
from playground.questions.raw_prompt import RawPrompt
from playground.raw_prompts.audit import TemplateAudit


@draws("frame", RawPrompt)
def warnings(value: RawPrompt) -> pd.DataFrame:
    """One row a warning of the chat template."""
    return findings(value.findings)


@draws("frame", TemplateAudit)
def audit(value: TemplateAudit) -> pd.DataFrame:
    """One row a fault of the template."""
    return findings(value.findings)


def findings(found: Sequence[Finding]) -> pd.DataFrame:
    """One row a finding."""
    rows = [[each.code, each.severity, each.where, each.message] for each in found]
    return pd.DataFrame(rows, columns=["code", "severity", "where", "message"])
