"""What the comparisons with an oracle share: its environment, outcomes, and a tally of cases.

An oracle is installed by name into an environment of its own, never among our dependencies.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
RAISES: Final = "raises"
MOST_SHOWN: Final = 3
# what our package needs where no app is started
OURS: Final = ("click", "docstring_parser", "jinja2", "pydantic", "pyyaml", "regex", "rich")


def run_beside(*packages: str, without_dependencies: tuple[str, ...] = ()) -> None:
    """Go on in an environment that has these packages: returns there, and never returns here.

    The environment lies in the folder for temporary files and is made once for each set of names.
    """
    names = [*packages, *without_dependencies]
    digest = hashlib.sha256(" ".join([sys.version, *names]).encode()).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"playground-oracle-{digest}"
    python = folder / "bin" / "python"
    if Path(sys.prefix) == folder:
        return
    if not (folder / "ready").exists():
        print(f"installing {', '.join(names)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet"]
        if packages:
            subprocess.run([*install, *packages], check=True, stderr=subprocess.DEVNULL)
        if without_dependencies:
            command = [*install, "--no-deps", *without_dependencies]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        (folder / "ready").touch()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([str(python), *sys.argv], env=environment)
    sys.exit(done.returncode)


def numbers(given: list[str], *defaults: int) -> list[int]:
    """Return the numbers of the command line, with defaults for those that are not given."""
    read = [int(value) for value in given]
    return [*read, *defaults[len(read) :]]


def outcome(run: Callable[[], Any], *faults: type[Exception]) -> Any:
    """Return the result of `run`, or RAISES if it raises one of these faults; other errors go
    on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run()
        except faults:
            return RAISES


@dataclass
class Tally:
    """A count of the cases in which both give the same; it prints the first in which they do
    not."""

    name: str
    cases: int = 0
    equal: int = 0
    raising: int = 0

    def add(self, theirs: Any, ours: Any) -> None:
        """Count one case. Values that JSON cannot hold are compared by their text."""
        same = _written(theirs) == _written(ours)
        self.cases += 1
        self.equal += same
        self.raising += same and isinstance(ours, str) and ours.startswith(RAISES)
        if not same and self.cases - self.equal <= MOST_SHOWN:
            print(f"--- {self.name}:\n{differing(theirs, ours)}")

    def tell(self) -> None:
        share = 100 * self.equal / max(self.cases, 1)
        both = f", {self.raising:,} raise in both" if self.raising else ""
        print(f"{self.name}: {self.equal:,} of {self.cases:,} equal ({share:.1f} %){both}")


def differing(theirs: Any, ours: Any) -> str:
    """Return both as text, from a little before the first character in which they differ."""
    x, y = _written(theirs), _written(ours)
    at = next((i for i, (a, b) in enumerate(zip(x, y, strict=False)) if a != b), 0)
    start = max(0, at - 60)
    return f"  theirs …{x[start : at + 240]}\n  ours   …{y[start : at + 240]}"


def _written(value: Any) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)
