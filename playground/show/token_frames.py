"""Token counts as tables, with their certainty."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from playground.tokens.count import TokenCount


def with_tokens(frame: pd.DataFrame, counts: Sequence[TokenCount | None]) -> pd.DataFrame:
    """Return a comparison's table with tokens, their kind and their range.

    `counts` has a count for each row, or None if it is not known yet.
    """
    shown = frame.copy()
    place = list(frame.columns).index("characters") + 1
    sizes = pd.Series([count.tokens if count else None for count in counts], dtype="Int64")
    ranges = [count.range if count else (None, None) for count in counts]
    shown.insert(place, "tokens", sizes)
    shown.insert(place + 1, "tokens_kind", [count.kind if count else "" for count in counts])
    shown.insert(place + 2, "tokens_low", pd.Series([low for low, _ in ranges], dtype="Int64"))
    shown.insert(place + 3, "tokens_high", pd.Series([high for _, high in ranges], dtype="Int64"))
    return shown
