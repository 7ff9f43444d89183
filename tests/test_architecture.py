"""The map is true: every place in docs/architecture.md is there, and every room is on it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from conftest import ROOT
from test_layers import RANK, ROOMS

DOCUMENT = ROOT / "docs" / "architecture.md"
PACKAGE = ROOT / "playground"
PLAIN = re.sub(r"^```.*?^```", "", DOCUMENT.read_text(encoding="utf-8"), flags=re.S | re.M)
HOPS = re.findall(r"`([\w/]+\.(?:py|js)):([\w.]+)`", PLAIN)
PATHS = re.findall(r"`([\w/]+(?:\.(?:py|js|json|toml)|/\w+/?))`", PLAIN)


@pytest.mark.parametrize("path", PATHS)
def test_a_file_or_folder_of_the_map_exists(path: str) -> None:
    places = (PACKAGE / path, ROOT / path, *PACKAGE.glob(f"plugins/*/{path}"))
    assert any(place.exists() for place in places)


@pytest.mark.parametrize(("file", "name"), HOPS, ids=lambda part: str(part))
def test_a_place_of_the_map_exists(file: str, name: str) -> None:
    path = PACKAGE / file
    assert path.exists()
    assert name in names_of(path)


def names_of(path: Path) -> set[str]:
    """Functions, classes, methods and module-level names; of JavaScript, functions and methods."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        return set(re.findall(r"^(?:  |function |export function )(\w+)\(.*\{$", text, re.M))
    found = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            methods = [inner for inner in node.body if isinstance(inner, ast.FunctionDef)]
            found |= {node.name, *(f"{node.name}.{method.name}" for method in methods)}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def test_the_four_ways_are_long_enough_to_be_ways() -> None:
    ways = [part for part in PLAIN.split("\n## ") if part.startswith(("From ", "What passes "))]
    assert len(ways) == 4
    for way in ways:
        assert len(re.findall(r"^- `[\w/]+\.(?:py|js):[\w.]+` .*\.$", way, re.M)) >= 15


def test_every_room_stands_on_its_floor_of_the_map() -> None:
    table = PLAIN[PLAIN.index("| floor |") : PLAIN.index("An answer of a question")]
    rows = [line.split("|")[2] for line in table.splitlines()[2:] if line.startswith("|")]
    shown = [{name.replace("/", ".") for name in re.findall(r"`([\w/]+)`", row)} for row in rows]
    for floor, rooms in zip(shown, ROOMS, strict=True):
        assert floor == rooms
    assert set().union(*shown) == set(RANK)


def test_every_law_is_kept_by_a_file_that_exists() -> None:
    files = re.findall(r"`((?:tests|benchmarks)/\w+\.py)`", PLAIN)
    assert len(files) > 12
    for file in files:
        assert (ROOT / file).exists(), file
