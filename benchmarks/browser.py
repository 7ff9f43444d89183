"""Latency of the Compare page and of the player, measured inside the page; medians of ten.

Run: python benchmarks/browser.py. Needs Debian's chromium. First render: from navigation to the
eighth pane. Rerun: from a click on a row's name to the URL that the rerun wrote. Freezes: the
browser's own long-task entries. `editing.py` measures edits.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from generated import EIGHT as NAMES  # noqa: E402
from generated import large_session  # noqa: E402
from playwright.sync_api import Page, sync_playwright  # noqa: E402
from serving import CHROMIUM, FLAGS, served  # noqa: E402

from playground.sessions.native_format import dump_session  # noqa: E402

TIMES = 10
PROBE = """
window.longTasks = []
new PerformanceObserver(list => list.getEntries().forEach(e => window.longTasks.push(e.duration)))
  .observe({ type: "longtask", buffered: true })
window.deep = selector => {
  const found = []
  const walk = root => {
    found.push(...root.querySelectorAll(selector))
    root.querySelectorAll("*").forEach(node => node.shadowRoot && walk(node.shadowRoot))
  }
  walk(document)
  return found
}
// the panes' own root, found once: walking the whole page at every frame would be what is measured
let root = null
window.panes = selector => {
  if (!root?.isConnected) root = deep(".panes")[0] ?? null
  return root ? [...root.querySelectorAll(selector)] : []
}
window.until = test => new Promise(done => {
  const start = performance.now()
  const look = () => test() ? done(performance.now() - start) : requestAnimationFrame(look)
  look()
})
"""
EIGHT = "() => window.until(() => panes('.pane').length === 8).then(() => performance.now())"
CLICK = """origin => {
  panes(`.row[data-origin='${origin}'] .choose`)[0].click()
  return until(() => new URLSearchParams(location.search).get("origin") === origin)
}"""
FIRST = "panes('.pane .label .kind')[0]?.textContent"
HIGHLIGHTED = """() => deep("pre code[class*=language-], .hljs, [class*=prism]")
  .map(node => node.textContent.length).reduce((a, b) => Math.max(a, b), 0)"""


def eight(url: str, session: str) -> str:
    pairs = [("session", session), *(("dialects", name) for name in NAMES)]
    return f"{url}/compare?{urlencode(pairs)}"


def median(values: list[float]) -> str:
    worst = max(values)
    return f"median {statistics.median(values):.0f} ms, worst {worst:.0f} ms of {len(values)}"


def largest_sample(page: Page, url: str) -> None:
    print("Compare, eight dialects, sample 03-long-file")
    firsts = []
    for _ in range(TIMES):
        page.goto(eight(url, "03-long-file"))
        firsts.append(page.evaluate(EIGHT))
    print("  first render     ", median(firsts))
    page.wait_for_timeout(2_000)
    page.evaluate("window.longTasks.length = 0")
    clicks = []
    for index in range(TIMES):
        clicks.append(page.evaluate(CLICK, ["rules", "message:1"][index % 2]))
        page.wait_for_timeout(300)
    print("  rerun by a click ", median(clicks))
    freezes = page.evaluate("window.longTasks")
    print(f"  longest task during reruns: {max(freezes, default=0):.0f} ms")
    print(f"  largest highlighted element: {page.evaluate(HIGHLIGHTED)} characters")


def generated_session(page: Page, url: str) -> None:
    session = dump_session(large_session()).encode()
    size = len(session) / 1e6
    print(f"Compare, eight dialects, generated session of 2,000 messages, {size:.1f} MB")
    page.goto(eight(url, "01-plain-chat"))
    page.evaluate(EIGHT)
    page.wait_for_timeout(2_000)
    page.evaluate("window.longTasks.length = 0")
    with tempfile.TemporaryDirectory() as folder:  # from disk: a buffer is unpacked in the page
        path = Path(folder) / "large.json"
        path.write_bytes(session)
        page.locator("input[type=file]").set_input_files(path)
        page.get_by_text("large.json is loaded").wait_for()
    page.evaluate("() => until(() => panes('pre').some(p => p.textContent.includes('Turn 3')))")
    turns = []
    for _ in range(TIMES):
        before = page.evaluate(FIRST)
        waiting = page.evaluate_handle(f"b => ({{ done: until(() => ({FIRST}) !== b) }})", before)
        page.get_by_label("Next page").click()
        turns.append(waiting.evaluate("box => box.done"))
        page.wait_for_timeout(500)
    print("  turning a page:  ", median(turns))
    print(f"  longest task: {max(page.evaluate('window.longTasks'), default=0):.0f} ms")
    for name in ("Cache", "Replay"):
        page.evaluate("window.longTasks.length = 0")
        page.get_by_role("link", name=name, exact=True).click()
        page.wait_for_timeout(4_000)
        print(f"  longest task, {name}: {max(page.evaluate('window.longTasks'), default=0):.0f} ms")


# The slider is moved as a hand moves it; a step counts until the frame after it is drawn
SCRUB = """async steps => {
  const slider = deep(".player .slider")[0]
  const took = []
  for (const step of steps) {
    const start = performance.now()
    slider.value = step
    slider.dispatchEvent(new Event("input", { bubbles: true }))
    slider.getBoundingClientRect()  // layout is part of it
    took.push(performance.now() - start)
    await new Promise(requestAnimationFrame)
  }
  return took
}"""
PLAY = """async (times) => {
  const player = deep(".player")[0]
  const place = deep(".player .place")[0]
  player.querySelector("[aria-label='First step (Home)']").click()
  const speed = player.querySelector("[aria-label='Speed']")
  speed.value = times
  speed.dispatchEvent(new Event("change"))
  const frames = []
  player.querySelector("[aria-label^='Play']").click()
  let last = await new Promise(requestAnimationFrame)
  while (!place.textContent.startsWith("end") && frames.length < 3000) {
    const now = await new Promise(requestAnimationFrame)
    frames.push(now - last)
    last = now
  }
  return frames
}"""


def long_recording() -> bytes:
    """Return a session file with a recording of 10,000 chunks, text and calls by turns, 2 ms
    apart."""
    words = ["tide ", "berth, ", "<b> ", "🦊 ", "line\n", "naïve "]
    chunks: list[dict[str, object]] = []
    while len(chunks) < 10_000:
        text = "".join(words[(len(chunks) + i) % 6] for i in range(120))
        arguments = json.dumps({"name": "t", "arguments": {"a": text}})
        call = f"<tool_call>\n{arguments}\n</tool_call>"
        for piece in (text, call):
            chunks += [{"text": piece[i : i + 4]} for i in range(0, len(piece), 4)]
    timed = [{**chunk, "at": i / 500} for i, chunk in enumerate(chunks[:10_000])]
    recording = {"name": "long", "dialect": "hermes", "timing": "synthetic", "chunks": timed}
    return json.dumps({"format": "playground-session/1", "recordings": [recording]}).encode()


def player(page: Page, url: str) -> None:
    print("Player, 10,000 chunks")
    page.goto(f"{url}/replay?session=02-parallel-calls")
    page.wait_for_selector(".player .text")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.json"
        path.write_bytes(long_recording())
        page.locator("input[type=file]").set_input_files(path)
        page.get_by_text("long.json is loaded").wait_for()
    page.wait_for_timeout(3_000)
    for times in ("2", "5", "20"):
        frames = page.evaluate(PLAY, times)
        slow = sorted(frames)[int(0.95 * len(frames))]
        print(f"  playing at {times}x: {1000 * len(frames) / sum(frames):.1f} fps, ", end="")
        print(f"p95 of a frame {slow:.1f} ms, {len(frames)} frames")
        page.wait_for_timeout(1_500)
    chance = random.Random(1)
    steps = [chance.randrange(10_000) for _ in range(200)]
    took = sorted(page.evaluate(SCRUB, steps))
    print(f"  scrub to any place: median {took[100]:.1f} ms, p95 {took[190]:.1f} ms")
    near = [5_000 + 37 * i for i in range(100)]
    took = sorted(page.evaluate(SCRUB, near))
    print(f"  scrub along: median {took[50]:.1f} ms, p95 {took[95]:.1f} ms")


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = browser.new_context(viewport={"width": 1440, "height": 1000})
        context.add_init_script(PROBE)
        page = context.new_page()
        page.set_default_timeout(120_000)
        player(page, url)
        largest_sample(page, url)
        generated_session(page, url)


if __name__ == "__main__":
    main()
