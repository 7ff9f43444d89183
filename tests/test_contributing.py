"""Contributions: each recipe of docs/contributing gives one that keeps the laws, in a copy.

The recipes' commands are run as a newcomer would: `playground new`, the places that say FILL IN,
the tests that the recipe names.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

from playground.plugins.contributing.recipes import Recipe, read_recipe

pytestmark = pytest.mark.early

OPEN = "FILL" + " IN"
KINDS = ("dialect", "notation", "format", "rule", "page")
NAMES = {kind: f"quay-{kind}" for kind in KINDS}


def places_to_fill_in(tree: Path) -> list[str]:
    """The lines of a contribution that still hold a recipe's own text."""
    files = [file for room in ("playground", "pages", "tests") for file in (tree / room).rglob("*")]
    return [
        f"{file.relative_to(tree)}:{number}: {line.strip()}"
        for file in sorted(files)
        if file.suffix in (".py", ".json") and "contributing" not in str(file.relative_to(tree))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if OPEN in line
    ]


def test_nothing_is_left_to_fill_in() -> None:
    left = places_to_fill_in(ROOT)
    assert not left, "\n".join(["write your own text, and delete these comments:", *left])


def recipe(kind: str) -> Recipe:
    return read_recipe(ROOT, kind).renamed(NAMES[kind])


def run(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=tree,
        env={
            **os.environ,
            "PYTHONPATH": str(tree),
            "PYTEST_ADDOPTS": f"{os.environ['PYTEST_ADDOPTS']} -p no:cacheprovider",
        },
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the checkout by `git ls-files`, with what is compiled already."""
    tree = tmp_path_factory.mktemp("checkout")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    for compiled in [*(ROOT / "playground").rglob("__pycache__"), ROOT / "tests" / "__pycache__"]:
        if compiled.is_dir():
            shutil.copytree(compiled, tree / compiled.relative_to(ROOT))
    yield tree
    shutil.rmtree(tree)


def test_every_recipe_gives_a_contribution_that_keeps_the_laws(tree: Path) -> None:
    for kind in KINDS:
        done = run(tree, "-m", "playground", "new", kind, NAMES[kind])
        assert done.returncode == 0, done.stderr
        paths = [step.path for step in recipe(kind).steps]
        assert [line for line in done.stdout.splitlines() if line.startswith("written: ")]
        assert all(f"written: {path}" in done.stdout for path in paths)
        assert all(f"  {line}\n" in done.stdout for line in recipe(kind).tests)
    left = places_to_fill_in(tree)
    assert {line.partition(":")[0] for line in left} >= {
        step.path for kind in KINDS for step in recipe(kind).steps if not step.place
    }
    fill_in(tree)
    assert places_to_fill_in(tree) == []
    # what of the documents a contribution is in; slips take more time than all others
    documents = [f"{NAMES['dialect']}.md", "dialects.md", "importing.md", "pages.md"]
    done = run(tree, "docs/generate.py", *documents, "cache-rules.md")
    assert done.returncode == 0, done.stderr
    # what a recipe names, and all laws over dialects, in one process: each imports the project
    names = {"test_families"}
    files = {
        f"tests/{file.name}"
        for file in (tree / "tests").glob("test_*.py")
        if re.search(r"\b(DIALECTS|GENERAL|WITH_GRAMMAR)\b", file.read_text(encoding="utf-8"))
    }
    for kind in KINDS:
        for line in recipe(kind).tests:
            if line.startswith("pytest"):
                files |= set(re.findall(r"tests/test_\w+\.py", line))
                names |= {name.strip('"') for name in re.findall(r'-k ("[^"]+"|\S+)$', line)}
    chosen = f"({' or '.join(sorted(names))}) and not every_command"  # LiteLLM: 6 s, and no rule
    done = run(tree, "-m", "pytest", "-rf", *sorted(files), "-k", chosen)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert run(tree, "-c", NEWCOMER).stdout.splitlines() == [
        "{'a': 7}",
        "trained on it: Useful 7B (chat template, 2026-11)",
        "# quay-dialect",
    ]


NEWCOMER = """
import playground as pg
from playground.dialects import get_dialect

tool = {"name": "f", "input_schema": {"properties": {"a": {"type": "integer"}}}}
call = get_dialect("quay-dialect").format_example("f", {"a": 7})
print(pg.parse(call, dialect="quay-dialect", tools=[tool]).tool_calls[0].arguments)
print(pg.dialect_for("acme/Useful-7B-Instruct").reason)
print(pg.guide_for("quay-dialect").markdown().splitlines()[0])
"""


def fill_in(tree: Path) -> None:
    """Fill in as the recipes' examples are; the rows of the table are what the dialect writes."""
    for kind in KINDS:
        for step in recipe(kind).steps:
            path = tree / step.path
            text = re.sub(rf"(?m)^ *# {OPEN}.*\n|  # {OPEN}.*$", "", path.read_text())
            path.write_text(re.sub(rf'"source": "{OPEN}.*"', '"source": "quay.example/docs"', text))
    (path,) = (tree / step.path for step in recipe("dialect").steps if step.path.endswith("json"))
    inner = {
        "one": "list_files>\n",
        "typed": "write_file>\n<path>a b.py</path>\n<mode>420</mode>\n<note>null</note>\n",
        "lines": 'write_file>\n<path>x</path>\n<content>if "a":\n  <b>\n</content>\n',
    }
    text = path.read_text()
    for case, body in inner.items():
        row = json.dumps(f"<quay_dialect {body}</quay_dialect>")
        (hint,) = re.findall(rf'"{case}": ("{OPEN}.*")', text)
        text = text.replace(hint, row)
    path.write_text(text)


def test_new_overwrites_nothing_and_works_in_a_checkout_alone(tree: Path, tmp_path: Path) -> None:
    before = (tree / "playground" / "dialects" / "__init__.py").read_bytes()
    for name, said in (
        ("hermes", "playground/dialects/hermes.py: this file exists already"),
        ("glm", "playground/dialects/__init__.py: 'glm' is registered already"),
        ("Use Tool", "'Use Tool' cannot be the name of a contribution"),
    ):
        done = run(tree, "-m", "playground", "new", "dialect", name)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
    assert (tree / "playground" / "dialects" / "__init__.py").read_bytes() == before
    assert not (tree / "playground" / "dialects" / "glm.py").exists()
    done = subprocess.run(
        [sys.executable, "-m", "playground", "new", "page", "quay"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert "not inside a checkout of the project" in done.stderr
