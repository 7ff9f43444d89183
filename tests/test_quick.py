"""`make quick`: of a test with many cases it takes some, and which, a reader can predict."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

MANY = """
import pytest

@pytest.mark.parametrize("number", range(21))
def test_many(number): pass

@pytest.mark.parametrize("number", [0, 1])
def test_two(number): pass

class TestOthers:
    @pytest.mark.parametrize("number", range(4))
    def test_many(self, number): pass

def test_one(): pass

@pytest.mark.long
@pytest.mark.parametrize("number", range(4))
def test_long(number): pass
"""


def chosen(folder: Path, *options: str) -> list[str]:
    """The cases that are run, by pytest itself, with our conftest beside a file of its own."""
    tests = folder / "tests"
    if not tests.exists():
        tests.mkdir()
        for name in ("conftest.py", "golden_answers.py", "leftovers.py"):
            shutil.copy(ROOT / "tests" / name, tests)
        (tests / "test_it.py").write_text(MANY)
        (folder / "pytest.ini").write_text("[pytest]\nmarkers = long: takes minutes\n")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *options],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # they take seconds to load
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return re.findall(r"::((?:Test|test).*)", done.stdout)


@pytest.mark.parametrize(("most", "kept"), [(5, [0, 5, 10, 15, 20]), (1, [0])])
def test_cases_are_kept_evenly_from_the_first_to_the_last(
    tmp_path: Path, most: int, kept: list[int]
) -> None:
    found = chosen(tmp_path, "--cases", str(most))
    assert [f"test_many[{number}]" for number in kept] == [c for c in found if c[:9] == "test_many"]
    assert len([case for case in found if case.startswith("TestOthers")]) == min(most, 4)
    assert [case for case in found if case[:8] == "test_two"][:1] == ["test_two[0]"]
    assert "test_one" in found


def test_without_the_option_every_case_runs_but_the_long_ones(tmp_path: Path) -> None:
    found = chosen(tmp_path)
    assert len(found) == 21 + 2 + 4 + 1
    assert not [case for case in found if "long" in case]
    assert chosen(tmp_path, "-m", "long", "--cases", "2") == ["test_long[0]", "test_long[3]"]


def test_what_quick_names_is_there() -> None:
    """A test that was renamed would end `make quick` before it begins."""
    named = re.findall(r"tests/(\w+\.py)(?:::(\w+))?", (ROOT / "Makefile").read_text())
    assert len(named) > 10
    for file, test in named:
        assert f"def {test}" in (ROOT / "tests" / file).read_text(), (file, test)
