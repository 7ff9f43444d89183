"""The receipt of a file that was read, as pandas tables."""

from __future__ import annotations

import pandas as pd

from playground.base.display import draws
from playground.sessions.receipts.receipt import Receipt


def receipt_counts(value: Receipt) -> pd.DataFrame:
    """Return a row for each thing that is counted, in the file and in its sessions."""
    return pd.DataFrame(value.counts, columns=["what", "in the file", "in its sessions"])


@draws("frame", Receipt)
def receipt(value: Receipt) -> pd.DataFrame:
    """Return a row for each path of the file with something that is in no session, worst first."""
    head = ["path", "what", "times", "characters", "why", "the first"]
    rows = [(*row[:4], row.told, row.first.text[:200]) for row in value.by_path]
    return pd.DataFrame(rows, columns=head)
