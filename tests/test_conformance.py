"""Other projects' cases, where they lie beside the checkout in ../shared."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib

import pytest
from conftest import ROOT

SCORER = ROOT.parent / "shared" / "conformance" / "score_parsing.py"
CASES = SCORER.with_name("law_cases.jsonl")

pytestmark = [
    pytest.mark.early,
    pytest.mark.skipif(
        not SCORER.exists(),
        reason="NOT RUN: ../shared/conformance is not beside this checkout",
    ),
]


def test_parsers_against_the_cases_of_other_projects() -> None:
    command = [sys.executable, str(SCORER), str(CASES), "--chunks", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    table = json.loads(done.stdout)
    assert table["total"].get("raised", 0) == 0
    assert table["total"].get("chunking", 0) == 0
    cases, disputed = table["total"]["cases"], table["total"].get("disputed", 0)
    assert cases > 1_200
    assert table["total"].get("no dialect", 0) == 0
    assert disputed <= 20
    assert table["total"]["passed"] / cases > 0.95  # a disputed case is not a passed one


@pytest.mark.long
def test_servers_hand_over_what_their_own_suites_say() -> None:
    cases = SCORER.with_name("server_cases.jsonl")
    command = [sys.executable, str(SCORER), str(cases), "--servers", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    total = json.loads(done.stdout)["total"]
    assert total.get("raised", 0) == 0
    assert total["passed"] / total["cases"] > 0.96  # a disputed case is not a passed one


def test_every_dispute_is_a_case_and_says_why() -> None:
    tables = tomllib.loads((ROOT / "tests" / "disputes.toml").read_text())
    disputes = [*tables["dispute"], *tables["habit"]]
    known = {json.loads(line)["id"] for line in CASES.read_text(encoding="utf-8").splitlines()}
    assert {dispute["id"] for dispute in disputes} <= known
    assert all(len(dispute["reason"]) > 20 for dispute in disputes)


# Streams whose expected reply lacks what the provider sent: whole arguments that no delta brought
# (LM Studio), patches and commands of tools that the client runs, arguments by JSON path.
FULLER_THAN_EXPECTED = (
    "google-stream-tool-call-arguments",
    "google-vertex-stream-tool-call-arguments",
    "lmstudio-tool-call",
    "openai-apply-patch-tool",
    "openai-local-shell-tool",
    "openai-shell-",
    "tool_search_streaming",
)


def test_real_streams_come_out_whole() -> None:
    scorer = SCORER.with_name("score_streams.py")
    command = [sys.executable, str(scorer), "--bytes", "--show", "100"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    failed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("--- ")]
    explained = [name for name in failed if any(part in name for part in FULLER_THAN_EXPECTED)]
    assert failed == explained
    total = done.stdout.splitlines()[-1]
    assert "raised 0, chunking differs 0" in total
    streams = int(total.split("/")[1].split()[0])
    assert f"text {streams}, reasoning {streams}" in total
    assert f"api right {streams}, error kept {streams}" in total
    assert len(failed) <= 0.025 * streams
