"""In a real browser: words of ours behind a hostile name stand where we wrote them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from serving import CHROMIUM, FLAGS, served
from turned_names import TURNED, session, session_file

import playground as pg
from playground.base.wording import keep_order, visible
from playground.sessions.entries import new_entry
from playground.sessions.loading import first_session
from playground.sessions.source import Source
from playground.sessions.workspaces import on_disk

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

if CHROMIUM is None and not os.environ.get("CI"):
    pytest.skip("no chromium here: apt-get install chromium", allow_module_level=True)

expect.set_options(timeout=60_000)  # a cold start on a busy machine is no defect

# The words and numbers of an element, each with the line on which it stands and its left edge: in
# the order of the text. Words that are written from right to left, and one after another, are one.
WORDS = """element => {
  const WORD = /[A-Za-z0-9]+|[\u0590-\u08ff]+(?:[ ,.'-][\u0590-\u08ff]+)*/g
  const found = []
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const node = walker.currentNode
    for (const word of node.textContent.matchAll(WORD)) {
      const range = document.createRange()
      range.setStart(node, word.index)
      range.setEnd(node, word.index + word[0].length)
      const boxes = range.getClientRects()
      if (boxes.length === 1) found.push([word[0], Math.round(boxes[0].top), boxes[0].left])
    }
  }
  return found
}"""
SHOWN = (
    "[data-testid=stText], [data-testid=stCaptionContainer], [data-testid=stExpander] summary, "
    ".state span, .event .label, h1, p, caption, th, td, .label span, .pane strong, .pane .count"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        assert CHROMIUM, "CI must have chromium"
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 1200})
    page = context.new_page()
    page.set_default_timeout(60_000)
    yield page
    context.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("turned")
    text = session_file(folder).read_text()
    loaded = first_session(Source(f"{TURNED}.json", text.encode()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAYGROUND_HOME", str(folder / "home"))
        on_disk().add("harbour", new_entry(loaded.session, findings=loaded.findings))
    with served(folder) as url:
        yield url


def turned(words: list[Any]) -> list[str]:
    """Words that stand left of the one before them, on the same line."""
    pairs = zip(words, words[1:], strict=False)
    return [f"{a} {b}" for (a, at, x), (b, line, y) in pairs if at == line and y <= x]


def turned_on(page: Page) -> tuple[list[str], int]:
    """All that is turned in what a page shows, and how many texts with a name were looked at."""
    wrong, named = [], 0
    for element in page.locator(SHOWN).all():
        if not element.is_visible() or element.locator("pre").count():
            continue
        words = element.evaluate(WORDS)
        named += any(word == "202e" for word, _, _ in words)
        wrong += turned(words)
    return wrong, named


@pytest.mark.parametrize("name", ["get\u202etides", "גשר", "get\u2069\u202etides"])
def test_the_measure_sees_a_line_that_is_turned(page: Page, name: str) -> None:
    """As the app showed it once, in an isolate too, which the name leaves."""
    page.set_content("<p id=raw></p><p id=kept></p>")
    line = f"Calls: {name} 12 of 3, with 45 characters."
    page.evaluate("text => document.getElementById('raw').append(text)", line)
    assert turned(page.locator("#raw").evaluate(WORDS))
    page.evaluate("text => document.getElementById('kept').append(text)", keep_order(line))
    assert turned(page.locator("#kept").evaluate(WORDS)) == []


@pytest.mark.parametrize("listed", ["All events", "Up to this step", "What a server hands over"])
def test_replay_keeps_the_words_behind_a_name_in_order(
    page: Page, address: str, listed: str
) -> None:
    page.goto(f"{address}/replay?session=harbour&listed={listed}&server=vllm")
    expect(page.locator(".player .text").first).to_be_visible()
    expect(page.get_by_text("Complete calls: ").first).to_be_visible()
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    wrong, named = turned_on(page)
    assert wrong == []
    assert named >= 3
    line = page.get_by_text("Complete calls: ").first.inner_text()
    assert visible(TURNED)[:12] in line


@pytest.mark.parametrize("scripts", [True, False])
def test_an_exported_page_keeps_the_words_behind_a_name_in_order(
    browser: Browser, tmp_path: Path, scripts: bool
) -> None:
    given = session(tmp_path)
    (recording,) = given.recordings
    shown = {
        "replay": pg.replay(recording, "hermes"),
        "compare": pg.compare(given, ["xml", "hermes"]),
        "diff": pg.diff(given, pg.session("Hello?", model=TURNED, tools=list(given.tools))),
        "portable": pg.tool_portability(given),
    }
    context = browser.new_context(
        java_script_enabled=scripts, viewport={"width": 1440, "height": 1200}
    )
    page = context.new_page()
    for name, value in shown.items():
        file = tmp_path / f"{name}.html"
        file.write_text(value.html(), encoding="utf-8")
        page.goto(file.as_uri())
        expect(page.locator("h1")).to_be_visible()
        wrong, named = turned_on(page)
        assert wrong == [], name
        assert named >= 1, name
    context.close()
