"""Time from an edit to what follows from it, measured inside the page; the aim is 300 ms.

Run: python benchmarks/editing.py. Needs Debian's chromium. The session has 300 messages. In
Compare, with four dialects, a message in the middle is typed into ten times, and then saved and
opened ten times. In Cache, a mark is moved by one block ten times; a time ends when the strip draws
Python's answer.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from playwright.sync_api import Page, sync_playwright  # noqa: E402
from serving import CHROMIUM, FLAGS, served  # noqa: E402

import playground as pg  # noqa: E402
from playground.sessions.native_format import dump_session  # noqa: E402

TIMES = 10
NAMES = ("xml", "hermes", "native", "qwen3-coder")
EDITED = "message:151"  # by the assistant, with a call
# until every other column shows the text; a frame later it is on the screen
FOLLOWED = """text => new Promise(done => {
  const start = performance.now()
  const panes = document.querySelector(".st-key-compare-panes *:has(+ *), .st-key-compare-panes")
  const roots = [...document.querySelectorAll("*")].map(n => n.shadowRoot).filter(Boolean)
  const root = roots.find(r => r.querySelector(".panes")) ?? panes
  const look = () => {
    const blocks = [...root.querySelectorAll(".block[data-origin='ORIGIN']:not(.editing) pre")]
    const shown = blocks.filter(pre => pre.textContent.includes(text))
    if (shown.length >= 3) done(performance.now() - start)
    else requestAnimationFrame(look)
  }
  look()
})""".replace("ORIGIN", EDITED)

PINS = """() => [...document.querySelectorAll("*")].map(n => n.shadowRoot).filter(Boolean)
  .flatMap(root => [...root.querySelectorAll(".strip .pin")])"""
MOVED = f"""() => new Promise(done => {{
  const places = () => ({PINS})().map(pin => pin.dataset.block).join()
  const [start, before] = [performance.now(), places()]
  const look = () => places() && places() !== before
    ? done(performance.now() - start) : requestAnimationFrame(look)
  look()
}})"""


def conversation() -> str:
    """Return a session of 300 messages, as a file of ours."""
    messages: list[dict[str, object]] = []
    for number in range(100):
        call = {"name": "search", "arguments": json.dumps({"query": f"tides {number}"})}
        calls = [{"id": f"call_{number}", "type": "function", "function": call}]
        result = f"Chapter {number}. " + "High water at 05:12, low water at 11:20. " * 12
        messages += [
            {"role": "user", "content": f"Question {number}: " + "where is the water now? " * 8},
            {"role": "assistant", "content": f"I look {number} up.", "tool_calls": calls},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": result},
        ]
    query = {"type": "object", "properties": {"query": {"type": "string"}}}
    tools = [{"name": "search", "description": "Search the book.", "input_schema": query}]
    return dump_session(pg.session(messages, tools=tools, system="You keep the harbour."))


def report(what: str, values: list[float]) -> None:
    worst = max(values)
    print(f"  {what:<22} median {statistics.median(values):.0f} ms, worst {worst:.0f} ms")


def measure(page: Page) -> None:
    page.get_by_role("searchbox").fill("I look 50 up")
    page.get_by_role("searchbox").press("Enter")
    block = page.locator(f".block[data-origin='{EDITED}']").first
    area = page.locator(".editing textarea").first
    opened, followed, kept = [], [], []
    for number in range(TIMES):
        clicked = page.evaluate("performance.now()")
        block.click(position={"x": 20, "y": 8})
        area.wait_for()
        opened.append(page.evaluate("performance.now()") - clicked)
        area.fill(f"I look it up, {number}")
        page.wait_for_timeout(700)
        waiting = page.evaluate_handle(f"t => ({{ done: ({FOLLOWED})(t) }})", f"up, {number}!")
        area.press("End")
        area.press("!")
        followed.append(waiting.evaluate("box => box.done"))
        clicked = page.evaluate("performance.now()")
        area.press("Control+Enter")
        area.wait_for(state="detached")
        kept.append(page.evaluate("performance.now()") - clicked)
        page.wait_for_timeout(500)
    report("a click opens the box", opened)
    report("the others follow", followed)
    report("the text is kept", kept)


def measure_marks(page: Page) -> None:
    moved = []
    for _ in range(TIMES):
        page.locator(".pin.movable").last.focus()
        waiting = page.evaluate_handle(f"() => ({{ done: ({MOVED})() }})")
        page.keyboard.press("ArrowLeft")
        moved.append(waiting.evaluate("box => box.done"))
        page.wait_for_timeout(1_200)
    report("a mark is moved", moved)


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        file = Path(folder) / "long.json"
        file.write_text(conversation(), encoding="utf-8")
        page.goto(f"{url}/start")
        page.locator("input[type=file]").first.set_input_files(file)
        page.get_by_role("button", name="New session").click()
        page.locator(".panes .block").first.wait_for()
        page.goto(f"{url}/compare?{urlencode([*(('dialects', n) for n in NAMES)])}&session=long")
        page.locator(".panes .block").first.wait_for()
        page.wait_for_timeout(4_000)
        print("Compare, four dialects, 300 messages: an edit in place")
        measure(page)
        page.goto(f"{url}/cache?policy=claude-code&session=long")
        page.locator(".pin.movable").last.wait_for()
        page.wait_for_timeout(4_000)
        print("Cache, 300 messages: a mark moved by one block")
        measure_marks(page)
        browser.close()


if __name__ == "__main__":
    main()
