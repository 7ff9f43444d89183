"""The list of pages: each has its files, and opens."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT
from golden_answers import Golden, page_elements
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
FILLED_IN = ("compare", "payload", "diff")  # after other threads: not always alike
FILLED_IN = ("compare", "payload", "diff")  # other threads fill in what they count
NO_PAGES = {"__init__", "main", "navigation", "pages", "server", "state"} | {"answers"}  # Compare's


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
def test_every_page_opens_beside_the_sidebar(entry: PageEntry, golden: Golden) -> None:
    app = page(entry.name, session="02-parallel-calls")
    assert not app.error
    assert app.selectbox(key="session").value == "02-parallel-calls"
    golden(page_elements(app, with_components=entry.name not in FILLED_IN))


@pytest.mark.parametrize(("address", "entry"), older_addresses().items())
def test_an_older_address_leads_on_with_its_values(address: str, entry: PageEntry) -> None:
    app = AppTest.from_file(str(paths.app_file()), default_timeout=300)
    app.query_params["session"] = "06-cache-eight-turns"
    app._page_hash = calc_hash(address)
    app.run()
    assert not app.exception
    assert app.title[0].value == parent(entry).title
    assert app.selectbox(key="session").value == "06-cache-eight-turns"
    shown = app.session_state.get("view", "")
    assert shown == (entry.view or shown)
