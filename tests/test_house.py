"""The script that measures the house counts what it says, on a tree small enough to see."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

ONE = '''"""Said once."""
# why
from own import two

def public(a):  # beside code
    """Two lines
    of text."""
    def _inner():
        return 1
    return [x for x in a if x and a or not x]
'''
TWO = "def _private():\n    from .three import deep\n    while True:\n        pass\n"
THREE = "from own.four import x\nclass C:\n    def __init__(self):\n        pass\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    own = tmp_path / "own"
    (own / "three").mkdir(parents=True)
    (own / "__init__.py").write_text("")
    (own / "one.py").write_text(ONE)
    (own / "two.py").write_text(TWO)
    (own / "three" / "__init__.py").write_text(THREE)
    (own / "three" / "turning.py").write_text("")
    (own / "four.py").write_text("from own.two import _private\n")
    return own


def measured(*arguments: str) -> dict[str, str]:
    command = [sys.executable, str(ROOT / "benchmarks" / "house.py"), *arguments]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = (line.split("  ", 1) for line in text.splitlines() if "  " in line)
    return {name: cell.strip() for name, cell in rows}


def test_a_small_tree_is_counted_as_told(tree: Path) -> None:
    seen = measured(str(tree))
    assert seen["modules"] == "6"
    assert seen["functions"] == "4"
    # public 6, _inner 2, _private 4, __init__ 2 lines; complexity 1+2+2, 1, 2, 1
    assert seen["function lines: median / p90 / max"] == "4 / 6 / 6"
    assert seen["branches per 100 function lines"] == f"{100 * 9 / 14:.1f}"
    # two lines with a comment, of 17 with code, of which three are docstrings
    assert seen["comments per 100 code lines"] == f"{100 * 2 / 17:.1f}"
    assert seen["... and docstrings"] == f"{100 * 5 / 14:.1f}"
    assert seen["private functions per public"] == "2.00"


def test_the_densest_functions_are_listed_but_no_short_ones(tree: Path) -> None:
    seen = measured(str(tree), "--dense", "3")
    assert seen["own.one:5 public"].split() == ["5", "6"]
    assert not [name for name in seen if "_inner" in name or "_private" in name]


def test_a_circle_is_one_floor_and_is_named(tree: Path) -> None:
    seen = measured(str(tree))
    assert seen["rooms"] == "5"
    assert seen["arrows between rooms"] == "4"  # one-two, two-three, three-four, four-two
    assert seen["floors"] == "2"
    assert seen["circles of rooms"] == "1"
    assert seen["circles of modules, their sizes"] == "3"
    assert seen["modules named ...ing / at the top"] == "1 / 0"


@pytest.mark.long
def test_two_trees_stand_side_by_side(tree: Path) -> None:
    seen = measured(str(tree), "--against", str(ROOT))
    assert seen["modules"].split()[0] == "6"
    assert int(seen["modules"].split()[1]) > 200
