"""Two versions as pandas tables: their blocks, tokens by writer, and what caches still read."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from playground.base.display import draws
from playground.cache.simulated import sureness
from playground.questions.versions import VersionDiff
from playground.questions.versions.costs import PrefixCost
from playground.questions.versions.matching import BlockChange

HEAD = ["change", "part", "block", "written by", "tokens before", "tokens after", "more", "note"]


@draws("frame", VersionDiff)
def versions(value: VersionDiff) -> pd.DataFrame:
    """Return a row for each block, in the second version's order."""
    return blocks(value.changes)


def blocks(changes: Sequence[BlockChange]) -> pd.DataFrame:
    """Return a row for each of these blocks."""
    frame = pd.DataFrame([_block(change) for change in changes], columns=HEAD)
    return frame.astype({"tokens before": "Int64", "tokens after": "Int64"})  # which may be empty


def _block(change: BlockChange) -> list[object]:
    before, after = change.tokens
    block = change.block
    return [
        change.kind,
        change.tier,
        block.name,
        block.writer,
        before if change.before else None,
        after if change.after else None,
        after - before,
        change.note,
    ]


def writers(value: VersionDiff) -> pd.DataFrame:
    """Return a row for each writer: its tokens before and after."""
    rows = [
        {"written by": name, "tokens before": old, "tokens after": new, "more": new - old}
        for name, (old, new) in value.by_writer.items()
    ]
    return pd.DataFrame(rows, columns=["written by", "tokens before", "tokens after", "more"])


def costs(found: Sequence[PrefixCost]) -> pd.DataFrame:
    """Return a row for each provider: what the first version caches, and the second reads of it."""
    return pd.DataFrame(
        [
            {
                "provider": cost.title,
                "left by the first": cost.left,
                "read by the second": cost.read,
                "paid again": cost.lost,
                "costs, $": None if cost.nano_dollars is None else cost.nano_dollars / 1e9,
                "parts at": cost.parts.told if cost.parts else "",
                "why": cost.reason,
                "marks": cost.marks,
                "how sure": sureness(cost.state),
            }
            for cost in found
        ]
    )
