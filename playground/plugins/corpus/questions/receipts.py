"""Receipts of a corpus's files: how much of each file is in its sessions, the worst first.

A corpus built with the option `receipts` stores these figures. Otherwise the files are read again,
if they still exist.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from playground.base.errors import InputFault
from playground.base.wording import counted
from playground.sessions.loading import load_session

COLUMNS: Final = (
    "file", "form", "share", "characters", "silent", "missing", "missing_characters", "mostly_at",
)  # fmt: skip
SQL: Final = """
SELECT path, min(form) AS form, bool_or(path <> name) AS is_part, min(session) AS session,
       min(content) AS content, count(DISTINCT piece) AS pieces
FROM sessions JOIN files USING (piece) {where} GROUP BY path ORDER BY path"""
Row = tuple[str, str, float, int, int, int, int, str]


class CorpusFile(NamedTuple):
    """A file from which a corpus was built. `is_part` is True if the corpus read only members of
    the tar at `path`, or if `path` is an address with options. `content` is the hash of the file,
    or "" if the corpus read the file in several pieces.
    """

    path: str
    form: str
    is_part: bool
    content: str


class Figures(NamedTuple):
    """The figures of a file's receipt: its `characters` of text, the `share` of them that is in
    sessions, the number of `missing` texts, the number of these that no finding mentions
    (`silent`), the number of missing characters, and the path in the file at which most characters
    are missing without a finding, or else with one. Texts of ignored fields do not count."""

    share: float
    characters: int
    silent: int
    missing: int
    missing_characters: int
    path_with_most: str


def receipts(
    files: Iterable[CorpusFile], stored: Mapping[str, Figures], seconds: float
) -> tuple[list[Row], list[str]]:
    """Return a row for each file with a receipt, the worst first, and notes about files that
    were not read: for lack of time, or because they are elsewhere or gone."""
    rows: list[Row] = []
    elsewhere = late = 0
    until = time.monotonic() + seconds
    for file in files:
        if figures := stored.get(file.content):
            rows.append((file.path, file.form, *figures))
        elif file.is_part or not Path(file.path).is_file():
            elsewhere += 1
        elif time.monotonic() > until:
            late += 1
        elif figures := figures_of(file.path):
            rows.append((file.path, file.form, *figures))
    notes = []
    if late:
        notes.append(f"{counted(late, 'file')} {_were(late)} not read: the time limit was reached")
    if elsewhere:
        reason = "inside an archive, at an address, or deleted"
        notes.append(f"{counted(elsewhere, 'file')} {_were(elsewhere)} not read: {reason}")
    # by `silent`, then by the missing characters, the share, and the path
    return sorted(rows, key=lambda row: (-row[4], -row[6], row[2], row[0])), notes


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def figures_of(path: str) -> Figures | None:
    """Return the figures of a file, or None if it cannot be read or has no receipt."""
    try:
        receipt = load_session(path).receipt
    except InputFault:
        return None
    if receipt is None:
        return None
    missing = [each for each in receipt.missing if not each.aside]
    worst = next((row.path for row in receipt.by_path if not row.first.aside), "")
    size, silent = sum(len(each.text) for each in missing), len(receipt.silent)
    share = round(receipt.share, 4)
    return Figures(share, receipt.characters, silent, len(missing), size, worst)
