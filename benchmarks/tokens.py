"""Counts beside bills, model by model: n, called exact, right, and by how much the rest is off.

python benchmarks/tokens.py FOLDER [--rest] [--shuffle]

FOLDER holds recorded streams with an `index.json` (`file`, `request`, `model`, `api` in each
entry), such as ../shared/conformance/streams. `--rest` names every request whose count is not both
exact and right. With `--shuffle` the bills are exchanged between the requests: hardly any count is
right then, which shows that counts do not look at bills.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import playground as pg
from playground.cache.usage import billed_of
from playground.tokens.count import TokenCount, count_request


@dataclass(frozen=True)
class Billed:
    """A recorded request, what was counted and what was billed."""

    name: str
    model: str
    tools: bool
    counted: TokenCount
    billed: int

    @property
    def exact(self) -> bool:
        return self.counted.kind == "exact"

    @property
    def right(self) -> bool:
        return self.counted.tokens == self.billed

    @property
    def inside(self) -> bool:
        low, high = self.counted.range
        return low <= self.billed and (high is None or self.billed <= high)


def billed_input(usage: Any) -> int | None:
    """Return all input tokens of a bill, or else Ollama's count of the tokens that it evaluated."""
    found = billed_of(usage)
    if found is not None:
        return found.total
    count = usage.get("prompt_eval_count") if isinstance(usage, dict) else None
    return count if isinstance(count, int) else None


def recorded(folder: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any], int]]:
    """Yield the entries of the index that have a request and a bill, with both."""
    for entry in json.loads((folder / "index.json").read_text()):
        if not entry.get("request"):
            continue
        bill = billed_input(pg.load_recording(folder / entry["file"]).usage)
        if bill is not None:
            yield entry, json.loads((folder / entry["request"]).read_text()), bill


def counted(folder: Path, shuffle: bool = False) -> list[Billed]:
    rows = list(recorded(folder))
    bills = [bill for _, _, bill in rows]
    if shuffle:
        bills = bills[1:] + bills[:1]
    return [
        Billed(
            entry["id"],
            entry["model"],
            bool(body.get("tools") or body.get("functions") or body.get("toolConfig")),
            count_request(body, entry["model"], entry["api"]),
            bill,
        )
        for (entry, body, _), bill in zip(rows, bills, strict=True)
    ]


def table(rows: list[Billed]) -> None:
    groups: defaultdict[tuple[str, bool], list[Billed]] = defaultdict(list)
    for row in rows:
        groups[row.model, row.tools].append(row)
    print(f"{'model':44} {'tools':5} {'n':>3} {'exact':>5} {'right':>5} {'inside':>6}  off by")
    for (model, tools), group in sorted(groups.items()):
        called = [row for row in group if row.exact]
        right = sum(row.right for row in called)
        inside = sum(row.inside for row in group)
        off = sorted({row.counted.tokens - row.billed for row in group if not row.right})
        words = "tools" if tools else ""
        shown = " ".join(f"{each:+}" for each in off)
        figures = f"{len(group):3} {len(called):5} {right:5} {inside:6}"
        print(f"{model[:44]:44} {words:5} {figures}  {shown}")
    called = [row for row in rows if row.exact]
    right = sum(row.right for row in called)
    print(f"{len(rows)} requests, {len(called)} called exact, {right} of them right")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rest", action="store_true")
    parser.add_argument("--shuffle", action="store_true")
    given = parser.parse_args()
    rows = counted(given.folder, given.shuffle)
    table(rows)
    for row in rows if given.rest else ():
        if not (row.exact and row.right):
            low, high = row.counted.range
            why = "; ".join(row.counted.notes)
            print(f"{row.name} {row.model} {row.counted.kind}: {row.counted.tokens} ({low} to "
                  f"{high}), billed {row.billed}: {why}")  # fmt: skip


if __name__ == "__main__":
    main()
