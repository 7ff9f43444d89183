"""Chat templates as pandas tables: warnings of a rendering, faults of a template."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from playground.base.display import draws
from playground.base.findings import Finding
from playground.dialects.raw_prompts.audit import TemplateAudit
from playground.questions.raw_prompt import RawPrompt


@draws("frame", RawPrompt)
def warnings(value: RawPrompt) -> pd.DataFrame:
    """Return a row for each warning of the chat template."""
    return findings(value.findings)


@draws("frame", TemplateAudit)
def audit(value: TemplateAudit) -> pd.DataFrame:
    """Return a row for each fault of the template."""
    return findings(value.findings)


def findings(found: Sequence[Finding]) -> pd.DataFrame:
    """Return a row for each finding."""
    rows = [[each.code, each.severity, each.where, each.message] for each in found]
    return pd.DataFrame(rows, columns=["code", "severity", "where", "message"])
