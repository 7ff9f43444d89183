"""Which tests reach a line: a map that coverage.py makes, with a context for each case of a test.

`mutants.py` runs only what reaches a mutant. The map is made with ten cases of each test, so a
case that is not in it may still reach a line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from coverage import CoverageData
from mutations import ROOT, Mutant

PYTEST = ["-q", "-s", "-p", "no:cacheprovider", "-m", "not browser and not slow"]
PYTEST += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
TIMES: dict[str, float] = {}


class CoverageMap:
    """A map from the lines of a room to the cases that reach them, with the time of each case; it
    has few cases of each test."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder, self.names = folder, names
        self.by_path: dict[str, dict[int, list[str]]] = {}
        times = folder / "times.json"
        self.seconds: dict[str, float] = json.loads(times.read_text()) if times.exists() else {}
        self.seconds_of_test: dict[str, float] = {}
        for case, seconds in sorted(self.seconds.items(), key=lambda item: item[1]):
            self.seconds_of_test[case.partition("[")[0]] = seconds  # of the slowest case

    def files(self) -> list[str]:
        found = {file for name in self.names for file in (ROOT / "tests").glob(f"test_{name}.py")}
        return sorted(str(file.relative_to(ROOT)) for file in found)

    def measure(self, files: Sequence[str], workers: int) -> None:
        """Measure files of tests into the map."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "settings").write_text("[run]\nbranch = False\n")
        command = [
            sys.executable,
            "-m",
            "pytest",
            *PYTEST,
            "-n",
            f"{workers}",
            "--cases=10",
            *files,
        ]
        command += ["--cov=playground", "--cov-report=", "--cov-context=test", "--cov-append"]
        command += [f"--cov-config={self.folder}/settings", "-p", "reaching"]
        added = {"COVERAGE_FILE": f"{self.folder}/coverage", "MUTANTS_MAP": str(self.folder)}
        added["PYTHONPATH"] = str(Path(__file__).parent)
        with (self.folder / "log").open("w") as log:
            environment = os.environ | added
            subprocess.run(command, cwd=ROOT, env=environment, stdout=log, stderr=log, check=False)

    def lines(self, path: str) -> dict[int, list[str]]:
        """Return the cases that reach each line of a file; "" stands for imports."""
        if path not in self.by_path:
            data = CoverageData(str(self.folder / "coverage"))
            data.read()
            self.by_path[path] = {
                line: [name.rpartition("|")[0] for name in names]
                for line, names in (data.contexts_by_lineno(str(ROOT / path)) or {}).items()
            }
        return self.by_path[path]

    def reaching(self, mutant: Mutant) -> set[str]:
        """Return the cases that reach a mutant's lines, and "" if an import does."""
        lines = self.lines(mutant.path)
        return {case for line in mutant.lines for case in lines.get(line, ())}

    def cases(self, mutant: Mutant) -> list[str]:
        """Return the cases that reach a mutant, or its module where an import does or none.

        If only imports run a module, these are all cases of the room.
        """
        cases = self.reaching(mutant) - {""} if mutant.in_function else set()
        if not cases:
            cases = {case for found in self.lines(mutant.path).values() for case in found} - {""}
        if not (cases or mutant.in_function):
            cases = set(self.seconds)
        return sorted(cases, key=lambda case: (self.seconds.get(case, 1.0), case))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    TIMES[report.nodeid] = TIMES.get(report.nodeid, 0) + report.duration


def pytest_sessionfinish() -> None:
    """Keep the times of the cases, if `CoverageMap.measure` made this module a plugin."""
    if (folder := os.environ.get("MUTANTS_MAP")) and "PYTEST_XDIST_WORKER" not in os.environ:
        file = Path(folder) / "times.json"
        before = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps(before | TIMES))
