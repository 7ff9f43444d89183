"""Other projects' cases, where they lie beside the checkout in ../shared."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from conftest import ROOT

from playground.dialects import dialect_names

SCORER = ROOT.parent / "shared" / "conformance" / "score_parsing.py"

pytestmark = pytest.mark.skipif(
    not SCORER.exists(),
    reason="NOT RUN: ../shared/conformance is not beside this checkout",
)


def test_parsers_against_the_cases_of_other_projects() -> None:
    command = [sys.executable, str(SCORER), "--chunks", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    table = json.loads(done.stdout)
    assert table["total"].get("raised", 0) == 0
    assert table["total"].get("chunking", 0) == 0
    ours = [row for name, row in table["dialects"].items() if name in dialect_names()]
    cases = sum(row["cases"] for row in ours)
    assert cases > 1_100
    assert sum(row["calls"] for row in ours) / cases > 0.88
    assert sum(row["passed"] for row in ours) / cases > 0.77
