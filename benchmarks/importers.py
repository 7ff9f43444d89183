"""Every file of a folder through the importers: what was read, beside what the raw file holds.

Run: python benchmarks/importers.py FOLDER… [--only-odd]. The raw counts are those of
tests/raw_counts.py, which shares no code with the importers. The line `sum` counts the files.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from raw_counts import UNCOUNTED, any_counts, raw_counts, rows_of  # noqa: E402

from playground.base.errors import InputFault  # noqa: E402
from playground.sessions.loading import LoadedSession, load_sessions  # noqa: E402

NAMES = ("messages", "calls", "results", "usage")


@dataclass
class Row:
    """One file: how it was read, the counts, and what the raw walk says."""

    path: Path
    form: str = ""
    sessions: int = 0
    counts: tuple[int, int, int, int] = (0, 0, 0, 0)
    raw: tuple[int, int, int, int] | None = None
    findings: str = ""
    fault: str = ""

    @property
    def odd(self) -> list[str]:
        """The names of the figures that differ from those of the raw file."""
        if self.raw is None:
            return []
        left_out = UNCOUNTED.get(self.form, set())
        pairs = zip(NAMES, self.counts, self.raw, strict=True)
        return [name for name, ours, theirs in pairs if ours != theirs and name not in left_out]


def counts(loaded: list[LoadedSession]) -> tuple[int, int, int, int]:
    """Count a speaker's texts, calls, results, and requests with usage."""
    said = calls = results = usage = 0
    for each in loaded:
        for message in each.session.messages:
            said += message.role != "tool" and bool(message.parts)
            calls += len(message.tool_calls)
            results += len(message.tool_results)
        usage += sum(bool(record.usage) for record in each.session.requests)
    return said, calls, results, usage


def read(path: Path) -> Row:
    row = Row(path)
    try:
        loaded = list(load_sessions(path))
    except InputFault as fault:
        row.fault = str(fault)
        return row
    row.form = loaded[0].format if loaded else ""
    row.sessions, row.counts = len(loaded), counts(loaded)
    codes = Counter(found.code for each in loaded for found in each.findings)
    row.findings = ", ".join(f"{code} {count}" for code, count in codes.items())
    if path.is_file():
        data = path.read_bytes()
        try:
            raw = raw_counts(data, row.form)
        except (ValueError, KeyError, TypeError, AttributeError):
            raw = None
        row.raw = raw.figures() if raw else _anywhere(data)
    return row


def _anywhere(data: bytes) -> tuple[int, int, int, int] | None:
    try:
        found = any_counts(rows_of(data))
    except (ValueError, RecursionError):
        return None
    return (-1, found.calls, found.results, -1)


def files(folders: list[str]) -> Iterator[Path]:
    for folder in folders:
        path = Path(folder)
        yield from [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--only-odd", action="store_true", help="refused, or counts that differ")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [read(path) for path in files(options.folders)]
    if options.json:
        print(json.dumps([{**vars(row), "path": str(row.path)} for row in rows], indent=1))
        return
    for row in rows:
        if options.only_odd and not row.fault and not row.odd:
            continue
        name = "/".join(row.path.parts[-2:])[-60:]
        if row.fault:
            print(f"{name:60} REFUSED {row.fault.rpartition(str(row.path))[2][:150]}")
            continue
        figures = " ".join(f"{n:>5}" for n in row.counts)
        raw = " ".join(f"{n:>5}" if n >= 0 else "    -" for n in row.raw) if row.raw else "-"
        print(
            f"{name:60} {row.form:20} {row.sessions:>4} | {figures} | {raw} | {row.findings[:90]}"
        )
    refused = sum(bool(row.fault) for row in rows)
    fewer = sum(row.raw is not None and row.counts[2] < row.raw[2] for row in rows)
    print(f"{len(rows)} files: {len(rows) - refused} read, {refused} refused, {fewer} with fewer")
    print("results than the raw file holds; columns: messages, calls, results, requests with usage")


if __name__ == "__main__":
    main()
