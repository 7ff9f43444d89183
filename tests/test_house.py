"""The ruler: the house is within `benchmarks/house.toml`, and the script counts what it says."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import house
import journeys

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


def test_the_house_is_within_its_limits() -> None:
    """Where this fails, something grew: take it back, or raise the limit and say why beside it."""
    counted = house.limited(*house.modules_of(ROOT)) | journeys.limited()
    limits = house.read_limits(house.LIMITS.read_text(encoding="utf-8"))
    assert counted.keys() == limits.keys()
    assert house.beyond(counted, limits) == []
    assert (limits["circles_of_rooms"][0], limits["circles_of_modules"][0]) == (0, 0)


def test_a_figure_beyond_its_limit_is_named() -> None:
    limits = house.read_limits("[rooms]\nmost = 3\n[lines]\nmost = 2_000\n")
    assert house.beyond({"rooms": 3, "lines": 2000}, limits) == []
    (line,) = house.beyond({"rooms": 3, "lines": 2001}, limits)
    assert line == "lines: 2,001, where house.toml has at most 2,000"


LIMIT = "[rooms]\nmost = 3\n"


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        (LIMIT, "[rooms]\nmost = 2\n", []),
        (LIMIT, "[rooms]\nmost = 4\n", ["rooms"]),
        (LIMIT, '[rooms]\nmost = 4\nwhy = "a server of its own"\n', []),
        (
            '[rooms]\nmost = 4\nwhy = "a server of its own"\n',
            '[rooms]\nmost = 5\nwhy = "a server of its own"\n',
            ["rooms"],
        ),
        (LIMIT, LIMIT + "[arrows]\nmost = 9\n", []),
        (LIMIT, "[arrows]\nmost = 9\n", ["rooms"]),
    ],
)
def test_a_limit_goes_up_with_a_new_reason_alone(before: str, after: str, named: list[str]) -> None:
    assert house.raised_without_reason(before, after) == named


def test_every_raised_limit_of_the_history_has_its_reason() -> None:
    """Each commit that changed the limits beside the one before it, and what is not committed.

    A later commit may add a reason that an earlier one left out.
    """
    path = house.LIMITS.relative_to(ROOT).as_posix()
    git = ["git", "-C", str(ROOT)]
    log = subprocess.run(
        [*git, "log", "--format=%H", "--first-parent", "--reverse", "--", path],
        capture_output=True,
        text=True,
        check=False,
    )
    if log.returncode or not log.stdout:
        pytest.skip("no history here: a raised limit is compared with nothing")
    texts = [
        subprocess.run(
            [*git, "show", f"{commit}:{path}"], capture_output=True, text=True, check=True
        ).stdout
        for commit in log.stdout.split()
    ]
    texts.append(house.LIMITS.read_text(encoding="utf-8"))
    reasons = house.read_limits(texts[-1])
    for before, after in pairwise(texts):
        unexplained = house.raised_without_reason(before, after)
        reasons_then = house.read_limits(after)
        assert [
            name
            for name in unexplained
            if name not in reasons or reasons[name][1] in ("", reasons_then[name][1])
        ] == []


def test_lower_limits_are_written_and_nothing_else() -> None:
    text = '# told\n[rooms]\nmost = 52\n\n[lines]\nmost = 102_000\nwhy = "more"\n'
    written = house.lowered(text, {"rooms": 30, "lines": 103_000})
    assert written == text.replace("52", "30")
    assert house.lowered(text, {"rooms": 60, "lines": 83_401}) == text.replace("102_000", "84_000")


def test_core_is_counted_without_the_plugins(tree: Path) -> None:
    (tree / "plugins").mkdir()
    (tree / "plugins" / "__init__.py").write_text("a = 1\nb = 2\n")
    package, beside = house.modules_of(tree)
    counted = house.limited(package, beside)
    assert counted["lines"] - counted["core_lines"] == 2


def test_a_journey_counts_each_room_and_each_crossing_once() -> None:
    from playground.base.json_numbers import is_finite
    from playground.nouns.messages import TextPart

    journey = journeys.Journey()
    journey.trace(lambda: [is_finite([1.0]), is_finite([2.0]), TextPart])
    assert journey.rooms == ["base"]
    assert journey.crossings == []
