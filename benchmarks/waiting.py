"""How long pages let one wait, inside a browser, against an empty Streamlit app in the same run.

Run: python benchmarks/waiting.py [page …]. Needs Debian's chromium. Each page is opened with the
largest sample, by its address, and then with a transcript of 500 kB in Claude Code's form, by a
click. Last come eight dialects of 2,000 messages in the grid, beside an app that hands as much to a
component which draws nothing. The columns:

useful  from the navigation or the click until the page has run and shows nothing of an older run,
        or until it shows a text beside a bar of its progress
whole   until there is no such bar
rerun   after Streamlit's own key R, the median of five
task    the longest task of the page's main thread in all of that, in CPU milliseconds by the
        browser's own trace, which other programs hardly lengthen; none may be over 200 ms, except
        those for which `NAMED` gives a reason
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from generated import EIGHT, large_session  # noqa: E402
from playwright.sync_api import Page, sync_playwright  # noqa: E402
from serving import CHROMIUM, FLAGS, served  # noqa: E402

import playground as pg  # noqa: E402
from playground.app.pages import ON_TOP, PAGES, PageEntry, listed  # noqa: E402
from playground.sessions.native_format import dump_session  # noqa: E402
from playground.sessions.session import Session  # noqa: E402
from playground.show import payloads  # noqa: E402
from playground.show.grid import grid as payload_grid  # noqa: E402

SAMPLE = "03-long-file"
RUN = [str(Path(sys.executable).with_name("streamlit")), "run"]
ROUNDS = 3
LONG = 200  # milliseconds of the processor
NAMED: dict[str, str] = {}
EMPTY = 'import streamlit as st\nst.title("Empty")\n'
FED = """
import json, pathlib
import streamlit as st
st.title("Fed")
data = json.loads(pathlib.Path("grid.json").read_text())
number = st.session_state.get("number", 0) + st.button("Change")
st.session_state.number = number
js = "export default () => undefined"
st.components.v2.component("fed", js=js)(data={**data, "number": number}, key="fed")
"""
# cheap questions only: what measures must not be what is measured
PROBE = """
window.isSettled = () => {
  const app = document.querySelector("[data-testid=stApp]")
  return app?.dataset.testScriptState === "notRunning" && document.querySelector("h1") &&
    !document.querySelector("[data-stale=true], [data-testid=stSkeleton]")
}
window.isUseful = () => isSettled() ||
  document.querySelector("h1") && document.querySelector("[data-testid=stProgress]") &&
    [...document.querySelectorAll("*")].some(n => n.shadowRoot?.querySelector(".block pre"))
