"""The list of pages: each has its files, opens, and is added as CONTRIBUTING says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
from test_pages import page

from playground.app.pages import (
    CORE_PAGES,
    PAGES,
    PageEntry,
    listed,
    older_addresses,
    parent,
)
from playground.base import paths

UI = ROOT / "playground" / "app"
NO_PAGES = {"__init__", "main", "navigation", "pages", "server", "state"} | {"answers"}  # Compare's
ADDED = "added_by_a_test"
OPENED = """
import sys
from pathlib import Path
from streamlit.testing.v1 import AppTest
from playground.base import paths
from playground.app.pages import (
    CORE_PAGES,
    PAGES,
    PageEntry,
    listed,
    older_addresses,
    parent,
)
from playground.base import paths
assert Path.cwd() in paths.app_file().parents, paths.app_file()
(name,) = sys.argv[1:]
assert name in [entry.name for entry in PAGES], PAGES
from streamlit import config
config.set_option("client.showErrorDetails", "full")
app = AppTest.from_file(str(paths.app_file()), default_timeout=60)
app.query_params["session"] = "02-parallel-calls"
app.run()
app.switch_page(str(paths.pages() / f"{name}.py")).run()
assert not app.exception, app.exception
print(app.dataframe[0].value.values.tolist())
"""


def test_every_page_has_a_script_and_parts_of_its_name() -> None:
    names = [entry.name for entry in PAGES]
    assert len(set(names)) == len(names)
    pages = {entry.name for entry in listed()}
    assert {path.stem for path in (ROOT / "pages").glob("*.py")} == pages
    core = {entry.name for entry in CORE_PAGES}
    assert {path.stem for path in UI.glob("*.py")} - NO_PAGES == core
    for entry in PAGES:
        assert (entry.parts == "") == (entry.name in core)
        assert not entry.parts or (ROOT / f"{entry.parts.replace('.', '/')}.py").exists()
    for entry in PAGES:
        assert entry.question.endswith("?")
        if entry.name not in pages:  # a view: its page draws it
            continue
        script = (ROOT / "pages" / f"{entry.name}.py").read_text()
        others = "|".join(name for name in names if name != entry.name)
        assert not re.search(rf"from playground\.app import .*\b({others})\b", script), entry.name


def test_what_pages_share_knows_no_page() -> None:
    names = "|".join(entry.name for entry in CORE_PAGES)
    for path in [*(UI / "shared").glob("*.py"), UI / "state.py"]:
        assert not re.search(rf"playground\.app(\.| import )({names})\b", path.read_text()), path


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_every_page_opens_beside_the_sidebar(entry: PageEntry) -> None:
    app = page(entry.name, session="02-parallel-calls")
    assert not app.error
    assert app.selectbox(key="session").value == "02-parallel-calls"


def test_a_page_is_added_as_contributing_says(tmp_path: Path) -> None:
    """In a copy of the checkout, with the files of its recipe and nothing else."""
    for folder in ("playground", "pages", "sample_sessions", ".streamlit"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    section = (ROOT / "docs" / "contributing" / "page.md").read_text(encoding="utf-8")
    files = re.findall(r"(?m)^`([\w/]+\.py)`(?:.+\n)+\n```python\n((?:.*\n)*?)```", section)
    assert len(files) == section.count("```python") <= 4
    for name, given in files:
        # under another name than the text's: whoever followed it has a page `calls` by now
        code = given.replace('PageEntry("calls"', f'PageEntry("{ADDED}"')
        code = code.replace("app import calls,", f"app import {ADDED} as calls,")
        path = tmp_path / name.replace("calls.py", f"{ADDED}.py")
        if path.exists():  # a line of the list
            source = path.read_text()
            end = source.index("\n)\n", source.index("PAGES: Final = ("))
            path.write_text(f"{source[:end]}\n    {code.rstrip()},{source[end:]}")
        else:
            path.write_text(code)
    done = subprocess.run(
        [sys.executable, "-c", OPENED, ADDED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == "[['get_weather', 1], ['get_tides', 1]]"


@pytest.mark.parametrize(("address", "entry"), older_addresses().items())
def test_an_older_address_leads_on_with_its_values(address: str, entry: PageEntry) -> None:
    app = AppTest.from_file(str(paths.app_file()), default_timeout=60)
    app.query_params["session"] = "06-cache-eight-turns"
    app._page_hash = calc_hash(address)
    app.run()
    assert not app.exception
    assert app.title[0].value == parent(entry).title
    assert app.selectbox(key="session").value == "06-cache-eight-turns"
    shown = app.session_state.get("view", "")
    assert shown == (entry.view or shown)
