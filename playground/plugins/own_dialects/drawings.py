"""The laws of a dialect as a table and as HTML."""

from __future__ import annotations

from typing import Final

import pandas as pd

from playground.base.display import draws
from playground.base.wording import counted
from playground.plugins.own_dialects.laws import LawChecks
from playground.show.frames import frame
from playground.show.markup import Markup, cells, code, escaped
from playground.show.rows import rows_of

_SHOWN: Final = 20_000  # characters of an example


@draws("frame", LawChecks)
def laws_frame(value: LawChecks) -> pd.DataFrame:
    """Return a row for each law, with the number of examples tried and what breaks it."""
    cells = [(c.law, c.title, c.tried, c.broken.says if c.broken else "holds") for c in value]
    return frame(rows_of("law title examples result", cells))


@draws("picture", LawChecks)
def laws(value: LawChecks) -> Markup:
    """Return each law, and the smallest example that breaks it."""
    rows = [
        [
            str(check.law),
            escaped(check.title),
            escaped(check.broken.says if check.broken else f"holds for {check.tried:,} examples"),
            code("\n".join(f"{k}: {v}" for k, v in check.broken.shown), _SHOWN)
            if check.broken
            else "",
        ]
        for check in value
    ]
    line = f"{counted(len(value.broken), 'law')} of {len(value)} broken"
    head = ["law", "says", "result", "smallest example"]
    return Markup("The laws of a dialect", line, cells("laws", head, rows))