window.until = test => new Promise(done => {
  const look = () => test() ? done(performance.now()) : requestAnimationFrame(look)
  look()
})
"""
SETTLED = "() => until(isSettled)"
RERUN = """() => {
  const state = () => document.querySelector("[data-testid=stApp]").dataset.testScriptState
  const key = new Promise(done => addEventListener("keydown", () => done(performance.now()), true))
  window.rerun = key.then(async start => {
    await until(() => state() !== "notRunning" || performance.now() - start > 2000)
    return await until(isSettled) - start
  })
}"""
SCROLL = """async () => {
  const scroller = [...document.querySelectorAll("*")].map(n => n.shadowRoot)
    .find(root => root?.querySelector(".scroller")).querySelector(".scroller")
  for (let i = 0; i < 150; i += 1) {
    scroller.scrollTop += 280
    await new Promise(requestAnimationFrame)
  }
  for (const share of [0.1, 0.9, 0.4, 0.7, 0]) {
    scroller.scrollTop = share * scroller.scrollHeight
    await new Promise(done => setTimeout(done, 300))
  }
}"""


def transcript(size: int = 500_000) -> bytes:
    """Return a session of about `size` characters as Claude Code keeps it: text, calls of tools and
    long results."""
    chance = random.Random(7)
    words = ["tide", "berth", "def load(path):", "\n", "    return 1", "<b>", "naïve", "0x1f"]
    lines: list[str] = []
    written, parent = 0, None
    while written < size:
        number = len(lines)
        call = f"toolu_{number // 2:04}"
        body = " ".join(chance.choices(words, k=chance.randrange(40, 900)))
        content: list[dict[str, object]]
        if number % 2:
            content = [
                {"type": "text", "text": f"Step {number}: I read the next file."},
                {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": body[:60]}},
            ]
        elif number:
            earlier = f"toolu_{(number - 1) // 2:04}"
            content = [{"type": "tool_result", "tool_use_id": earlier, "content": body}]
        else:
            content = [{"type": "text", "text": "Look through the files."}]
        role = "assistant" if number % 2 else "user"
        message: dict[str, object] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"model": "claude-sonnet-4-5", "id": f"msg_{number}", "type": "message"}
        line = {
            "type": role,
            "uuid": f"u{number}",
            "parentUuid": parent,
            "sessionId": "s",
            "timestamp": f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}.000Z",
            "version": "2.0.0",
            "cwd": "/harbour",
            "message": message,
        }
        parent = f"u{number}"
        lines.append(json.dumps(line))
        written += len(lines[-1]) + 1
    return ("\n".join(lines) + "\n").encode()


def measured(page: Page, name: str, go: Callable[[], None]) -> None:
    """Go to a place by `go`, run the page again five times, and print what that took."""
    tasks = Tasks(page)
    go()
    # a navigation begins the page's own clock; a click is told by `clicked`
    clicked = page.evaluate("window.clicked ?? 0")
    useful = page.evaluate("() => until(isUseful)") - clicked
    whole = page.evaluate(SETTLED) - clicked
    page.wait_for_timeout(1_500)
    reruns = []
    for _ in range(5):
        page.evaluate(RERUN)
        page.keyboard.press("r")
        reruns.append(page.evaluate("window.rerun"))
    rerun = statistics.median(reruns)
    task = told(name, tasks.longest())
    print(f"{name:34}{useful:9.0f}{whole:9.0f}{rerun:9.0f}{task}", flush=True)


class Tasks:
    """The tasks of a page's main thread, from a trace that begins when this object is made."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.events: list[dict[str, Any]] = []
        self.is_over = False
        self.tool = page.context.new_cdp_session(page)
        self.tool.on("Tracing.dataCollected", lambda sent: self.events.extend(sent["value"]))
        self.tool.on("Tracing.tracingComplete", lambda _: setattr(self, "is_over", True))
        self.tool.send("Tracing.start", {"categories": "toplevel", "transferMode": "ReportEvents"})

    def longest(self) -> float:
        """Return the longest task in milliseconds of the processor, and end the trace."""
        self.tool.send("Tracing.end")
        while not self.is_over:
            self.page.wait_for_timeout(20)
        self.tool.detach()
        threads = {
            (event["pid"], event["tid"])
            for event in self.events
            if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
        }
        found = [
            event.get("tdur", 0) / 1_000
            for event in self.events
            if (event["pid"], event["tid"]) in threads and event["ph"] == "X"
        ]
        return max(found, default=0)


def told(name: str, longest: float) -> str:
    """Return the longest task as a cell; with a reason if it is over the limit."""
    reason = NAMED.get(name, "over the limit, and not named") if longest > LONG else ""
    return f"{longest:9.0f}  {reason}".rstrip()


def visit(page: Page, address: str) -> None:
    page.goto(address)


def click(page: Page, entry: PageEntry) -> None:
    """Go to a page by its link."""
    link = page.get_by_role("link", name=entry.title, exact=True).first
    if listed().index(entry) >= ON_TOP and not link.is_visible():
        page.locator(".st-key-more-pages button").click()
    link.wait_for()
    page.evaluate("window.clicked = performance.now()")
    link.click()
    page.wait_for_url(f"**/{entry.name}*")
    heading = f"() => document.querySelector('h1')?.textContent === {json.dumps(entry.title)}"
    page.wait_for_function(heading)


def bring(page: Page, url: str, name: str, data: bytes, folder: Path) -> None:
    path = folder / name
    path.write_bytes(data)
    page.goto(f"{url}/compare?session=01-plain-chat")
    page.evaluate(SETTLED)
    page.get_by_role("button", name="Import").click()
    page.get_by_role("dialog").get_by_label("Choose a file").set_input_files(path)
    page.get_by_role("button", name="New session").click()
    page.get_by_role("dialog").wait_for(state="detached")
    page.evaluate(SETTLED)


