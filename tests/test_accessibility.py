"""Every page in both themes against WCAG 2.2 AA as axe-core checks it, and at a phone's width."""

from __future__ import annotations

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pytest
from conftest import ROOT
from passed_runs import leave_run
from playwright.sync_api import Browser, Page, expect
from serving import CHROMIUM, App, widened
from test_browser_frame import BEYOND

import playground as pg
from playground.app.pages import PAGES, PageEntry, parent
from playground.plugins.corpus.building import build_corpus

sys.path.insert(0, str(ROOT / "benchmarks"))

import corpus_data

pytestmark = pytest.mark.browser

AXE = find_spec("axe_playwright_python")
if (CHROMIUM is None or AXE is None) and not os.environ.get("CI"):
    pytest.skip("needs chromium and axe-playwright-python", allow_module_level=True)

expect.set_options(timeout=12_000)

SESSIONS = {"replay": "05-call-in-a-fence&step=20", "cache": "12-long-tool-run"}
OTHER_VIEWS = [
    "compare?view=Counts",
    "compare?view=Lines",
    "dialects?guide=hermes",
    "cache?session=12-long-tool-run&shown=All+policies",
    "replay?session=05-call-in-a-fence&columns=xml,hermes,server:vllm,server:ollama&listed=Detect",
]
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# the two rules of these levels that look at colours: nothing else differs in the other theme
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
ASKED: dict[Literal["light", "dark"], object] = {"light": LEVELS, "dark": COLOURS}
CHECK = """async (asked) => {
  const found = await axe.run(document, { runOnly: asked, resultTypes: ["violations"] })
  return found.violations.flatMap(rule => rule.nodes.map(node =>
    `${rule.id}: ${node.target.flat().join(" ")}: ${node.failureSummary}`))
}"""
# a button goes over into the other theme's colours, and is measured when it is there
STILL = """() => !document.getAnimations().some(each =>
  each.playState === "running" && Number.isFinite(each.effect.getComputedTiming().endTime))"""
HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
  .filter(node => node.checkVisibility()).map(node => Number(node.tagName[1]))"""


@pytest.fixture(scope="module")
def page(browser: Browser, app: App) -> Page:
    """One page for all tests: another theme or width needs no other load."""
    url = app.emptied()
    leave_run(app.folder / "home", "an agent")
    page = browser.new_context(base_url=url).new_page()
    page.set_default_timeout(60_000)
    return page


def opened(page: Page, path: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(f"/{path}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    settled(page)


def settled(page: Page) -> None:
    """Nothing runs, and nothing of an older run stands there paler."""
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    expect(page.locator("[data-stale=true], [data-testid=stSkeleton]")).to_have_count(0)


def violations(page: Page, app: bool = True) -> list[Any]:
    if not page.evaluate("() => Boolean(window.axe)"):
        assert AXE and AXE.origin, "CI must have axe-playwright-python"
        page.evaluate(Path(AXE.origin).with_name("axe.min.js").read_text(encoding="utf-8"))
    found = []
    for scheme, asked in ASKED.items():
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        if app:
            expect(page.locator(".stApp")).to_have_css("color-scheme", scheme)
        page.wait_for_function(STILL)
        found += [f"{scheme}: {each}" for each in page.evaluate(CHECK, asked)]
    return found


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_a_page_is_for_everybody(page: Page, entry: PageEntry) -> None:
    opened(page, f"{entry.name}?session={SESSIONS.get(entry.name, '02-parallel-calls')}")
    assert violations(page) == []
    expect(page).to_have_title(f"{parent(entry).title} · Dialect Playground")
    levels = page.evaluate(HEADINGS)
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False))
    for width in (900, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(150)
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth + 1"), width
        bar = page.locator(".st-key-bar")
        assert bar.evaluate("bar => bar.getBoundingClientRect().height") == 48, width
        assert page.evaluate(BEYOND) == [], width
        menu = page.get_by_role("button", name=parent(entry).title, exact=True)
        expect(menu.first).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_a_page_is_for_everybody_on_a_narrow_screen(page: Page, entry: PageEntry) -> None:
    opened(page, f"{entry.name}?session={SESSIONS.get(entry.name, '02-parallel-calls')}")
    for width in (900, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(300)
        assert violations(page) == [], width


@pytest.mark.parametrize("path", widened(OTHER_VIEWS))
def test_a_view_is_for_everybody(page: Page, path: str) -> None:
    opened(page, path)
    assert violations(page) == []


def test_help_says_what_a_page_answers_its_keys_and_more(page: Page) -> None:
    opened(page, "cache")
    page.get_by_role("button", name="Help").click()
    expect(page.get_by_text("Do my cache_control marks hit")).to_be_visible()
    page.get_by_text("Documentation").click()
    expect(page.get_by_role("dialog").get_by_role("heading", level=1)).to_be_visible()
    settled(page)
    assert violations(page) == []


def test_what_opens_over_a_page_is_for_everybody(page: Page) -> None:
    opened(page, "compare")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("Native tool calls of the API")).to_be_visible()
    settled(page)
    assert violations(page) == []
    opened(page, "compare")
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("dialog").get_by_label("Paste anything")).to_be_focused()
    settled(page)
    assert violations(page) == []


def test_a_corpus_is_asked_and_leads_to_a_session(page: Page, tmp_path: Path) -> None:
    corpus_data.write_sessions(tmp_path / "sessions", 20)
    build_corpus(tmp_path / "corpus", [tmp_path / "sessions"], engine="serial")
    opened(page, f"corpus?corpus={quote(str(tmp_path / 'corpus'))}")
    expect(page.locator(".board .figures").first).to_contain_text("20sessions")
    assert violations(page) == []
    bar = page.locator(".card", has_text="Findings").get_by_role("button").first
    code = bar.locator(".name").inner_text().split()[0]
    bar.click()
    rows = page.locator(".card.rows")
    expect(rows.locator("h3")).to_have_text(code)
    assert violations(page) == []
    rows.get_by_role("button", name="Compare").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Compare")
    opened(page, f"corpus?corpus={quote(str(tmp_path / 'corpus'))}&view=Questions")
    expect(page.get_by_text(re.compile(r"^\d+ rows? in "))).to_be_visible()
    assert violations(page) == []
    asked = page.get_by_role("combobox", name="Question")
    first = asked.input_value()
    asked.click()
    page.get_by_role("option").nth(2).click()
    expect(page).to_have_url(re.compile("asks="))
    settled(page)
    assert violations(page) == []
    page.go_back()
    expect(asked).to_have_value(first)
    page.get_by_role("button", name="Open in Compare").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Compare")
    expect(page.locator(".panes").first).to_be_visible()


def test_the_grid_is_used_by_keyboard_alone(page: Page) -> None:
    opened(page, "compare?session=02-parallel-calls")
    page.get_by_role("searchbox").focus()
    for _ in range(3):  # two buttons, the comparison
        page.keyboard.press("Tab")
    expect(page.get_by_label("Diff against")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("region", name="Requests side by side")).to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_role("button", name=re.compile("Show message 3"))).to_be_visible()
    page.get_by_role("button", name="Show message 3 in every pane").press("Enter")
    expect(page.locator(".block.lit").first).to_be_visible()


def test_a_saved_page_is_for_everybody(page: Page, tmp_path: Path) -> None:
    """In a dark browser Compare's was light grey on white."""
    session = pg.sample_sessions()["05-call-in-a-fence"]
    saved: list[Any] = [
        pg.compare(session, ["xml", "native"]),
        pg.place_cache(session, "xml"),
        pg.simulate_cache(session, dialect="xml"),
        pg.replay(session.recordings[0], "xml", session.tools),
        pg.diff(pg.sample_sessions()["01-plain-chat"], session),
    ]
    for value in saved:
        path = tmp_path / f"{type(value).__name__}.html"
        path.write_text(value.html(), encoding="utf-8")
        page.goto(path.as_uri())
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert violations(page, app=False) == [], path.name
