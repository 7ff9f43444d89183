"""Names that turn text around, in a real browser: our own words stand in their order on the screen.

Where a browser puts each character is asked of the browser; no rule of ours is asked.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from serving import App, widened
from terminals import ENVIRONMENT, PROGRAM
from turned_names import session_json

pytestmark = pytest.mark.browser

# Of each line of each visible text: characters outside of isolates whose neighbour of the same line
# stands to their right in the text and to their left on the screen.
DISORDER = r"""() => {
  const isolated = node => {
    for (let up = node.parentElement; up; up = up.parentElement)
      if (up.tagName === "BDI" || ["TEXTAREA", "PRE", "CODE"].includes(up.tagName)) return true
    return false
  }
  const found = []
  const look = root => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.shadowRoot) look(node.shadowRoot)
      if (node.nodeType !== Node.TEXT_NODE || isolated(node)) continue
      if (["SCRIPT", "STYLE"].includes(node.parentElement?.tagName)) continue
      let depth = 0, last = null
      for (let at = 0; at < node.data.length; at++) {
        const one = node.data[at]
        if (one === "\u2068") depth += 1  // ours: names may hold the other two
        else if (one === "\u2069") depth = Math.max(0, depth - 1)
        else if (!depth && /[A-Za-z0-9]/.test(one)) {
          const range = document.createRange()
          range.setStart(node, at)
          range.setEnd(node, at + 1)
          const box = range.getBoundingClientRect()
          if (!box.width) continue
          if (last && Math.abs(box.top - last.top) < 2 && box.left < last.left - 1) {
            found.push(node.data)
            break
          }
          last = box
        }
      }
    }
  }
  look(document.body)
  return found
}"""


@pytest.fixture(scope="module")
def address(app: App) -> str:
    address = app.emptied()
    file = app.folder / "turned.json"
    file.write_text(json.dumps(session_json()))
    place = {**ENVIRONMENT, "PLAYGROUND_HOME": str(app.folder / "home")}
    command = [PROGRAM, "workspace", "add", str(file), "--name", "turned"]
    subprocess.run(command, check=True, env=place, capture_output=True)
    return address


@pytest.fixture
def page(page: Page) -> Page:
    page.set_viewport_size({"width": 1440, "height": 1400})
    return page


def settle(page: Page) -> None:
    """Wait until the page has drawn whatever it draws: its size is the same for a second."""
    sizes = [0]
    while len(set(sizes[-5:])) > 1 or len(sizes) < 6:
        page.wait_for_timeout(200)
        sizes.append(page.evaluate("document.body.innerHTML.length"))
        assert len(sizes) < 120


def test_the_measure_sees_a_name_that_turns_words_around(page: Page) -> None:
    page.set_content(
        "<p>calls \u2068x\u202ey\u2069: 12 in all</p><p>calls <bdi>x\u202ey</bdi>: 3</p>"
    )
    assert page.evaluate(DISORDER) == []
    page.set_content("<p>calls x\u202ey: 12 in all</p>")
    assert page.evaluate(DISORDER) == ["calls x\u202ey: 12 in all"]


@pytest.mark.parametrize("path", widened(["replay", "compare", "cache", "start", "diff"], 2))
def test_a_page_keeps_the_order_of_its_own_words(
    page: Page, address: str, path: str, request: pytest.FixtureRequest
) -> None:
    page.goto(f"{address}/{path}?session=turned")
    expect(page.locator("[data-testid=stStatusWidget]")).to_have_count(0)
    settle(page)
    if folder := request.config.getoption("--tour"):
        page.screenshot(path=Path(folder) / f"turned-{path}.png")
    frames = [frame.evaluate(DISORDER) for frame in page.frames]
    assert [each for found in frames for each in found] == []
