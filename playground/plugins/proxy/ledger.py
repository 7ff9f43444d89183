"""The ledger of a run: a file of JSON lines next to its recordings, written during the run.

    {"format": "playground-proxy/1", "at": …, "upstream": …}
    {"exchange": 7, "at": …, "session": …, "title": …, "agent": …, "file": …, "expected": {…}}
    {"exchange": 7, "status": 200, "first": 0.4, "seconds": 2.1, "billed": {…},
     "told_by_provider": …, "disagrees": …}

A page can read the ledger while the proxy still writes it. A line that was cut off (by a crash, for
example) is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playground.base import paths
from playground.base.json_numbers import load_json
from playground.base.user_files import open_regular_file

FORMAT: Final = "playground-proxy/1"
FILE: Final = "ledger.jsonl"


def runs_folder() -> Path:
    """Return the folder of all runs; each run is a folder with recordings and a ledger."""
    return paths.recordings() / "proxy"


def runs() -> list[Path]:
    """Return the folders of all runs that have a ledger, the newest first."""
    return sorted((path.parent for path in runs_folder().glob(f"*/{FILE}")), reverse=True)


@dataclass(frozen=True)
class LoggedExchange:
    """An exchange in the ledger. `status`, `seconds` and `billed` are None until its end."""

    number: int
    at: float
    session: str
    title: str
    agent: str
    url: str
    file: str
    expected: dict[str, Any] | None = None
    status: int | None = None
    seconds: float | None = None
    billed: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    blocked: str = ""
    told_by_provider: str = ""
    disagrees: str = ""  # the disagreement of prediction, bill and diagnosis, in words

    @property
    def refused(self) -> bool:
        """True if the answer is an HTTP error. Then nothing is cached or billed."""
        return self.status is not None and self.status >= 400

    @property
    def breaks(self) -> dict[str, Any] | None:
        """The forecast if it predicts a cache break and the request was not refused, or else
        None."""
        forecast = self.expected
        return forecast if forecast and forecast["breaks"] and not self.refused else None


@dataclass(frozen=True)
class Ledger:
    """A run: its folder, its beginning (`at`, in seconds since 1970), the address given as its
    upstream or "", and its exchanges in order and by session."""

    folder: Path
    at: float = 0.0
    upstream: str = ""
    exchanges: tuple[LoggedExchange, ...] = ()
    sessions: dict[str, list[LoggedExchange]] = field(default_factory=dict)


def read_ledger(run: Path) -> Ledger:
    """Read the lines of a run's ledger so far. Raises OSError if a file is gone."""
    at, upstream = 0.0, ""
    entries: dict[int, dict[str, Any]] = {}
    files = sorted(run.glob("ledger*.jsonl"))
    for line in (line for file in files for line in _lines(file)):
        number = line.get("exchange")
        if line.get("format") == FORMAT:
            at, upstream = float(line.get("at") or 0.0), str(line.get("upstream") or "")
        elif isinstance(number, int):
            fields = {key: line[key] for key in LoggedExchange.__dataclass_fields__ if key in line}
            entries.setdefault(number, {}).update(fields)
    empty = {"at": 0.0, "session": "", "title": "", "agent": "", "url": "", "file": ""}
    exchanges = tuple(
        LoggedExchange(**{**empty, **fields, "number": n}) for n, fields in entries.items()
    )
    sessions: dict[str, list[LoggedExchange]] = {}
    for exchange in exchanges:
        if exchange.session:
            sessions.setdefault(exchange.session, []).append(exchange)
    return Ledger(run, at, upstream, exchanges, sessions)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with open_regular_file(path) as file:
        for line in file:
            try:
                value = load_json(line.decode("utf-8", "replace"), strict=True)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                yield value


def is_growing(run: Path) -> bool:
    """Return True if a proxy still writes this ledger, because a running proxy locks the file. On
    Windows, which has no such lock, always return False.
    """
    with suppress(ImportError), open_regular_file(run / FILE) as file:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def size_bytes(run: Path) -> int:
    """Return the ledger's size in bytes."""
    return sum(file.stat().st_size for file in run.glob("ledger*.jsonl"))


def ledger_line(line: dict[str, Any]) -> str:
    """Return a line of the ledger as text."""
    return json.dumps(line, ensure_ascii=False) + "\n"
