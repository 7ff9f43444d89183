"""`make check`: the tests that a change touches, the nearest first, within seconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from touched import changed_files, nearest


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("playground/cache/lint.py", {"test_cache_lint.py"}),
        ("playground/dialects/hermes.py", {"test_table.py", "test_families.py"}),
        ("playground/plugins/importers/goose.py", {"test_importing.py", "test_import_counts.py"}),
        ("playground/cache/rules/groq.json", {"test_cache_laws.py", "test_cache_truth.py"}),
        ("tests/strategies.py", {"test_table.py", "test_laws.py"}),
        ("docs/own-dialect.md", {"test_check_dialect.py", "test_documents.py"}),
    ],
)
def test_the_tests_of_a_file_are_among_the_nearest(changed: str, expected: set[str]) -> None:
    found = nearest([ROOT / changed])
    assert expected <= {file.name for _, file in found[:24]}
    assert [distance for distance, _ in found] == sorted(distance for distance, _ in found)


def test_what_git_names_is_what_differs_from_main_and_what_is_new(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-b", "main")
    for name in ("same", "committed", "edited", "deleted"):
        (tmp_path / name).write_text("a")
    git("add", ".")
    git("commit", "-m", "one")
    git("checkout", "-b", "mine")
    (tmp_path / "committed").write_text("b")
    git("commit", "-am", "two")
    (tmp_path / "edited").write_text("b")
    (tmp_path / "new").write_text("b")
    (tmp_path / "deleted").unlink()
    assert {file.name for file in changed_files(tmp_path)} == {"committed", "edited", "new"}


def test_after_the_seconds_the_other_tests_are_left_out_and_counted() -> None:
    words = ["-m", "pytest", "-n", "0", "--seconds", "0", "tests/test_families.py"]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    assert "left out of test_families.py, after 0 seconds" in done.stdout
    assert " passed" not in done.stdout
