"""Frames a second of the strip and the player, beside an empty animation, and tasks over 200 ms.

Run: python benchmarks/frames.py. Needs Debian's chromium. The strip has 3,000 messages and is
scrubbed through its requests, one each frame; the player has four columns of 200,000 characters
and plays, and then jumps about. A machine without a GPU or under load draws nothing at 60 frames a
second: so the same browser first animates an empty page, each figure is the best of three rounds,
and *work* is the processor time of the page's own thread, which other programs do not lengthen. At
55 frames a second there is time for 18 ms of it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from playwright.sync_api import Browser, CDPSession, sync_playwright  # noqa: E402
from serving import CHROMIUM, FLAGS  # noqa: E402

import playground as pg  # noqa: E402
from playground.recordings.recutting import synthetic_recording  # noqa: E402
from playground.show.pictures.replies import replays  # noqa: E402

SECONDS = 3
ROUNDS = 3
LONG = 200  # milliseconds of a task
BLOCKS = 3_000
CHARACTERS = 200_000
DIALECTS = ("xml", "hermes", "qwen3-coder", "json")
EMPTY = "<!doctype html><title>empty</title><div id=box style='width:9px;height:9px'></div>"
# `each` runs once a frame; the frame that begins the measurement is not counted
FRAMES = f"""async (each) => {{
  const tasks = []
  const observer = new PerformanceObserver(list => tasks.push(...list.getEntries()))
  observer.observe({{ type: "longtask" }})
  const root = [...document.querySelectorAll("*")].map(n => n.shadowRoot).find(Boolean)
  const act = new Function("root", "number", each)
  const times = []
  await new Promise(done => {{
    const start = performance.now()
    const frame = now => {{
      times.push(now)
      act(root, times.length)
      if (now - start < {SECONDS * 1_000}) requestAnimationFrame(frame)
      else done()
    }}
    requestAnimationFrame(frame)
  }})
  observer.disconnect()
  const rate = 1000 * (times.length - 1) / (times[times.length - 1] - times[0])
  return {{ rate, longest: Math.max(0, ...tasks.map(task => task.duration)) }}
}}"""
MOVE = "document.getElementById('box').style.marginLeft = `${number % 300}px`"
SCRUB = """
const slider = root.querySelector(".slider")
slider.value = number % (Number(slider.max) + 1)
slider.dispatchEvent(new Event("input"))"""
PLAY = """
if (number === 1) {
  const slider = root.querySelector(".slider")
  slider.value = 0
  slider.dispatchEvent(new Event("input"))
  const play = root.querySelector(".play")
  if (play.textContent === "Play") play.click()
}"""
JUMP = """
const slider = root.querySelector(".slider")
slider.value = (number * 0.37 % 1) * Number(slider.max)
slider.dispatchEvent(new Event("input"))"""


def conversation() -> str:
    """Return a page with the strip of a conversation of 3,000 messages."""
    messages: list[dict[str, object]] = []
    for number in range(BLOCKS // 3):
        call = {"name": "search", "arguments": json.dumps({"query": f"tides {number}"})}
        calls = [{"id": f"call_{number}", "type": "function", "function": call}]
        result = f"Chapter {number}. " + "High water at 05:12. " * (1 + number % 9)
        messages += [
            {"role": "user", "content": f"Question {number}: where is the water now?"},
            {"role": "assistant", "content": f"I look {number} up.", "tool_calls": calls},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": result},
        ]
    session = pg.session(messages, system="You keep the harbour.", model="claude-sonnet-4-5")
    return pg.simulate_cache(session, dialect="native", policy="claude-code").html()


def replies() -> str:
    """Return a page with a player of one reply in four columns."""
    call = '<tool_call>\n{"name": "look_up", "arguments": {"page": %d}}\n</tool_call>\n'
    line = "The tide turns at five; the pilot <b>waits</b> for the ferry, naïvely. "
    pieces = [line * 3 + "\n" + call % number for number in range(CHARACTERS // 270)]
    reply = "".join(pieces)[:CHARACTERS]
    recording = synthetic_recording(reply, "a long reply", "hermes")
    return replays([pg.replay(recording, name) for name in DIALECTS]).page()


def measure(browser: Browser, name: str, page_text: str, act: str, empty: float = 0) -> float:
    """Return the frames a second of a page, the best of some rounds, and print them."""
    rates, works, longest = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(page_text, encoding="utf-8")
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(path.as_uri())
        page.wait_for_timeout(1_500)
        tool = page.context.new_cdp_session(page)
        tool.send("Performance.enable", {"timeDomain": "threadTicks"})
        for _ in range(ROUNDS):
            before = _work(tool)
            found = page.evaluate(FRAMES, act)
            rates.append(found["rate"])
            works.append(1_000 * (_work(tool) - before) / (found["rate"] * SECONDS))
            longest.append(found["longest"])
        page.close()
    rate, slow = max(rates), " (over the limit)" if min(longest) > LONG else ""
    ratio = f", {rate / empty:.2f} of empty" if empty else ""
    print(f"{name:<42}{rate:5.1f} frames a second{ratio}, work {min(works):.1f} ms a frame", end="")
    print(f", longest task {min(longest):.0f} ms{slow}", flush=True)
    return float(rate)


def _work(tool: CDPSession) -> float:
    """Return the processor time of the page's thread so far, in seconds."""
    metrics = tool.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


def main() -> None:
    strip, player = conversation(), replies()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        empty = measure(browser, "an empty animation", EMPTY, MOVE)
        measure(browser, f"strip, {BLOCKS:,} messages, scrubbed", strip, SCRUB, empty)
        measure(browser, "player, four columns of 200 kB, played", player, PLAY, empty)
        measure(browser, "player, four columns of 200 kB, jumping", player, JUMP, empty)
        browser.close()


if __name__ == "__main__":
    main()