def choose(page: Page, name: str) -> None:
    """Choose one more dialect, from the list that the field opens."""
    page.get_by_role("combobox", name="Dialects").click()
    page.get_by_role("option", name=name, exact=True).click()
    page.keyboard.press("Escape")
    page.wait_for_timeout(1_500)
    page.evaluate(SETTLED)


def drop(page: Page, _: str) -> None:
    """Remove the dialect that was chosen last."""
    page.get_by_role("combobox", name="Dialects").press("Backspace")
    page.wait_for_timeout(1_500)
    page.evaluate(SETTLED)


def search(page: Page, text: str) -> None:
    page.get_by_role("searchbox").fill(text)
    page.wait_for_timeout(2_500)


def compare(page: Page, pane: str) -> None:
    """Show the differences from a pane, and scroll while they are drawn."""
    page.get_by_label("Diff against").select_option(pane)
    page.evaluate(SCROLL)


def fed(page: Page, folder: Path, session: Session) -> None:
    """Measure how long Streamlit itself takes to hand as much to a component that draws nothing."""
    panes = [payloads.comparison_pane(column) for column in pg.compare(session, EIGHT).columns]
    (folder / "grid.json").write_text(json.dumps(payload_grid(panes)))
    (folder / "fed.py").write_text(FED)
    with served(folder, command=[*RUN, "fed.py"]) as url:
        page.goto(url)
        page.evaluate(SETTLED)
        rounds = []
        for _ in range(ROUNDS):
            tasks = Tasks(page)
            page.get_by_role("button", name="Change").click()
            page.wait_for_timeout(1_500)
            page.evaluate(SETTLED)
            rounds.append(tasks.longest())
        name = "as much data, nothing drawn"
        print(f"{name:61}{told(name, min(rounds))}", flush=True)


def grid(page: Page, url: str, folder: Path, session: Session) -> None:
    """Change, scroll, search and compare eight dialects of 2,000 messages. Each is done three
    times; print the round that was disturbed least."""
    bring(page, url, "large.json", dump_session(session).encode(), folder)
    page.get_by_role("searchbox").wait_for()
    chosen = page.locator(".pane strong").all_text_contents()
    for name in EIGHT:
        if name not in chosen:
            choose(page, name)
    *_, last = page.locator(".pane strong").all_text_contents()
    found: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for what, act, given in (
            ("one dialect less", drop, ""),
            ("one dialect more", choose, last),
            ("scrolled", lambda page, _: page.evaluate(SCROLL), ""),
            ("searched", search, "tide"),
            ("not searched", search, ""),
            ("compared", compare, last),
            ("not compared", compare, "none"),
        ):
            tasks = Tasks(page)
            act(page, given)
            found.setdefault(f"grid, 8 × 2,000: {what}", []).append(tasks.longest())
    for name, rounds in found.items():
        print(f"{name:61}{told(name, min(rounds))}", flush=True)


@contextmanager
def opened(url: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_init_script(PROBE)
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.goto(url)
        page.evaluate(SETTLED)
        yield page
        browser.close()


def main(wanted: list[str]) -> None:
    entries = [entry for entry in PAGES if not wanted or entry.name in wanted]
    print(f"{'milliseconds':34}{'useful':>9}{'whole':>9}{'rerun':>9}{'task':>9}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "empty.py").write_text(EMPTY)
        with served(folder, command=[*RUN, "empty.py"]) as url, opened(url) as page:
            measured(page, "empty app", partial(visit, page, url))
        with served(folder) as url, opened(url) as page:
            for entry in entries:
                go = partial(visit, page, f"{url}/{entry.name}?session={SAMPLE}")
                measured(page, f"{entry.name}, {SAMPLE}", go)
            bring(page, url, "transcript.jsonl", transcript(), folder)
            for entry in (entry for entry in listed() if entry in entries):
                if entry.name == "compare":  # to a page from another one
                    click(page, PAGES[0])
                measured(page, f"{entry.name}, transcript", partial(click, page, entry))
            if not wanted or "grid" in wanted:
                session = large_session(size=1_000_000)
                grid(page, url, folder, session)
                fed(page, folder, session)


if __name__ == "__main__":
    main(sys.argv[1:])
