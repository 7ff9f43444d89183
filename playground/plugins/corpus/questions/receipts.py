"""Receipts of the files behind a corpus: how much of each is in its sessions, the worst first.

The files are read once more, where they still are: a corpus keeps texts, and no files.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from playground.base.errors import InputFault
from playground.base.wording import counted
from playground.sessions.loading import load_session

COLUMNS: Final = ("file", "form", "share", "characters", "silent", "silent_characters", "mostly_at")
SQL: Final = """
SELECT path, min(form) AS form, bool_or(path <> name) AS is_part, min(session) AS session
FROM sessions JOIN files USING (piece) {where} GROUP BY path ORDER BY path"""
Row = tuple[str, str, float, int, int, int, str]


def receipts(files: Iterable[tuple[str, str, bool]], seconds: float) -> tuple[list[Row], list[str]]:
    """Return a row for each file, the worst first, and notes about those that were not read."""
    rows: list[Row] = []
    elsewhere = late = 0
    until = time.monotonic() + seconds
    for path, form, is_part in files:
        if is_part or not Path(path).is_file():
            elsewhere += 1
        elif time.monotonic() > until:
            late += 1
        else:
            rows += _row(path, form)
    notes = []
    if late:
        notes.append(f"{counted(late, 'file')} {_were(late)} not read: the time was over")
    if elsewhere:
        reason = "packed, behind an address, or gone"
        notes.append(f"{counted(elsewhere, 'file')} {_were(elsewhere)} not read: {reason}")
    return sorted(rows, key=lambda row: (-row[5], -row[4], row[2], row[0])), notes


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _row(path: str, form: str) -> list[Row]:
    """Return the row of a file; none if it changed so that it cannot be read any more."""
    try:
        receipt = load_session(path).receipt
    except InputFault:
        return []
    if receipt is None:
        return []
    silent = receipt.silent
    worst = next((row.path for row in receipt.by_path if not row.why), "")
    size = sum(len(each.text) for each in silent)
    return [(path, form, round(receipt.share, 4), receipt.characters, len(silent), size, worst)]
