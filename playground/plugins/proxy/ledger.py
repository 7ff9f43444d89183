"""The ledger of a run of the proxy: a file of lines beside its recordings, as they are said.

    {"format": "playground-proxy/1", "at": …, "upstream": …}
    {"exchange": 7, "at": …, "session": …, "title": …, "agent": …, "file": …, "expected": {…}}
    {"exchange": 7, "status": 200, "first": 0.4, "seconds": 2.1, "billed": {…},
     "told_by_provider": …}

It grows as recordings do, so a page reads it while the proxy runs. A line that was cut, as by a
crash, is no line.
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


def folder() -> Path:
    """Return the folder of the proxy's runs, each a folder of its recordings with its ledger."""
    return paths.recordings() / "proxy"


def runs() -> list[Path]:
    """The folders of all runs that have a ledger, the newest first."""
    return sorted((path.parent for path in folder().glob(f"*/{FILE}")), reverse=True)


@dataclass(frozen=True)
class Passed:
    """One exchange as the ledger has it; `billed` and `status` are there when it is over."""

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

    @property
    def refused(self) -> bool:
        """True if it was answered with an error of HTTP, which caches and bills nothing."""
        return self.status is not None and self.status >= 400

    @property
    def breaks(self) -> dict[str, Any] | None:
        """The forecast of it, if that was a break that the provider did not refuse."""
        found = self.expected
        return found if found and found["breaks"] and not self.refused else None


@dataclass(frozen=True)
class Ledger:
    """A run: when it began (seconds since 1970), where it forwards to, its exchanges in order."""

    folder: Path
    at: float = 0.0
    upstream: str = ""
    passed: tuple[Passed, ...] = ()
    sessions: dict[str, list[Passed]] = field(default_factory=dict)


def read_ledger(run: Path) -> Ledger:
    """A run's ledger as far as it is written. Raises OSError where the file is gone."""
    at, upstream = 0.0, ""
    found: dict[int, dict[str, Any]] = {}
    files = sorted(run.glob("ledger*.jsonl"))
    for line in (line for file in files for line in _lines(file)):
        number = line.get("exchange")
        if line.get("format") == FORMAT:
            at, upstream = float(line.get("at") or 0.0), str(line.get("upstream") or "")
        elif isinstance(number, int):
            known = {key: line[key] for key in Passed.__dataclass_fields__ if key in line}
            found.setdefault(number, {}).update(known)
    empty = {"at": 0.0, "session": "", "title": "", "agent": "", "url": "", "file": ""}
    passed = tuple(Passed(**{**empty, **known, "number": n}) for n, known in found.items())
    sessions: dict[str, list[Passed]] = {}
    for each in passed:
        if each.session:
            sessions.setdefault(each.session, []).append(each)
    return Ledger(run, at, upstream, passed, sessions)


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
    """Return True if a proxy still writes this ledger: it locks the file as long as it runs."""
    with suppress(ImportError), open_regular_file(run / FILE) as file:  # Windows: nobody knows
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def written(run: Path) -> int:
    """Return the ledger's size in bytes: it grows when something has passed."""
    return sum(file.stat().st_size for file in run.glob("ledger*.jsonl"))


def dumped(line: dict[str, Any]) -> str:
    """A line of the ledger."""
    return json.dumps(line, ensure_ascii=False) + "\n"
