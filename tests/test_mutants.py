"""`benchmarks/mutants.py`: what it draws is one real change, the same for the same seed."""

from __future__ import annotations

import ast
import sys
import tomllib

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
