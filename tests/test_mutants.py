"""`benchmarks/mutants.py`: what it draws is one real change, the same for the same seed."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

from mutations import changes, compiled, draw, mutant_of, parsed

SETTINGS = tomllib.loads((ROOT / "benchmarks" / "mutants.toml").read_text(encoding="utf-8"))


def test_a_seed_draws_the_same_changes_and_each_changes_the_code() -> None:
    drawn = draw("servers", ["servers"], 12, seed=7)
    assert drawn == draw("servers", ["servers"], 12, seed=7)
    assert drawn != draw("servers", ["servers"], 12, seed=8)
    for mutant in drawn:
        before, after = parsed(mutant.path), mutant.tree()
        assert ast.dump(before) != ast.dump(after), mutant
        assert compiled(before, mutant.path) != compiled(after, mutant.path), mutant


EXAMINED = """
import sys
from pathlib import Path
sys.path.insert(0, "benchmarks")
from mutants import Examiner
from mutations import changes, mutant_of, parsed
from reaching import CoverageMap

path, text = "playground/parsing/values.py", "indent: int = 0"
mutants = (mutant_of("", path, index) for index in range(len(list(changes(parsed(path))))))
mutant = next(mutant for mutant in mutants if mutant.text == text)
reach = CoverageMap(Path(sys.argv[1]), ["written_forms"])
print([outcome.fate for outcome in Examiner(reach, 60, 1).examine([mutant])])
"""


@pytest.mark.slow
def test_a_change_that_only_an_import_runs_is_seen_by_the_tests(tmp_path: Path) -> None:
    """Pytest rewrites our modules too, and found them unchanged."""
    command = [sys.executable, "-c", EXAMINED, str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.stdout == "['killed']\n", ended.stderr


def test_what_is_called_equivalent_is_still_in_the_code() -> None:
    for named in SETTINGS["equivalent"]:
        assert named["reason"]
        found = [
            mutant
            for index in range(len(list(changes(parsed(named["file"])))))
            if (mutant := mutant_of("", named["file"], index)).text == named["line"]
        ]
        assert named["change"] in [mutant.change for mutant in found], named


def test_the_files_of_each_room_exist() -> None:
    for room in SETTINGS["rooms"].values():
        assert all((ROOT / "playground" / folder).is_dir() for folder in room["code"])
        assert all(list((ROOT / "tests").glob(f"test_{name}.py")) for name in room["tests"])
